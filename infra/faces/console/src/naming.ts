// Names that somebody else has chosen, in sentences of the console.

const TURNS_ROUND =
  /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc]|[\ud802\ud803\ud83a\ud83b]/;
const DRAWS_NOTHING = /^[\p{C}\p{Z}\p{M}\u115f\u1160\u2800\u3164\uffa0]*$/u;

/** A name for a text that no element can set apart: where it is written from the right, it turns nothing else round. */
export function isolated(name: string): string {
  return TURNS_ROUND.test(name) ? `\u2068${name}\u2069` : name;
}

/** A name of which something is seen: its id beside one that draws nothing. */
export function named({ name, id }: { name: string; id: string }): string {
  return DRAWS_NOTHING.test(name) ? `${name} (${id})` : name;
}

/** The first few of many names, and how many others there are. */
export function fewOf(names: string[], most = 3): string {
  const others = names.length - most;
  const few = names.slice(0, most).map(isolated).join(", ");
  return others > 0 ? `${few} and ${others} more` : few;
}
