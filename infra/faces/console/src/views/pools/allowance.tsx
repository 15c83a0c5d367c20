import type { ComponentChildren } from "preact";
import type { AllowanceShown } from "../../api";
import { Badge, Notice, Time, type Tone } from "../../kit";
import { counted } from "../../words";

const STATES: Record<AllowanceShown["state"], { word: string; tone: Tone }> = {
  open: { word: "Open", tone: "ok" },
  exhausted: { word: "Used up", tone: "warn" },
  closed: { word: "Closed", tone: "bad" },
};
/** From this share on the gateway asks for a review. */
const MUCH = 0.2;

/** How much of the allowance of 24 hours is used, and by what. */
export function Allowance({ of }: { of: AllowanceShown }) {
  const { word, tone } = STATES[of.state];
  return (
    <div class="stack tight">
      <div class="row">
        <Badge tone={tone} dot>
          {word}
        </Badge>
        <span>
          <strong>{of.used}</strong> of {counted(of.limit, "operation")} in 24 hours
        </span>
        {of.freeAgainAt && (
          <span class="muted">
            · one is free again <Time at={of.freeAgainAt} both />
          </span>
        )}
      </div>
      <span class="shares" aria-hidden="true">
        <Share of={of} count={of.confirmed} tone="confirmed" />
        <Share of={of} count={of.reserved} tone="reserved" />
        <Share of={of} count={of.unknown} tone="unknown" />
      </span>
      <ul class="legend">
        <Entry tone="confirmed" count={of.confirmed}>
          confirmed
        </Entry>
        <Entry tone="reserved" count={of.reserved}>
          reserved: under way
        </Entry>
        <Entry tone="unknown" count={of.unknown}>
          unknown: they count until they are reviewed
        </Entry>
      </ul>
      {of.state === "closed" && (
        <Notice tone="warn">
          <p>Its limit is 0: nothing is sent to this service.</p>
        </Notice>
      )}
      {of.unknownShare >= MUCH && (
        <Notice tone="warn" title="Unknown operations ask for a review">
          <p>
            Look up at the service which of them it counted, and say so under Allowance. They count beyond the 24 hours,
            too.
          </p>
        </Notice>
      )}
    </div>
  );
}

function Share({ of, count, tone }: { of: AllowanceShown; count: number; tone: string }) {
  const whole = Math.max(of.limit, of.used, 1);
  return <span class={tone} style={{ width: `${(100 * count) / whole}%` }} />;
}

function Entry(props: { tone: string; count: number; children: ComponentChildren }) {
  return (
    <li>
      <span class={`swatch ${props.tone}`} aria-hidden="true" />
      <strong>{props.count}</strong> {props.children}
    </li>
  );
}
