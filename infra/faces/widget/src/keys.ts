/** The keyboard in the search field. */

import type { View } from "./view";

export interface Actions {
  view: View;
  /** Shows what there is for the field's words, or asks. */
  open(): void;
  ask(): void;
  /** Is what is shown the answer for what is written? */
  isAnswered(): boolean;
  /** Closes, then empties, then goes back to where the shortcut was pressed; false when there was nothing to do. */
  leave(): boolean;
}

export function onFieldKey(event: KeyboardEvent, actions: Actions): void {
  if (event.isComposing || event.keyCode === 229) return; // the key belongs to the input method
  if (act(event, actions)) event.preventDefault();
  else if (!isPlainText(event)) return;
  event.stopPropagation(); // pages with keys of their own take this field for no field
}

/** Was the key used up here? */
function act(event: KeyboardEvent, actions: Actions): boolean {
  if (event.key === "Enter") return enter(event, actions);
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  if (event.key === "Escape") return actions.leave();
  if (event.key === "ArrowDown") return step(1, actions);
  if (event.key === "ArrowUp") return step(-1, actions);
  const { list } = actions.view;
  if (!list.activeOption || event.shiftKey) return false;
  if (event.key === "Home") list.activate(0);
  else if (event.key === "End") list.last();
  else return false;
  return true;
}

function step(by: 1 | -1, { view, open }: Actions): boolean {
  if (!view.isShown) open();
  if (view.isShown && view.list.count) view.list.step(by);
  return true;
}

/** Opens the active result, with the modifiers as in a click; without one it asks at once, and then takes the first. */
function enter(event: KeyboardEvent, { view, open, ask, isAnswered }: Actions): boolean {
  if (event.repeat) return true; // held down it is one press
  const { ctrlKey, metaKey, shiftKey } = event;
  const option = view.list.activeOption;
  const click = { bubbles: true, cancelable: true, composed: true, ctrlKey, metaKey, shiftKey };
  if (option) option.dispatchEvent(new MouseEvent("click", click));
  else if (!isAnswered()) ask();
  else if (!view.isShown) open();
  else if (view.list.count) view.list.step(1);
  return true;
}

function isPlainText({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return Array.from(key).length === 1 && !ctrlKey && !metaKey && !altKey;
}
