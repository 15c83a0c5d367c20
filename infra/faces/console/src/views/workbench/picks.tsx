import type { ComponentChildren } from "preact";
import { CheckField } from "../../kit";
import { named } from "../../naming";

interface Pick {
  id: string;
  name: string;
  beside: ComponentChildren;
}

interface Props {
  label: string;
  /** What it means that none is chosen. */
  none: string;
  of: Pick[];
  chosen: string[];
  onChosen: (ids: string[]) => void;
}

/** Some of many, to tick. Ids that are chosen and no longer there stay, with their id for a name. */
export function Picks({ label, none, of, chosen, onChosen }: Props) {
  const gone = chosen.filter((id) => !of.some((one) => one.id === id)).map((id) => ({ id, name: id, beside: null }));
  const set = (id: string, on: boolean) => onChosen(on ? [...chosen, id] : chosen.filter((one) => one !== id));
  return (
    <fieldset class="group picks">
      <legend>
        {label} <span class="muted">{chosen.length > 0 ? `· ${chosen.length} chosen` : `· ${none}`}</span>
      </legend>
      {of.length === 0 && <p class="muted">There is none.</p>}
      <div class="picks-list">
        {[...of, ...gone].map((one) => (
          <CheckField
            key={one.id}
            checked={chosen.includes(one.id)}
            onValue={(on) => set(one.id, on)}
            label={
              <span class="break">
                <bdi>{named(one)}</bdi> <span class="muted small-text">{one.beside}</span>
              </span>
            }
          />
        ))}
      </div>
    </fieldset>
  );
}
