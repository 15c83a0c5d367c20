import type { ComponentChildren, TargetedMouseEvent } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { passOn } from "./focus";

interface Props {
  children: ComponentChildren;
  kind?: "plain" | "primary" | "danger" | "quiet";
  type?: "button" | "submit";
  busy?: boolean;
  disabled?: boolean;
  onClick?: (event: TargetedMouseEvent<HTMLButtonElement>) => void;
  label?: string | undefined;
  pressed?: boolean | undefined;
  expanded?: boolean | undefined;
  controls?: string | undefined;
  small?: boolean;
}

/** While `busy` it keeps its place and its focus, and does nothing; when it goes, what comes instead has the focus. `label` is what is read out instead of its text. */
export function Button(props: Props) {
  const { kind = "plain", type = "button", busy = false, disabled = false } = props;
  const own = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => () => passOn(own.current), []);
  return (
    <button
      ref={own}
      type={type}
      class={`button ${kind}${props.small ? " small" : ""}`}
      aria-busy={busy || undefined}
      aria-disabled={busy || undefined}
      disabled={disabled}
      aria-label={props.label}
      aria-pressed={props.pressed}
      aria-expanded={props.expanded}
      aria-controls={props.controls}
      onClick={(event) => {
        if (busy) event.preventDefault();
        else props.onClick?.(event);
      }}
    >
      {busy && <span class="spinner" aria-hidden="true" />}
      {props.children}
    </button>
  );
}

export function LinkButton(props: { href: string; children: ComponentChildren; kind?: "plain" | "primary" }) {
  return (
    <a class={`button ${props.kind ?? "plain"}`} href={props.href}>
      {props.children}
    </a>
  );
}
