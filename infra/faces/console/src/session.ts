// Who is signed in. The token lives in this module's memory and nowhere else: no storage, no cookie, no URL, no DOM.
import { store } from "./store";

export type Ending = "signed_out" | "idle" | "refused";

const IDLE_MS = 15 * 60_000;
const WARN_MS = 60_000;
const STEP_MS = 15_000;

let token: string | null = null;
let leaving = new AbortController();
let lastUsed = 0;
let watch: ReturnType<typeof setInterval> | undefined;
const lastThings = new Set<(token: string) => void>();

export const signedIn = store(false);
export const ending = store<Ending | null>(null);
/** Milliseconds until the session ends for want of use; null while that is not near. */
export const endsSoonMs = store<number | null>(null);

export function begin(accepted: string): void {
  token = accepted;
  leaving = new AbortController();
  ending.set(null);
  used();
  watch = setInterval(look, 1000);
  signedIn.set(true);
}

/** Forgets the token and breaks off whatever is under way, after what has to be sent with it for the last time. */
export function end(why: Ending): void {
  if (token === null) return;
  const last = token;
  token = null;
  clearInterval(watch);
  endsSoonMs.set(null);
  leaving.abort();
  ending.set(why);
  signedIn.set(false);
  for (const task of lastThings) task(last);
}

/** `task` is handed the token when the session has ended; also when the page is closed, so it must not wait. */
export function beforeEnd(task: (token: string) => void): void {
  lastThings.add(task);
}

export function bearer(): string | null {
  return token;
}

/** Aborted when the session ends. */
export function sessionSignal(): AbortSignal {
  return leaving.signal;
}

export function used(): void {
  lastUsed = Date.now();
  if (endsSoonMs.get() !== null) endsSoonMs.set(null);
}

function look(): void {
  const left = lastUsed + IDLE_MS - Date.now();
  if (left <= 0) end("idle");
  else if (left <= WARN_MS) warn(Math.ceil(left / STEP_MS) * STEP_MS);
}

// In steps: it is read out each time.
function warn(leftMs: number): void {
  if (endsSoonMs.get() !== leftMs) endsSoonMs.set(leftMs);
}

for (const sign of ["click", "keydown", "wheel", "touchmove"]) {
  addEventListener(
    sign,
    () => {
      if (token !== null) used();
    },
    { capture: true, passive: true },
  );
}
// A page that sleeps runs no timers: look again when it wakes, and leave no token in a page that can be gone back to.
document.addEventListener("visibilitychange", () => {
  if (token !== null && !document.hidden) look();
});
addEventListener("pagehide", () => end("signed_out"));
