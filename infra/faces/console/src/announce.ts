// What is said in the live region, and shown for a while at the edge of the page.
import { store } from "./store";

export interface Said {
  id: number;
  text: string;
  tone: "ok" | "bad";
}

export const said = store<Said[]>([]);
/** How many dialogs are open. What is outside of one is not heard, so the topmost shows what is said. */
export const modals = store(0);
const SHOWN_MS = 8000;
let count = 0;

export function announce(text: string, tone: Said["tone"] = "ok"): void {
  const one = { id: ++count, text, tone };
  said.set([...said.get().slice(-2), one]);
  setTimeout(() => unsay(one.id), SHOWN_MS);
}

export function unsay(id: number): void {
  said.set(said.get().filter((one) => one.id !== id));
}

export function unsayAll(): void {
  said.set([]);
}
