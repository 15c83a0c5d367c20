import type { PassageShown, OutcomeStatus } from "../../api";
import { Again, Badge, Facts, Notice, OutsideLink, type Tone, Worded } from "../../kit";
import { counted, spelled, warningText } from "../../words";
import type { TestShown } from "./calls";

const TONES: Record<OutcomeStatus, Tone> = {
  success: "ok",
  empty: "warn",
  failed: "bad",
  cancelled: "neutral",
  skipped: "neutral",
};

/** What came back, what was dropped and why, and how it was asked. */
export function Report({ of }: { of: TestShown }) {
  return (
    <div class="stack report">
      <div class="row">
        <Badge tone={TONES[of.status]} dot>
          {of.status}
        </Badge>
        <span>
          {counted(of.resultCount, "passage")} in {of.durationMs} ms
        </span>
        {of.activated && <Badge tone="ok">Turned on</Badge>}
      </div>
      {of.errorCode && (
        <Notice tone="bad">
          <p>
            <code>{of.errorCode}</code> <Worded of={of.explanation} />
          </p>
          {"retryAt" in of && of.retryAt && (
            <p>
              It may be asked <Again at={of.retryAt} />.
            </p>
          )}
        </Notice>
      )}
      {of.warnings.length > 0 && (
        <Notice tone="warn">
          <ul>
            {of.warnings.map((code) => (
              <li key={code}>
                <code>{code}</code> {warningText(code)}
              </li>
            ))}
          </ul>
        </Notice>
      )}
      {of.results.length > 0 && (
        <ol class="passages">
          {of.results.map((one, at) => (
            <Passage key={at} of={one} />
          ))}
        </ol>
      )}
      <Dropped of={of} />
      <Found of={of} />
      <Fetched of={of} />
      <details>
        <summary>How it was asked</summary>
        <Facts
          of={Object.entries(of.effective).map(([name, value]) => [
            spelled(name),
            <code>{typeof value === "object" ? trueOnes(value) : String(value)}</code>,
          ])}
        />
      </details>
    </div>
  );
}

function trueOnes(flags: object): string {
  return (
    Object.entries(flags)
      .filter(([, on]) => on === true)
      .map(([name]) => name)
      .join(", ") || "none"
  );
}

function Passage({ of }: { of: PassageShown }) {
  return (
    <li>
      <p class="passage-title">
        <OutsideLink url={of.url}>{of.title}</OutsideLink>
      </p>
      <p class="row">
        <Badge tone={of.audience === "public" ? "info" : "inside"}>{of.audience}</Badge>
        {of.locale && <Badge>{of.locale}</Badge>}
        {of.freshness !== "unknown" && (
          <Badge tone={of.freshness === "stale" ? "warn" : "neutral"}>{of.freshness}</Badge>
        )}
        {of.truncated && <Badge tone="warn">cut</Badge>}
        {of.evidence === "derived_context" && <Badge tone="warn">derived, not a source's words</Badge>}
        <span class="muted small-text">
          <code>{of.chunkId ?? of.documentId}</code>
          {of.providerScore !== null && ` · score ${of.providerScore}`}
        </span>
      </p>
      <Snippet of={of.snippet} />
    </li>
  );
}

const LONG_CHARACTERS = 700;

// A long one scrolls inside itself, which a keyboard has to reach.
function Snippet(props: { of: string }) {
  if (props.of.length <= LONG_CHARACTERS) return <p class="keep-lines snippet">{props.of}</p>;
  return (
    <div class="keep-lines snippet long" tabIndex={0} role="group" aria-label="Text of the passage">
      {props.of}
    </div>
  );
}

function Dropped({ of }: { of: TestShown }) {
  if (!("dropped" in of) || of.dropped.length === 0) return null;
  return (
    <Notice tone="warn" title={`${counted(of.dropped.length, "passage")} would be dropped`}>
      <ul>
        {of.dropped.map((one, at) => (
          <li key={at}>
            {one.title} <Badge tone="inside">{one.audience}</Badge> <code>{one.reason}</code>{" "}
            <code>{one.documentId}</code>
          </li>
        ))}
      </ul>
    </Notice>
  );
}

function Found({ of }: { of: TestShown }) {
  if (!("discoveries" in of) || of.discoveries.length === 0) return null;
  return (
    <div class="stack tight">
      <h3>Places without text</h3>
      <ul>
        {of.discoveries.map((one, at) => (
          <li key={at}>
            <OutsideLink url={one.url}>{one.title ?? one.url}</OutsideLink>
            {one.library && (
              <span class="muted">
                {" "}
                · {one.library} {one.libraryVersion}
              </span>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Fetched({ of }: { of: TestShown }) {
  if (!("fetched" in of) || of.fetched === null) return null;
  const { fetched } = of;
  return (
    <div class="stack tight">
      <h3>
        <OutsideLink url={fetched.finalUrl}>{fetched.title ?? fetched.finalUrl}</OutsideLink>
      </h3>
      <p class="muted small-text">
        {fetched.characters} characters; {fetched.acquisition === "live" ? "fetched now" : "kept copy, or not known"}
      </p>
      <pre class="keep-lines" tabIndex={0}>
        {fetched.text}
      </pre>
    </div>
  );
}
