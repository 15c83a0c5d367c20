/** The element's attributes, read and judged anew whenever they are needed. */

import { languageTag, pageLanguage } from "./languages";
import { linkTo } from "./links";

export const ATTRIBUTES = [
  "api", "key", "locale", "limit", "min-length", "placeholder", "label", "theme", "layout", "shortcut", "target",
  "strings", "dir", "lang",
] as const;

export interface Gateway {
  endpoint: string;
  key: string;
}

const PATH = "/api/v1/knowledge/widget/search";
const KEY = /^kg_pub_[a-z2-7]{16}_[0-9a-f]{64}$/;
const TARGETS = ["_self", "_blank", "_top", "_parent"];
const SHORTCUTS = ["both", "slash", "ctrl-k", "off"] as const;

/** Where to ask and with what; or, in words for the site's owner, why that cannot be. */
export function gatewayOf(element: Element): Gateway | string {
  const api = element.getAttribute("api") ?? "";
  const key = element.getAttribute("key") ?? "";
  const url = linkTo(api);
  if (!url || url.search || url.hash) return "the attribute api has to be the gateway's address, as in https://kb.example.com";
  if (/^kg_(adm|agt|ast)_/.test(key)) return "the attribute key holds a secret token, not a widget key: revoke that token now";
  if (!KEY.test(key)) return "the attribute key has to be a widget key (kg_pub_...)";
  return { endpoint: url.href.replace(/\/+$/, "") + PATH, key };
}

export function localeOf(element: Element): string {
  return languageTag(element.getAttribute("locale")) || pageLanguage(element);
}

export function limitOf(element: Element): number {
  return wholeNumber(element.getAttribute("limit"), { least: 1, most: 10, otherwise: 5 });
}

export function minLengthOf(element: Element): number {
  return wholeNumber(element.getAttribute("min-length"), { least: 1, most: 20, otherwise: 2 });
}

export function targetOf(element: Element): string {
  return oneOf(TARGETS, element.getAttribute("target"));
}

export function shortcutOf(element: Element): (typeof SHORTCUTS)[number] {
  return oneOf(SHORTCUTS, element.getAttribute("shortcut"));
}

export function layoutOf(element: Element): "inline" | "dialog" {
  return oneOf(["inline", "dialog"] as const, element.getAttribute("layout"));
}

/** The first of them stands for whatever is not among them. */
function oneOf<T extends string>(allowed: readonly T[], value: string | null): T {
  return allowed.find((one) => one === value) ?? (allowed[0] as T);
}

function wholeNumber(text: string | null, { least, most, otherwise }: Record<"least" | "most" | "otherwise", number>): number {
  const number = text && /^\d{1,4}$/.test(text.trim()) ? Number(text) : otherwise;
  return Math.min(most, Math.max(least, number));
}
