/** Gives everything its name in the language of the element, and its direction. */

import { nearest } from "./ancestors";
import { set } from "./dom";
import { languageTag } from "./languages";
import { localeOf } from "./settings";
import type { Shortcut } from "./shortcuts";
import type { DialogSkeleton, Skeleton } from "./skeleton";
import { directionOf, ownWords, Words, type Strings } from "./strings";
import { warnOnce } from "./warnings";

const KEYS = { slash: "/", "ctrl-k": "Control+K Meta+K" };
const HINTS = { slash: "/", "ctrl-k": /mac|iphone|ipad/i.test(navigator.platform) ? "⌘K" : "Ctrl K" };

interface Named {
  inside: Skeleton;
  around: DialogSkeleton | null;
  strings: Partial<Strings> | null;
  isOff: boolean;
}

/** The language's words, under the attribute `strings`, under the property, under `label` and `placeholder`. */
export function wordsFor(element: Element, strings: Partial<Strings> | null): Words {
  const locale = localeOf(element) || languageTag(navigator.language) || "en";
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
  const locale = languageTag(element.getAttribute("locale"));
  const isGiven = element.hasAttribute("dir") || (!locale && nearest(element, "[dir]") !== null);
  return { lang: words.language, dir: isGiven ? false : directionOf(locale || localeOf(element)) };
}

/** The keys that bring the element: the first for all to see, every one for assistive technology. */
export function nameKeys(
  { hint, input }: Skeleton,
  { around, kinds }: { around: DialogSkeleton | null; kinds: readonly Shortcut[] },
): void {
  hint.textContent = kinds[0] ? HINTS[kinds[0]] : "";
  hint.hidden = !kinds.length;
  set(around?.trigger ?? input, { "aria-keyshortcuts": kinds.map((kind) => KEYS[kind]).join(" ") || false });
}

function parsed(text: string | null): unknown {
  try {
    return text ? JSON.parse(text) : null;
  } catch {
    warnOnce("the attribute strings is not JSON");
    return null;
  }
}
