import type { EntryShown } from "../../api";
import { ChoiceField, DraftFields, useViolation, type Draft } from "../../kit";
import type { Product } from "../instances/products";
import { LAST, NAME } from "../every_provider";
import { COMMON, OWN, specsOf } from "./configs";

interface Props {
  kind: Product;
  draft: Draft;
  onDraft: (draft: Draft) => void;
  entry: Pick<EntryShown, "hasGraph" | "isEconomy"> | null;
}

const WHOSE = [
  { value: "theirs", label: "As it is set in Dify", hint: "Nothing is sent beside the query." },
  { value: "ours", label: "As is set here", hint: "All of it is sent, as Dify merges nothing with its own settings." },
];

/** Our side of a binding: what it is called, how it is asked, and how much it may give. */
export function BindingFields({ kind, draft, onDraft, entry }: Props) {
  const together = useViolation("/config/retrievalModel", true);
  return (
    <>
      <DraftFields specs={[NAME]} draft={draft} onDraft={onDraft} />
      {kind === "dify" && (
        <ChoiceField
          label="Settings of the search"
          value={draft[OWN] === true ? "ours" : "theirs"}
          options={WHOSE}
          onValue={(whose) => onDraft({ ...draft, [OWN]: whose === "ours" })}
        />
      )}
      {together && <p class="field-error">{together}</p>}
      {kind === "dify" && entry?.isEconomy && (
        <p class="field-hint">An economy data set has keywords and no vectors: it is asked for keywords.</p>
      )}
      <DraftFields specs={[...specsOf(kind, draft, entry), ...COMMON, ...LAST]} draft={draft} onDraft={onDraft} />
    </>
  );
}
