import { useId, useRef, useState } from "preact/hooks";
import { announce } from "../../announce";
import { Button, useViolation } from "../../kit";
import { charactersOf, MOST_KEY_CHARACTERS, MOST_KEYS, normOf } from "./limits";

interface Props {
  keys: string[];
  onKeys: (keys: string[]) => void;
  /** What is typed and not added yet: saving takes it along. */
  typed: string;
  onTyped: (typed: string) => void;
}

/** The keys as chips. Enter adds what is typed; several lines that are pasted become several keys. */
export function Keys({ keys, onKeys, typed, onTyped }: Props) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const [error, setError] = useState<string | null>(null);
  const refused = useViolation("/keys");
  const add = (texts: string[]) => {
    const added = withKeys(keys, texts);
    setError(
      added.length === keys.length && texts.some((text) => text.trim() !== "") ? "That key is there already." : null,
    );
    onKeys(added);
    onTyped("");
  };
  const removeAt = (at: number) => {
    onKeys(keys.filter((_, place) => place !== at));
    announce(`Key ${keys[at] ?? ""} removed.`);
    const next = list.current?.querySelectorAll("button")[at + 1] ?? input.current;
    next?.focus();
  };
  const problem = keys.length > MOST_KEYS ? `A card has at most ${MOST_KEYS} keys.` : (error ?? refused);
  const described = `${id}h${problem ? ` ${id}e` : ""}`;
  return (
    <div class="field">
      <label for={id}>Keys</label>
      {keys.length > 0 && (
        <ul class="chips" ref={list} aria-label="Keys of the card">
          {keys.map((key, at) => (
            <Chip key={`${at} ${key}`} text={key} at={at} onRemove={() => removeAt(at)} />
          ))}
        </ul>
      )}
      <div class="key-line">
        <input
          id={id}
          ref={input}
          value={typed}
          autocomplete="off"
          aria-describedby={described}
          aria-invalid={problem ? true : undefined}
          data-autofocus={keys.length === 0 || undefined}
          onInput={(event) => {
            setError(null);
            onTyped(event.currentTarget.value);
          }}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.isComposing || typed.trim() === "") return;
            event.preventDefault();
            add([typed]);
          }}
          onPaste={(event) => {
            const lines = (event.clipboardData?.getData("text") ?? "")
              .split(/\r?\n/)
              .filter((line) => line.trim() !== "");
            if (lines.length < 2) return;
            event.preventDefault();
            add(lines);
          }}
        />
        <Button
          onClick={() => {
            add([typed]);
            input.current?.focus();
          }}
          disabled={typed.trim() === ""}
        >
          Add key
        </Button>
      </div>
      {problem && (
        <p class="field-error" id={`${id}e`}>
          {problem}
        </p>
      )}
      <p class="field-hint" id={`${id}h`}>
        {keys.length} of {MOST_KEYS}. Words or names that the card is found under; upper and lower case do not count.
        Enter adds one.
      </p>
    </div>
  );
}

export function withKeys(keys: string[], texts: string[]): string[] {
  const all = [...keys];
  for (const text of texts.map((one) => one.trim())) {
    if (text !== "" && !all.some((key) => normOf(key) === normOf(text))) all.push(text);
  }
  return all;
}

function Chip(props: { text: string; at: number; onRemove: () => void }) {
  const violation = useViolation(`/keys/${props.at}`);
  const long = charactersOf(props.text) > MOST_KEY_CHARACTERS;
  return (
    <li class={violation !== null || long ? "chip bad" : "chip"} title={violation ?? undefined}>
      <span>{props.text}</span>
      {long && (
        <span class="small-text nowrap">
          {charactersOf(props.text)} of {MOST_KEY_CHARACTERS}
        </span>
      )}
      <button type="button" aria-label={`Remove the key ${props.text}`} onClick={props.onRemove}>
        <span aria-hidden="true">✕</span>
      </button>
    </li>
  );
}
