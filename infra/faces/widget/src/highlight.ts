/** Finds the words of a query in a text. Cheap on purpose: it helps the eye and decides nothing. */

import { make } from "./dom";

const MOST_WORDS = 12;
const UNSPACED = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}]/u;
const WORD = /^[\p{L}\p{M}\p{N}]+$/u;
const JOINED = /\p{scx=Arab}/u; // letters that change their shape beside others: a mark ends where the word does

/** The text as nodes, with `<mark>` around what the query asked for. */
export function highlighted(text: string, pattern: RegExp | null): Node[] {
  if (!pattern) return [new Text(text)];
  return text
    .split(pattern)
    .map((piece, index) => (index % 2 ? make("mark", { part: "mark" }, piece) : new Text(piece)))
    .filter((node) => node.textContent);
}

/** One pattern with one group for all words of the query; null when there is nothing to look for. */
export function patternOf(query: string, locale: string): RegExp | null {
  const words = wordsOf(query, locale)
    .filter((word) => word.length > 1 || word === query)
    .slice(0, MOST_WORDS)
    .sort((one, other) => other.length - one.length)
    .map(branchOf);
  try {
    return words.length ? new RegExp(`(${words.join("|")})`, "giu") : null;
  } catch {
    return null; // a browser without one of these assertions shows the text without marks
  }
}

function wordsOf(query: string, locale: string): string[] {
  const runs = query.split(/[^\p{L}\p{M}\p{N}]+/u).filter(Boolean);
  if (!UNSPACED.test(query) || !("Segmenter" in Intl)) return runs;
  const segments = new Intl.Segmenter(locale, { granularity: "word" }).segment(query);
  return [...runs, ...Array.from(segments, (piece) => (piece.isWordLike ? piece.segment : "")).filter((word) => WORD.test(word))];
}

/** Words are letters, marks and digits alone, so nothing in them means anything to a pattern. */
function branchOf(word: string): string {
  if (UNSPACED.test(word)) return word;
  if (JOINED.test(word)) return `[\\p{L}\\p{M}]*${word}[\\p{L}\\p{M}]*`;
  return `(?<![\\p{L}\\p{M}\\p{N}])${word}\\p{M}*`;
}
