import { CardEditor } from "../cards/editor";
import type { ViewProps } from "../../views";
import { Detail } from "./detail";
import { ImportPage } from "./import";
import { List } from "./list";

/** `#/cards`, `…/<collection>`, `…/<collection>/new`, `…/<collection>/import`, `…/<collection>/<card>`. */
export function CardsView({ rest }: ViewProps) {
  const [id, what] = rest;
  if (id === undefined) return <List />;
  if (what === undefined) return <Detail id={id} />;
  if (what === "import") return <ImportPage id={id} />;
  return <CardEditor collectionId={id} cardId={what === "new" ? null : what} />;
}
