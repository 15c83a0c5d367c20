// What is being written. A draft that was left unsaved is kept in memory until it is saved or dropped, or somebody
// signs out.
import type { CardPatch, CardShown } from "../../api";
import { signedIn } from "../../session";

export interface Draft {
  keys: string[];
  title: string;
  body: string;
}

export type Field = keyof Draft;
export const FIELDS: readonly Field[] = ["keys", "title", "body"];

const left = new Map<string, Draft>();
signedIn.watch(() => {
  if (!signedIn.get()) left.clear();
});

export function keep(place: string, draft: Draft | null): void {
  // A view that closes because somebody signs out leaves nothing.
  if (draft === null || !signedIn.get()) left.delete(place);
  else left.set(place, draft);
}

export function leftAt(place: string): Draft | null {
  return left.get(place) ?? null;
}

export const BLANK: Draft = { keys: [], title: "", body: "" };

export function draftOf(card: CardShown): Draft {
  return { keys: card.keys, title: card.title, body: card.body };
}

export function differs(field: Field, one: Draft, other: Draft): boolean {
  return JSON.stringify(one[field]) !== JSON.stringify(other[field]);
}

export function isChanged(draft: Draft, was: Draft): boolean {
  return FIELDS.some((field) => differs(field, draft, was));
}

export function changesOf(draft: Draft, was: Draft): Partial<CardPatch> {
  return Object.fromEntries(FIELDS.filter((field) => differs(field, draft, was)).map((field) => [field, draft[field]]));
}

/** After somebody else's change: their fields, and one's own where one has changed them. Both changed `clashes`. */
export function merged(draft: Draft, was: Draft, now: Draft): { draft: Draft; clashes: Field[] } {
  const own = Object.fromEntries(
    FIELDS.filter((field) => differs(field, draft, was)).map((field) => [field, draft[field]]),
  );
  const clashes = FIELDS.filter(
    (field) => differs(field, draft, was) && differs(field, now, was) && differs(field, draft, now),
  );
  return { draft: { ...now, ...own }, clashes };
}
