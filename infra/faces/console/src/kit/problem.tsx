import type { ComponentChildren } from "preact";
import { adviceOn } from "../advice";
import type { ApiProblem } from "../problem";
import { Button } from "./button";

interface Props {
  of: ApiProblem;
  /** Offered as a button: read again, try again. */
  onRetry?: (() => void) | undefined;
  retryLabel?: string;
  children?: ComponentChildren;
}

/** What went wrong, its code, what to do, and the id to quote. */
export function ProblemBox({ of, onRetry, retryLabel = "Try again", children }: Props) {
  return (
    <div class="notice bad" role="alert">
      <p class="notice-title">
        {of.title} <code>{of.code}</code>
      </p>
      {of.detail && of.detail !== `${of.title}.` && <p>{of.detail}</p>}
      {of.violations.length > 0 && (
        <ul>
          {of.violations.map((one) => (
            <li key={one.pointer}>
              <code>{one.pointer || "/"}</code> {one.detail}
            </li>
          ))}
        </ul>
      )}
      <p>{adviceOn(of)}</p>
      {children}
      {(onRetry || of.requestId) && (
        <div class="notice-foot">
          {onRetry && (
            <Button small onClick={onRetry}>
              {retryLabel}
            </Button>
          )}
          {of.requestId && (
            <span class="muted">
              Request <code>{of.requestId}</code>
            </span>
          )}
        </div>
      )}
    </div>
  );
}

export function Notice(props: {
  tone?: "info" | "warn" | "ok" | "bad";
  title?: string | undefined;
  children?: ComponentChildren;
}) {
  return (
    <div class={`notice ${props.tone ?? "info"}`}>
      {props.title && <p class="notice-title">{props.title}</p>}
      {props.children}
    </div>
  );
}
