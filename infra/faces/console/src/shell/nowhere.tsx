import { Empty, Page } from "../kit";
import { href } from "../router";

export function Nowhere() {
  return (
    <Page title="Nothing is here">
      <Empty title="The address names no view of the console.">
        <a href={href("health")}>Go to health</a>
      </Empty>
    </Page>
  );
}
