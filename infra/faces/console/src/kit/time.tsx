import { useEffect } from "preact/hooks";
import { store, useStore } from "../store";

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "long" });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

// One clock for all: a page with 100 times ticks once.
const now = store(Date.now());
let watchers = 0;
let ticking: ReturnType<typeof setInterval> | undefined;

function tick(): void {
  if (!document.hidden) now.set(Date.now());
}

// Watched before it ticks, so that what has just come is not measured by the clock of a while ago.
function useNow(at?: string | null): number {
  const nowMs = useStore(now);
  useEffect(tick, [at]);
  useEffect(() => {
    if (watchers++ === 0) ticking = setInterval(tick, 10_000);
    return () => {
      if (--watchers === 0) clearInterval(ticking);
    };
  }, []);
  return nowMs;
}

export function relativeTo(at: string, nowMs: number): string {
  const s = Math.round((Date.parse(at) - nowMs) / 1000);
  if (Math.abs(s) < 5) return "just now";
  const [unit, size] = STEPS.find(([, least]) => Math.abs(s) >= least) ?? ["second", 1];
  return relative.format(Math.trunc(s / size), unit);
}

export function exactly(at: string): string {
  return exact.format(new Date(at));
}

/** When something that waits is due: `again in 25 seconds`, or that it may happen now. */
export function Again(props: { at: string }) {
  const nowMs = useNow();
  return Date.parse(props.at) > nowMs ? (
    <>
      again <Time at={props.at} />
    </>
  ) : (
    <>again at any moment</>
  );
}

/** `2 minutes ago`, with the exact time as its title; both in words where `both`. Null shows as a dash. */
export function Time(props: { at: string | null | undefined; both?: boolean }) {
  const nowMs = useNow(props.at);
  if (!props.at || Number.isNaN(Date.parse(props.at))) return <span class="muted">–</span>;
  return (
    <time dateTime={props.at} title={exactly(props.at)}>
      {relativeTo(props.at, nowMs)}
      {props.both && <span class="muted"> · {exactly(props.at)}</span>}
    </time>
  );
}
