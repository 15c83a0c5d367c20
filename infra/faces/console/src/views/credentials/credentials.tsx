import type { ViewProps } from "../../views";
import { Detail } from "./detail";
import { List } from "./list";

/** Who may ask the gateway, and from where. */
export function CredentialsView({ rest, query }: ViewProps) {
  const [id] = rest;
  return id === undefined ? <List query={query} /> : <Detail id={id} />;
}
