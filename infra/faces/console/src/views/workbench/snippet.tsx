import { useState } from "preact/hooks";
import { Button } from "../../kit";

const AT_FIRST = 420;

/** Somebody else's text, as text: Markdown and HTML in it are shown as they are written. A long one unfolds. */
export function Snippet({ of, about }: { of: string; about: string }) {
  const [whole, setWhole] = useState(false);
  const long = of.length > AT_FIRST * 1.25;
  return (
    <>
      <p class="keep-lines snippet">{long && !whole ? `${of.slice(0, AT_FIRST).trimEnd()} …` : of}</p>
      {long && (
        <div>
          <Button
            small
            kind="quiet"
            expanded={whole}
            label={`${whole ? "Less" : "All"} of ${about}`}
            onClick={() => setWhole(!whole)}
          >
            {whole ? "Show less" : `Show all ${of.length} characters`}
          </Button>
        </div>
      )}
    </>
  );
}
