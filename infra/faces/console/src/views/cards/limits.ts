// What a card may hold. The gateway refuses what is more; these say so while it is typed.

export const MOST_KEYS = 32;
export const MOST_KEY_CHARACTERS = 200;
export const MOST_TITLE_CHARACTERS = 512;
export const MOST_BODY_BYTES = 32 * 1024;

/** As the gateway counts: code points, not halves of surrogate pairs. */
export function charactersOf(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

export function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Nearly the gateway's normal form: good enough for filtering, and for seeing that a key is there already. */
export function normOf(text: string): string {
  return text.normalize("NFKC").toLowerCase().trim().replace(/\s+/g, " ");
}
