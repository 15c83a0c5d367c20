import type { ComponentChildren } from "preact";
import type { Loading } from "../load";
import { ProblemBox } from "./problem";

/** Nothing is here, and what to do about it. */
export function Empty(props: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{props.title}</p>
      {props.children}
    </div>
  );
}

/** Holds the place of what is being read. */
export function Skeleton(props: { lines?: number; label?: string }) {
  return (
    <div class="skeleton" role="status" aria-label={props.label ?? "Loading"}>
      {Array.from({ length: props.lines ?? 4 }, (_, at) => (
        <span key={at} class="bone" />
      ))}
    </div>
  );
}

/** Skeleton, problem or content, whichever is so; what was read stays while it is read again. */
export function Loaded<T>(props: { from: Loading<T>; children: (data: T) => ComponentChildren; lines?: number }) {
  const { data, problem, reload } = props.from;
  return (
    <>
      {problem && <ProblemBox of={problem} onRetry={reload} />}
      {data !== null ? props.children(data) : !problem && <Skeleton lines={props.lines ?? 5} />}
    </>
  );
}
