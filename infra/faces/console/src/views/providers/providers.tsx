import type { ViewProps } from "../../views";
import { Detail } from "./detail";
import { List } from "./list";

export function ProvidersView({ rest, query }: ViewProps) {
  const [id] = rest;
  return id === undefined ? <List query={query} /> : <Detail id={id} />;
}
