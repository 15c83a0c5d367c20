/** Language tags. Browsers throw at a tag that is not well-formed, and pages and answers hold such: none gets past here. */

import { nearest } from "./ancestors";

const TAG = /^[a-z]{2,8}(-[a-z0-9]{1,8})*$/i;
const MOST_CHARACTERS = 35;
const EXTENDED = /^([a-z]{2,3})(-[a-z]{3}){1,3}(?=-|$)/i; // zh-cmn-Hans: registered, and yet none for browsers

/** As much of the tag as a browser takes: `zh-Hans` of `zh-cmn-Hans`, `en` of `en-x`. "" where that is nothing. */
export function languageTag(text: unknown): string {
  if (typeof text !== "string" || text.length > MOST_CHARACTERS || !TAG.test(text)) return "";
  if (isTaken(text)) return text;
  let tag = text.replace(EXTENDED, "$1");
  while (tag && !isTaken(tag)) tag = tag.slice(0, Math.max(0, tag.lastIndexOf("-")));
  return tag;
}

/** The language of the page around the element, else "". */
export function pageLanguage(element: Element): string {
  return languageTag(nearest(element, "[lang]")?.getAttribute("lang"));
}

/** Do two tags name the same language, whatever the script and the country? */
export function areAlike(one: string, other: string): boolean {
  return baseOf(one) === baseOf(other);
}

export function baseOf(tag: string): string {
  return tag.split("-")[0]?.toLowerCase() ?? "";
}

function isTaken(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0;
  } catch {
    return false;
  }
}
