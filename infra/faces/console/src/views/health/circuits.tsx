import type { CircuitShown, ProviderHealthShown } from "../../api";
import { Again, Badge } from "../../kit";
import { codeText } from "../../words";

const WORDS: Record<CircuitShown["state"], { word: string; tone: "ok" | "warn" | "bad" }> = {
  closed: { word: "Closed", tone: "ok" },
  half_open: { word: "On trial", tone: "warn" },
  open: { word: "Open", tone: "bad" },
  auto_disabled: { word: "Out of use", tone: "bad" },
};

/** Both lanes; customers' searches open their own circuit and never touch agents'. */
export function Circuits({ of }: { of: ProviderHealthShown }) {
  return (
    <div class="small-text">
      <Lane name="Agents" of={of.circuits.agent} />
      {of.exposureProfile === "customer_safe" && <Lane name="Customers" of={of.circuits.customer} />}
    </div>
  );
}

function Lane(props: { name: string; of: CircuitShown | null }) {
  if (props.of?.state === "closed" && props.of.failures === 0) {
    return <div class="muted nowrap">{props.name}: closed</div>;
  }
  return (
    <div class="lane">
      <span>{props.name}:</span> <Circuit of={props.of} />
    </div>
  );
}

export function Circuit({ of }: { of: CircuitShown | null }) {
  if (of === null) return <span class="muted">not known</span>;
  const { word, tone } = WORDS[of.state];
  return (
    <>
      <Badge tone={tone}>{word}</Badge>
      {of.openUntil && (
        <span class="muted">
          {" "}
          tried <Again at={of.openUntil} />
        </span>
      )}
      {of.failures > 0 && (
        <div class="muted">
          {of.failures} failed{of.lastCode && `: ${codeText(of.lastCode)}`}
        </div>
      )}
    </>
  );
}
