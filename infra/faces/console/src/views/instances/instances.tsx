import { Bind } from "../bindings/bind";
import { EditBinding } from "../bindings/edit";
import type { ViewProps } from "../../views";
import { Detail } from "./detail";
import { List } from "./list";

/** `#/instances`, `…/<id>`, `…/<id>/bind/<remote id>`, `…/<id>/edit/<provider id>`. */
export function InstancesView({ rest, query }: ViewProps) {
  const [id, what, other] = rest;
  if (id === undefined) return <List />;
  if (what === "bind" && other !== undefined) return <Bind instanceId={id} remoteId={other} />;
  if (what === "edit" && other !== undefined) return <EditBinding instanceId={id} providerId={other} />;
  return <Detail id={id} query={query} />;
}
