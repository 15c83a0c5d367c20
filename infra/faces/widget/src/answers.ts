/** Reads what came back. It has passed through several hands: whatever is not as promised is not shown. */

import { languageTag } from "./languages";
import { linkTo } from "./links";

export interface Found {
  title: string;
  snippet: string;
  link: URL | null;
  locale: string;
}

const TITLE_CHARACTERS = 200;
const SNIPPET_CHARACTERS = 320; // three lines, and what is read out of each result

/** At most `limit` results, or null when this is no answer of the gateway. */
export function resultsIn(answer: unknown, limit: number): Found[] | null {
  const results = field(answer, "results");
  if (!Array.isArray(results)) return null;
  const found = results.slice(0, limit).map(resultIn);
  return found.every((result) => result !== null) ? found : null;
}

function resultIn(result: unknown): Found | null {
  const title = field(result, "title");
  const snippet = field(result, "snippet");
  const url = field(result, "url");
  if (typeof title !== "string" || typeof snippet !== "string" || (url !== null && typeof url !== "string")) return null;
  return {
    title: cut(title, TITLE_CHARACTERS),
    snippet: cut(snippet, SNIPPET_CHARACTERS),
    link: linkTo(url),
    locale: languageTag(field(result, "locale")),
  };
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** Never through the middle of a character. */
function cut(text: string, most: number): string {
  const bounded = text.slice(0, most * 4).trim();
  const characters = Array.from(bounded);
  return characters.length > most ? `${characters.slice(0, most - 1).join("")}…` : bounded;
}
