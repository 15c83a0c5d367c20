import { useState } from "preact/hooks";
import { Button } from "../../kit";

const AT_FIRST = 420;

/** Somebody else's text, as text: Markdown and HTML in it are shown as they are written. A long one unfolds. */
export function Snippet({ of, about }: { of: string; about: string }) {
  const [whole, setWhole] = useState(false);
  const text = whole ? "Show less" : `Show all ${of.length} characters`;
  const long = of.length > AT_FIRST * 1.25;
  return (
    <>
      <p class="keep-lines snippet">{long && !whole ? `${shortened(of)} …` : of}</p>
      {long && (
        <div>
          <Button small kind="quiet" expanded={whole} label={`${text} of ${about}`} onClick={() => setWhole(!whole)}>
            {text}
          </Button>
        </div>
      )}
    </>
  );
}

// Never half of a character that takes two.
function shortened(text: string): string {
  return text
    .slice(0, AT_FIRST)
    .replace(/[\uD800-\uDBFF]$/, "")
    .trimEnd();
}
