import type { OutcomeOut, ProviderShown } from "../../api";
import { Badge, Exposure, Section, Time, Worded } from "../../kit";
import { href } from "../../router";
import { counted, KINDS, warningText } from "../../words";
import { Effective } from "./effective";
import { explained, TONES } from "./outcomes";
import type { Sources } from "./sources";

interface Props {
  outcomes: OutcomeOut[];
  deadlineMs: number;
  sources: Sources;
}

/** Who was asked, how long each took of the time that there was, and what came of it. */
export function TimeLine({ outcomes, deadlineMs, sources }: Props) {
  const scaleMs = Math.max(deadlineMs, ...outcomes.map((one) => one.durationMs));
  return (
    <Section title="Who was asked, for the agent">
      <p class="muted small-text">
        Bars are of the deadline of {deadlineMs} ms. Customers are never told which providers there are.
      </p>
      <ul class="time-line">
        {outcomes.map((one) => (
          <Lane
            key={one.id}
            of={one}
            scaleMs={scaleMs}
            registered={sources.providers.find(({ id }) => id === one.id) ?? null}
          />
        ))}
      </ul>
    </Section>
  );
}

function Lane({ of, scaleMs, registered }: { of: OutcomeOut; scaleMs: number; registered: ProviderShown | null }) {
  const share = Math.min(100, (100 * of.durationMs) / scaleMs);
  return (
    <li class="lane-of">
      <div class="lane-who">
        <a class="break" href={href("providers", of.id)}>
          {of.name ?? of.id}
        </a>
        {registered && (
          <span class="row">
            <Exposure of={registered.exposureProfile} />
            <span class="muted small-text">{KINDS[registered.kind]}</span>
          </span>
        )}
      </div>
      <div class="lane-what">
        <div class="row">
          <Badge tone={TONES[of.status]} dot>
            {of.status}
          </Badge>
          <span class="nowrap">{of.durationMs} ms</span>
          <span class="muted nowrap">{counted(of.resultCount, "passage")}</span>
          {of.truncated && (
            <Badge tone="warn" title="The provider had more than was asked for">
              truncated
            </Badge>
          )}
        </div>
        <span class={`track ${TONES[of.status]}`} aria-hidden="true">
          <span style={{ width: `${Math.max(share, of.durationMs > 0 ? 0.5 : 0)}%` }} />
        </span>
        {of.errorCode && (
          <p class="small-text">
            <code>{of.errorCode}</code> <Worded of={explained(of.errorCode, registered?.kind ?? null)} />
          </p>
        )}
        {of.retryAt && (
          <p class="small-text">
            It may be asked again <Time at={of.retryAt} both />.
          </p>
        )}
        {of.warnings.length > 0 && (
          <ul class="small-text warnings">
            {of.warnings.map((code) => (
              <li key={code}>
                <code>{code}</code> {warningText(code)}
              </li>
            ))}
          </ul>
        )}
        {registered && <Effective of={registered} />}
      </div>
    </li>
  );
}
