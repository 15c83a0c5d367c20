import { useEffect, useId, useRef, useState } from "preact/hooks";
import { announce } from "../announce";
import { Button } from "./button";
import { useHold } from "./dialog";
import { CheckField } from "./field";

/** Copies, also where a page over plain http has no clipboard of its own. True when it worked. */
export async function copied(text: string, from: HTMLInputElement | null): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    from?.select();
    return from !== null && document.execCommand("copy");
  }
}

/** A value to be taken elsewhere. `autoFocus`: it has just come, and is what comes next. */
export function Copyable(props: { value: string; label: string; autoFocus?: boolean }) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (props.autoFocus) field.current?.focus();
  }, []);
  const id = useId();
  const copy = async () => {
    const worked = await copied(props.value, field.current);
    announce(worked ? `${props.label}: copied` : "Press Ctrl-C to copy what is selected", worked ? "ok" : "bad");
  };
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      <div class="copyable">
        <input
          ref={field}
          id={id}
          class="mono"
          readOnly
          value={props.value}
          autocomplete="off"
          spellcheck={false}
          onFocus={(event) => event.currentTarget.select()}
        />
        <Button onClick={() => void copy()} label={`Copy ${props.label}`}>
          Copy
        </Button>
      </div>
    </div>
  );
}

interface Props {
  value: string;
  label: string;
  /** What to do with it, in a sentence. */
  hint: string;
  onDone: () => void;
}

/**
 * A secret that the gateway shows this once. It goes from the page when this is closed, which takes a box to tick; until
 * then it holds its dialog, and the browser asks before the page is closed.
 */
export function SecretOnce(props: Props) {
  useHold();
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, []);
  const [kept, setKept] = useState(false);
  return (
    <div class="secret-once">
      <p>
        {props.hint} <strong>It is not shown again.</strong>
      </p>
      <Copyable value={props.value} label={props.label} autoFocus />
      <CheckField label="I have put it where it belongs" checked={kept} onValue={setKept} />
      <div class="form-foot">
        <Button kind="primary" disabled={!kept} onClick={props.onDone}>
          Done
        </Button>
      </div>
    </div>
  );
}
