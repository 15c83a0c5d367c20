import { useRef } from "preact/hooks";
import { announce } from "../../announce";
import { Button } from "../../kit";

/** A JSON value as it is, to be copied. */
export function Raw({ label, of, open = false }: { label: string; of: unknown; open?: boolean }) {
  const place = useRef<HTMLPreElement>(null);
  if (of === null) return null;
  const text = JSON.stringify(of, null, 2);
  const copy = async () => {
    const worked =
      (await navigator.clipboard?.writeText(text).then(
        () => true,
        () => false,
      )) || selected(place.current);
    announce(worked ? `${label}: copied` : "Press Ctrl-C to copy what is selected", worked ? "ok" : "bad");
  };
  return (
    <details open={open}>
      <summary>{label}</summary>
      <div class="raw">
        <Button small label={`Copy ${label}`} onClick={() => void copy()}>
          Copy
        </Button>
        <pre ref={place} tabIndex={0} aria-label={label}>
          {text}
        </pre>
      </div>
    </details>
  );
}

// A page over plain http has no clipboard of its own.
function selected(place: HTMLElement | null): boolean {
  if (place) getSelection()?.selectAllChildren(place);
  return place !== null && document.execCommand("copy");
}
