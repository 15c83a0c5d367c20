import { useEffect, useState } from "preact/hooks";
import { Section } from "../../kit";
import type { Draft } from "./drafts";
import { bytesOf, MOST_BODY_BYTES } from "./limits";
import { Markdown } from "./markdown";

const AFTER_MS = 120;

/** The card as whoever shows it may show it. It follows what is typed, a moment later. */
export function Preview({ of }: { of: Draft }) {
  const shown = useLater(of);
  return (
    <Section title="Preview">
      <div class="preview" role="group" aria-label="The card as it may be shown" tabIndex={0}>
        <h3>{shown.title.trim() || shown.keys[0] || <span class="muted">No title yet</span>}</h3>
        {shown.body.trim() === "" ? (
          <p class="muted">Nothing is written yet.</p>
        ) : bytesOf(shown.body) > MOST_BODY_BYTES ? (
          <p class="muted">It is longer than a card may be, and not shown until it fits.</p>
        ) : (
          <Markdown text={shown.body} under={3} />
        )}
      </div>
      <p class="field-hint">
        HTML is shown as text, pictures are named and not loaded, and links lead to web and mail addresses alone.
      </p>
    </Section>
  );
}

function useLater<T>(value: T): T {
  const [shown, show] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => show(value), AFTER_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return shown;
}
