/** `/` and Ctrl-K (Cmd-K) for the whole page: one listener, and the first element that can be seen takes the key. */

export interface Reachable {
  takesShortcut(kind: "slash" | "ctrl-k"): boolean;
  /** Whether the focus came. */
  reach(): boolean;
}

const reachable = new Set<Reachable & Element>();
const TEXT_ROLES = /^(textbox|searchbox|combobox|spinbutton|application)$/;

export function listenFor(element: Reachable & Element): void {
  if (!reachable.size) document.addEventListener("keydown", onKey);
  reachable.add(element);
}

export function stopListeningFor(element: Reachable & Element): void {
  reachable.delete(element);
  if (!reachable.size) document.removeEventListener("keydown", onKey);
}

function onKey(event: KeyboardEvent): void {
  const kind = shortcutIn(event);
  if (!kind || event.defaultPrevented || event.repeat || event.isComposing || isWritten(event)) return;
  const willing = [...reachable].filter((element) => element.takesShortcut(kind) && isSeen(element)).sort(inPageOrder);
  if (willing[0]?.reach()) event.preventDefault();
}

function shortcutIn({ key, code, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): "slash" | "ctrl-k" | null {
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
  return target.tagName.includes("-") && !target.shadowRoot;
}

function isSeen(element: Element): boolean {
  return element.isConnected && element.getClientRects().length > 0;
}

function inPageOrder(one: Element, other: Element): number {
  return one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1;
}
