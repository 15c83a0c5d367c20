import { Notice, Worded } from "../../kit";
import type { ApiProblem } from "../../problem";

/** What a server did in the test that comes before anything is saved. */
export function TestFailure({ of }: { of: ApiProblem | null }) {
  const { outcome, explanation } = of?.more ?? {};
  if (typeof outcome !== "string") return null;
  return (
    <Notice tone="warn" title="What the server did">
      <p>
        <code>{outcome}</code> {typeof explanation === "string" && <Worded of={explanation} />}
      </p>
    </Notice>
  );
}
