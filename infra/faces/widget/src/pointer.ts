/** The mouse in the popup. */

import type { Skeleton } from "./skeleton";

/** Does a browser open the link elsewhere than in this tab? */
export function opensElsewhere({ button, ctrlKey, metaKey, shiftKey, altKey }: MouseEvent): boolean {
  return button === 1 || ctrlKey || metaKey || shiftKey || altKey;
}

/**
 * The focus stays in the field when a result is pressed. Other text can be marked: then the popup has the focus for as
 * long as nothing is written, and a key goes to the field by `onKey`.
 */
export function keepFocus({ popup, input }: Skeleton, onKey: (event: KeyboardEvent) => void): void {
  popup.addEventListener("mousedown", (event) => {
    if ((event.target as Element).closest("a,button")) event.preventDefault();
  });
  popup.addEventListener("click", () => {
    if (isFocused(popup) && !String(getSelection())) input.focus();
  });
  popup.addEventListener("keydown", (event) => {
    if (event.target !== popup || event.ctrlKey || event.metaKey || event.altKey || event.key === "Shift") return;
    input.focus();
    onKey(event);
  });
}

function isFocused(element: Element): boolean {
  return (element.getRootNode() as ShadowRoot).activeElement === element;
}
