/** The element's inside, before anything is in it. */

import { CROSS, icon, MAGNIFIER, make } from "./dom";
import { VERSION } from "./version";

export const LIST_ID = "list";

export interface Skeleton {
  box: HTMLElement;
  input: HTMLInputElement;
  hint: HTMLElement;
  clear: HTMLButtonElement;
  popup: HTMLElement;
  message: HTMLElement;
  words: HTMLParagraphElement;
  retry: HTMLButtonElement;
  list: HTMLElement;
  status: HTMLElement;
  instead: HTMLSlotElement;
}

export interface DialogSkeleton {
  trigger: HTMLButtonElement;
  triggerText: HTMLElement;
  dialog: HTMLDialogElement;
  close: HTMLButtonElement;
}

export function skeleton(): Skeleton {
  const input = make("input", {
    part: "input", type: "text", role: "combobox", maxlength: 300, inputmode: "search", enterkeyhint: "search",
    autocomplete: "off", autocapitalize: "off", spellcheck: "false", dir: "auto",
    "aria-autocomplete": "list", "aria-controls": LIST_ID, "aria-expanded": "false",
  });
  const hint = make("kbd", { part: "hint", "aria-hidden": "true" });
  const clear = make("button", { part: "clear", class: "clear", type: "button", tabindex: -1, hidden: true }, icon(CROSS));
  const words = make("p");
  const retry = make("button", { part: "retry", class: "retry", type: "button" });
  const message = make("div", { part: "message", class: "message", hidden: true }, words, retry);
  const list = make("div", { part: "list", id: LIST_ID, role: "listbox", hidden: true });
  const popup = make("div", { part: "popup", class: "popup", tabindex: -1, hidden: true }, message, list);
  const status = make("div", { class: "sr", role: "status" });
  const instead = make("slot", { hidden: true });
  const sign = make("span", { class: "sign" }, icon(MAGNIFIER));
  const field = make("div", { part: "field", class: "field" }, sign, input, hint, clear);
  const head = make("div", { class: "head" }, field);
  const box = make("div", { part: "box", class: "box", role: "search", "data-version": VERSION }, head, popup, status);
  return { box, input, hint, clear, popup, message, words, retry, list, status, instead };
}

/** Puts the box into a modal dialog and a button before it. */
export function inDialog(inside: Skeleton): DialogSkeleton {
  const triggerText = make("span");
  const trigger = make(
    "button",
    { part: "trigger", class: "trigger", type: "button", "aria-haspopup": "dialog" },
    icon(MAGNIFIER),
    triggerText,
    inside.hint,
  );
  const close = make("button", { part: "close", class: "close", type: "button" });
  inside.box.firstElementChild?.append(close);
  return { trigger, triggerText, close, dialog: make("dialog", { part: "dialog" }, inside.box) };
}
