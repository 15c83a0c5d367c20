import { Page } from "../../kit";
import type { ViewProps } from "../../views";

export function ProvidersView(_: ViewProps) {
  return <Page title="Providers"><p>…</p></Page>;
}
