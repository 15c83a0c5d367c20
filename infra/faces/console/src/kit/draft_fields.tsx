import type { ComponentChildren } from "preact";
import type { Draft, Spec } from "./draft";
import { AreaField, CheckField, SelectField, TextField } from "./field";

interface Props {
  specs: Spec[];
  draft: Draft;
  onDraft: (draft: Draft) => void;
}

/** The fields of a draft, in their order; those of a group in a frame with its name. */
export function DraftFields({ specs, draft, onDraft }: Props) {
  const drawn: ComponentChildren[] = [];
  const groups = new Set<string>();
  const one = (spec: Spec) => (
    <DraftField
      key={spec.at}
      spec={spec}
      value={draft[spec.at] ?? ""}
      onValue={(value) => onDraft({ ...draft, [spec.at]: value })}
    />
  );
  for (const spec of specs) {
    if (spec.group === undefined) drawn.push(one(spec));
    else if (!groups.has(spec.group)) {
      groups.add(spec.group);
      drawn.push(
        <fieldset key={spec.group} class="group">
          <legend>{spec.group}</legend>
          <div class="two">{specs.filter(({ group }) => group === spec.group).map(one)}</div>
        </fieldset>,
      );
    }
  }
  return <>{drawn}</>;
}

function DraftField(props: { spec: Spec; value: string | boolean; onValue: (value: string | boolean) => void }) {
  const { spec, value, onValue } = props;
  const common = {
    label: spec.label,
    hint: spec.hint,
    pointer: `/${spec.at}`,
    optional: spec.optional ?? false,
    onValue,
  };
  const text = String(value);
  if (spec.as === "check") return <CheckField {...common} checked={value === true} />;
  if (spec.as === "select") return <SelectField {...common} value={text} options={spec.options ?? []} />;
  if (spec.as === "lines" || spec.as === "area") return <AreaField {...common} value={text} mono />;
  const number = spec.as === "integer" || spec.as === "number";
  return <TextField {...common} value={text} type={number ? "number" : "text"} mono={spec.as === "url"} />;
}
