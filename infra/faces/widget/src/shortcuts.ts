/** `/` and Ctrl-K (Cmd-K) for the whole page: one listener, and the first element that can be seen and used takes the key. */

import { nearest } from "./ancestors";

export type Shortcut = "slash" | "ctrl-k";

export interface Reachable {
  takesShortcut(kind: Shortcut): boolean;
  /** Those that come to this element, as far as is known now. */
  tellShortcuts(kinds: readonly Shortcut[]): void;
  /** Whether the focus came. */
  reach(): boolean;
}

const KINDS: readonly Shortcut[] = ["slash", "ctrl-k"];
const reachable = new Set<Reachable & Element>();
// What may hold a shadow tree beside elements of a page's own. None of them has the focus itself without a tabindex.
const HOSTS = /^(article|aside|blockquote|div|footer|h[1-6]|header|main|nav|p|section|span)$/i;
const TEXT_ROLES = /^(textbox|searchbox|combobox|spinbutton|application)$/;

export function listenFor(element: Reachable & Element): void {
  document.addEventListener("keydown", onKey);
  addEventListener("resize", tellShortcuts); // a layout for another width may show another element
  reachable.add(element);
  tellShortcuts();
}

export function stopListeningFor(element: Reachable & Element): void {
  reachable.delete(element);
  tellShortcuts();
  if (reachable.size) return;
  document.removeEventListener("keydown", onKey);
  removeEventListener("resize", tellShortcuts);
}

/** An element names a key unless one before it takes that: of those that cannot be seen nobody sees what they name. */
export function tellShortcuts(): void {
  const taken = new Set<Shortcut>();
  for (const element of [...reachable].sort(inPageOrder)) {
    const kinds = KINDS.filter((kind) => element.takesShortcut(kind) && !taken.has(kind));
    element.tellShortcuts(kinds);
    if (reachable.size > 1 && isSeen(element)) kinds.forEach((kind) => taken.add(kind));
  }
}

function onKey(event: KeyboardEvent): void {
  const kind = shortcutIn(event);
  if (!kind || event.defaultPrevented || event.repeat || event.isComposing || isWritten(event)) return;
  const willing = [...reachable].filter((element) => element.takesShortcut(kind) && isSeen(element)).sort(inPageOrder);
  if (willing.some((element) => element.reach())) event.preventDefault();
}

function shortcutIn({ key, code, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): Shortcut | null {
  if (key === "/" && !ctrlKey && !metaKey && !altKey) return "slash"; // with Shift on many keyboards
  const isK = key.toLowerCase() === "k" || (code === "KeyK" && key > "\x7f"); // another script on the same key
  return isK && ctrlKey !== metaKey && !altKey && !shiftKey ? "ctrl-k" : null;
}

/** Does the key belong to something that is written into? What a closed shadow tree holds is unknown: then it does. */
function isWritten(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName)) return true;
  if (TEXT_ROLES.test(target.getAttribute("role") ?? "")) return true;
  return !target.shadowRoot && (target.tagName.includes("-") || (HOSTS.test(target.tagName) && !target.hasAttribute("tabindex")));
}

function isSeen(element: Element): boolean {
  const isVisible = element.getClientRects().length > 0 && getComputedStyle(element).visibility === "visible";
  return isVisible && !nearest(element, "[inert]");
}

function inPageOrder(one: Element, other: Element): number {
  return one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1;
}
