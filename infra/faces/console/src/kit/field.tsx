import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { useViolation } from "./form";

interface Common {
  label: string;
  hint?: ComponentChildren;
  /** The JSON pointer of the field in the body, as violations name it: `/baseUrl`. */
  pointer?: string;
  error?: string | null;
  optional?: boolean;
}

interface Marks {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": boolean | undefined;
}

/** Label, hint and violation around any control: `children` gets what the control has to carry. */
export function Field(props: Common & { children: (marks: Marks) => ComponentChildren }) {
  const id = useId();
  const violation = useViolation(props.pointer);
  const error = props.error ?? violation;
  const described = [props.hint ? `${id}h` : "", error ? `${id}e` : ""].filter(Boolean).join(" ");
  return (
    <div class="field">
      <label for={id}>
        {props.label}
        {props.optional && <span class="muted"> (optional)</span>}
      </label>
      {props.children({ id, "aria-describedby": described || undefined, "aria-invalid": error ? true : undefined })}
      {error && (
        <p class="field-error" id={`${id}e`}>
          {error}
        </p>
      )}
      {props.hint && (
        <p class="field-hint" id={`${id}h`}>
          {props.hint}
        </p>
      )}
    </div>
  );
}

interface TextProps extends Common {
  value: string;
  onValue: (value: string) => void;
  type?: "text" | "url" | "number" | "search" | "datetime-local";
  placeholder?: string;
  maxLength?: number;
  required?: boolean;
  disabled?: boolean;
  autoFocus?: boolean;
  mono?: boolean;
  /** Masked, kept from spelling services and from what browsers remember. */
  secret?: boolean;
}

export function TextField(props: TextProps) {
  // A browser keeps what is no number in a number field to itself: it would be left out as if nothing were there.
  const number = props.type === "number";
  const given = {
    type: number ? "text" : (props.type ?? "text"),
    inputMode: number ? "decimal" : undefined,
    placeholder: props.placeholder,
    ...(props.maxLength !== undefined && { maxLength: props.maxLength }),
  } as object;
  return (
    <Field {...props}>
      {(marks) => (
        <input
          {...marks}
          {...given}
          class={`${props.mono || props.secret ? "mono" : ""}${props.secret ? " masked" : ""}`}
          value={props.value}
          required={props.required ?? false}
          disabled={props.disabled ?? false}
          data-autofocus={props.autoFocus || undefined}
          autocomplete="off"
          autoCapitalize="off"
          spellcheck={props.secret || props.mono ? false : undefined}
          onInput={(event) => props.onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

interface AreaProps extends Common {
  value: string;
  onValue: (value: string) => void;
  rows?: number;
  mono?: boolean;
  placeholder?: string;
  disabled?: boolean;
}

export function AreaField(props: AreaProps) {
  return (
    <Field {...props}>
      {(marks) => (
        <textarea
          {...marks}
          rows={props.rows ?? 3}
          class={props.mono ? "mono" : ""}
          placeholder={props.placeholder ?? ""}
          value={props.value}
          disabled={props.disabled ?? false}
          autocomplete="off"
          spellcheck={props.mono ? false : undefined}
          onInput={(event) => props.onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

export interface Option {
  value: string;
  label: string;
}

interface SelectProps extends Common {
  value: string;
  onValue: (value: string) => void;
  options: Option[];
  disabled?: boolean;
}

export function SelectField(props: SelectProps) {
  return (
    <Field {...props}>
      {(marks) => (
        <select
          {...marks}
          value={props.value}
          disabled={props.disabled ?? false}
          onChange={(event) => props.onValue(event.currentTarget.value)}
        >
          {props.options.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface CheckProps {
  label: ComponentChildren;
  hint?: ComponentChildren;
  pointer?: string;
  checked: boolean;
  onValue: (checked: boolean) => void;
  disabled?: boolean;
}

export function CheckField(props: CheckProps) {
  const id = useId();
  const error = useViolation(props.pointer);
  const described = [props.hint ? `${id}h` : "", error ? `${id}e` : ""].filter(Boolean).join(" ");
  return (
    <div class="field check">
      <input
        type="checkbox"
        id={id}
        checked={props.checked}
        disabled={props.disabled ?? false}
        aria-describedby={described || undefined}
        aria-invalid={error ? true : undefined}
        onChange={(event) => props.onValue(event.currentTarget.checked)}
      />
      <label for={id}>{props.label}</label>
      {error && (
        <p class="field-error" id={`${id}e`}>
          {error}
        </p>
      )}
      {props.hint && (
        <p class="field-hint" id={`${id}h`}>
          {props.hint}
        </p>
      )}
    </div>
  );
}

/** Choices that all fit into sight: radio buttons in a group with a name. */
export function ChoiceField(props: {
  label: string;
  value: string;
  onValue: (value: string) => void;
  options: (Option & { hint?: ComponentChildren })[];
  pointer?: string;
}) {
  const id = useId();
  const error = useViolation(props.pointer);
  return (
    <fieldset class="field choices" aria-describedby={error ? `${id}e` : undefined}>
      <legend>{props.label}</legend>
      {props.options.map(({ value, label, hint }) => (
        <div class="choice" key={value}>
          <input
            type="radio"
            id={`${id}${value}`}
            name={id}
            checked={props.value === value}
            aria-describedby={hint ? `${id}${value}h` : undefined}
            onChange={() => props.onValue(value)}
          />
          <label for={`${id}${value}`}>{label}</label>
          {hint && (
            <p class="field-hint" id={`${id}${value}h`}>
              {hint}
            </p>
          )}
        </div>
      ))}
      {error && (
        <p class="field-error" id={`${id}e`}>
          {error}
        </p>
      )}
    </fieldset>
  );
}
