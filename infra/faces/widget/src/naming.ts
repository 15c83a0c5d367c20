/** Gives everything its name in the language of the element, and its direction. */

import { set } from "./dom";
import { localeOf, shortcutOf } from "./settings";
import type { DialogSkeleton, Skeleton } from "./skeleton";
import { directionOf, ownWords, Words, type Strings } from "./strings";
import { warnOnce } from "./warnings";

interface Named {
  inside: Skeleton;
  around: DialogSkeleton | null;
  strings: Partial<Strings> | null;
  isOff: boolean;
}

/** The language's words, under the attribute `strings`, under the property, under `label` and `placeholder`. */
export function wordsFor(element: Element, strings: Partial<Strings> | null): Words {
  const locale = localeOf(element) || navigator.language || "en";
  const own = { ...ownWords(parsed(element.getAttribute("strings"))), ...ownWords(strings) };
  for (const name of ["label", "placeholder"] as const) {
    const text = element.getAttribute(name);
    if (text) own[name] = text;
  }
  return new Words(locale, own);
}

export function nameEverything(element: Element, { inside, around, strings, isOff }: Named): void {
  const words = wordsFor(element, strings);
  const label = words.text("label");
  nameField(inside, { words, isOff });
  set(inside.box, { "aria-label": label, ...spoken(element, words) });
  inside.hint.textContent = isOff ? "" : hintOf(element);
  inside.hint.hidden = !inside.hint.textContent;
  set(around?.trigger ?? inside.input, { "aria-keyshortcuts": isOff ? false : keysOf(element) });
  if (!around) return;
  set(around.dialog, { "aria-label": label });
  around.close.textContent = words.text("close");
  set(around.trigger, { disabled: isOff, ...spoken(element, words) });
  around.triggerText.textContent = words.text(isOff ? "refused" : "open");
}

function nameField({ box, input, clear, retry, list }: Skeleton, { words, isOff }: { words: Words; isOff: boolean }): void {
  set(box, { "data-off": isOff });
  set(input, {
    "aria-label": words.text("label"),
    placeholder: words.text(isOff ? "refused" : "placeholder"),
    disabled: isOff,
  });
  set(clear, { "aria-label": words.text("clear") });
  set(list, { "aria-label": words.text("list") });
  retry.textContent = words.text("retry");
}

/** A direction of its own only where the page gives none nearer than the language. */
function spoken(element: Element, words: Words): { lang: string; dir: string | false } {
  const locale = element.getAttribute("locale") ?? "";
  const isGiven = element.hasAttribute("dir") || (!locale && element.closest("[dir]") !== null);
  return { lang: words.language, dir: isGiven ? false : directionOf(locale || localeOf(element)) };
}

function hintOf(element: Element): string {
  const shortcut = shortcutOf(element);
  if (shortcut !== "ctrl-k") return shortcut === "off" ? "" : "/";
  return /mac|iphone|ipad/i.test(navigator.platform) ? "⌘K" : "Ctrl K";
}

function keysOf(element: Element): string | false {
  const keys = { both: "/ Control+K Meta+K", slash: "/", "ctrl-k": "Control+K Meta+K", off: "" };
  return keys[shortcutOf(element)] || false;
}

function parsed(text: string | null): unknown {
  try {
    return text ? JSON.parse(text) : null;
  } catch {
    warnOnce("the attribute strings is not JSON");
    return null;
  }
}
