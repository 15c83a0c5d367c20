import type { HealthShown, HealthState, OneHealthShown } from "../../api";
import { Badge, Notice, Time } from "../../kit";
import { counted, OVERALL, PARTS, STATES } from "../../words";

const FINE: ReadonlySet<HealthState> = new Set(["healthy", "unchecked", "disabled"]);

/** The whole in a line, how many are how, and what is not known. */
export function Summary({ of }: { of: HealthShown }) {
  const { word, tone } = OVERALL[of.status];
  const troubled = of.providers.filter((one) => !FINE.has(one.state)).length;
  return (
    <section class={`card overall ${tone}`} aria-label="Overall">
      <div class="overall-head">
        <Badge tone={tone} dot>
          {word}
        </Badge>
        <p>
          {troubled === 0
            ? "Nothing is known to be wrong"
            : `${counted(troubled, "provider needs", "providers need")} attention`}
          <span class="muted"> of {counted(of.providers.length, "provider")}</span>
        </p>
        <p class="muted small-text">
          <Looked of={of} />
        </p>
      </div>
      <Counts of={of} />
      <Gaps of={of} />
    </section>
  );
}

function Counts({ of }: { of: HealthShown }) {
  const counts = new Map<HealthState, number>();
  for (const { state } of of.providers) counts.set(state, (counts.get(state) ?? 0) + 1);
  return (
    <ul class="counts">
      {[...counts].map(([state, count]) => (
        <li key={state}>
          <strong>{count}</strong> <Badge tone={STATES[state].tone}>{STATES[state].word}</Badge>
        </li>
      ))}
    </ul>
  );
}

function Looked({ of }: { of: HealthShown }) {
  if (of.checkedAt === null) return <>The probe has not looked yet.</>;
  const others = of.run?.lookedAt != null && of.run.lookedAt + (of.run.leftOut ?? 0) < of.providers.length;
  return (
    <>
      The probe looked <Time at={of.checkedAt} />
      {of.run?.lookedAt != null && ` at ${counted(of.run.lookedAt, "provider")}`}
      {of.run?.leftOut ? `, and left out ${of.run.leftOut} for want of time` : ""}.
      {others && " The others are judged by what searches have met."}
    </>
  );
}

/** Says aloud what this answer does not know. */
export function Gaps({ of }: { of: HealthShown | OneHealthShown }) {
  return (
    <>
      {of.stale && (
        <Notice tone="warn" title="Nobody has looked lately">
          <p>
            No run of the probe has finished within 15 minutes, so what looks found is not believed. See whether the
            probe runs.
          </p>
        </Notice>
      )}
      {of.unavailable.length > 0 && (
        <Notice tone="warn" title="A part could not be read now">
          <p>Missing from this page: {of.unavailable.map((part) => PARTS[part]).join(", ")}.</p>
        </Notice>
      )}
    </>
  );
}
