// What must not be left now: a dialog whose action is under way, or that shows a secret this once. Neither Escape nor the
// cross nor Cancel closes it then, and no other address of the console is gone to.
import { store, type Store } from "./store";

/** How many things hold one dialog. */
export type Held = Store<number>;

const open: Held[] = [];

/** A dialog that has just opened; the newest is the one in front. */
export function opened(): Held {
  const held = store(0);
  open.push(held);
  return held;
}

export function closed(held: Held): void {
  const at = open.indexOf(held);
  if (at >= 0) open.splice(at, 1);
}

/** Holds `held` until what it gives is called. */
export function hold(held: Held): () => void {
  held.set(held.get() + 1);
  let done = false;
  return () => {
    if (!done) held.set(held.get() - 1);
    done = true;
  };
}

/** Holds the dialog in front; does nothing where none is open. Every action does this, so that no dialog can forget it. */
export function holdFront(): () => void {
  const front = open.at(-1);
  return front ? hold(front) : () => undefined;
}

export function anythingHeld(): boolean {
  return open.some((held) => held.get() > 0);
}
