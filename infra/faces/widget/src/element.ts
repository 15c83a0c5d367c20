/** `<knowledge-search>`: the element's life, its attributes and its events. */

import type { Found } from "./answers";
import { set } from "./dom";
import { onFieldKey } from "./keys";
import { ATTRIBUTES, gatewayOf, layoutOf, limitOf, localeOf, minLengthOf, shortcutOf, targetOf } from "./settings";
import { listenFor, stopListeningFor, tellShortcuts, type Reachable, type Shortcut } from "./shortcuts";
import { reflect, takeEarly } from "./properties";
import { Search, type State } from "./search";
import { keepFocus, opensElsewhere } from "./pointer";
import { inDialog, skeleton, type DialogSkeleton, type Skeleton } from "./skeleton";
import { adoptStyles } from "./styles";
import { focused } from "./focus";
import { nameEverything, nameKeys, wordsFor } from "./naming";
import { tidied } from "./queries";
import { VERSION } from "./version";
import { View } from "./view";
import { warnOnce } from "./warnings";
import type { Strings } from "./strings";

const ASKED_ANEW = ["api", "key", "locale", "limit", "lang"];

export class KnowledgeSearch extends HTMLElement implements Reachable {
  static readonly version = VERSION;
  static readonly observedAttributes: readonly string[] = ATTRIBUTES;

  readonly #root = this.attachShadow({ mode: "open" });
  readonly #search = new Search({
    gateway: () => gatewayOf(this),
    question: () => ({ query: this.query, limit: limitOf(this), locale: localeOf(this) }),
    minLength: () => minLengthOf(this),
    show: (state) => this.#show(state),
  });
  #inside: Skeleton = skeleton();
  #view = new View(this.#inside);
  #around: DialogSkeleton | null = null;
  #layout = "";
  #strings: Partial<Strings> | null = null;
  #state: State = { kind: "idle" };
  #isComposing = false;
  #cameFrom: HTMLElement | null = null;
  #toResume = false;
  #trouble = "";

  #pressed: Event | null = null;
  #page = document;

  constructor() {
    super();
    adoptStyles(this.#root);
    this.addEventListener("pointerdown", (event) => { this.#pressed = event; });
  }

  adoptedCallback(): void {
    adoptStyles(this.#root);
  }

  connectedCallback(): void {
    takeEarly(this);
    this.#page = this.ownerDocument;
    this.#build();
    this.#refresh();
    listenFor(this);
    this.#page.addEventListener("pointerdown", this.#onPointerDown);
    for (const type of PAGE_EVENTS) addEventListener(type, this.#onPage);
  }

  disconnectedCallback(): void {
    stopListeningFor(this);
    this.#page.removeEventListener("pointerdown", this.#onPointerDown);
    for (const type of PAGE_EVENTS) removeEventListener(type, this.#onPage);
    this.#search.stop();
    this.close();
  }

  attributeChangedCallback(name: string, before: string | null, now: string | null): void {
    if (before === now || !this.isConnected || !this.#layout) return;
    this.#build();
    this.#refresh();
    tellShortcuts();
    if (!ASKED_ANEW.includes(name)) return;
    if (this.#view.isShown) void this.#search.now();
    else this.#search.stop(); // what nobody looks at is not asked anew
  }

  /** What is written, without spaces around it and without what cannot be seen. Setting it asks for nothing. */
  get query(): string {
    return tidied(this.#inside.input.value);
  }

  set query(text: string) {
    this.#search.stop();
    this.#inside.input.value = tidied(String(text ?? ""));
    this.#onWritten();
  }

  /** Own words over the attribute's: an object with any of the strings. */
  get strings(): Partial<Strings> | null {
    return this.#strings;
  }

  set strings(strings: Partial<Strings> | null) {
    this.#strings = strings;
    if (this.#layout) this.#refresh();
  }

  /** Brings the field, or opens its dialog, and asks at once where a query is given. */
  search(query?: string): void {
    if (!this.isConnected) return;
    if (query !== undefined) this.query = query;
    this.reach();
    if (this.query) this.#openOrAsk();
  }

  close(): void {
    this.#around?.dialog.close();
    this.#rest();
  }

  override focus(options?: FocusOptions): void {
    const dialog = this.#around?.dialog;
    (this.#around && !dialog?.open ? this.#around.trigger : this.#inside.input).focus(options);
  }

  takesShortcut(kind: Shortcut): boolean {
    const wanted = shortcutOf(this);
    return (wanted === "both" || wanted === kind) && typeof gatewayOf(this) !== "string";
  }

  tellShortcuts(kinds: readonly Shortcut[]): void {
    nameKeys(this.#inside, { around: this.#around, kinds });
  }

  reach(): boolean {
    const { input } = this.#inside;
    const before = this.#root.activeElement === input ? this.#cameFrom : focused();
    if (this.#around && !this.#around.dialog.open && !this.#around.trigger.disabled) this.#openDialog(this.#around);
    input.focus();
    if (this.#root.activeElement !== input) return false;
    this.#cameFrom = before;
    input.select();
    return true;
  }

  /** With what was last seen in it. */
  #openDialog({ dialog }: DialogSkeleton): void {
    dialog.showModal();
    this.#view.open(true);
  }

  #build(): void {
    const layout = layoutOf(this);
    if (layout === this.#layout) return;
    if (this.#layout) {
      const { query } = this;
      this.#search.stop();
      this.#inside = skeleton();
      this.#view = new View(this.#inside);
      this.query = query;
    }
    this.#layout = layout;
    this.#around = layout === "dialog" ? inDialog(this.#inside) : null;
    this.#root.replaceChildren(...(this.#around ? [this.#around.trigger, this.#around.dialog] : [this.#inside.box]));
    this.#listen();
  }

  #listen(): void {
    const { input, clear, retry, list, box } = this.#inside;
    const actions = {
      view: this.#view,
      open: () => this.#openOrAsk(),
      ask: () => this.#ask(),
      isAnswered: () => this.#search.isAnswered(),
      leave: () => this.#leave(),
    };
    input.addEventListener("keydown", (event) => onFieldKey(event, actions));
    input.addEventListener("input", (event) => this.#onInput(event as InputEvent));
    input.addEventListener("compositionstart", () => this.#compose(true));
    input.addEventListener("compositionend", () => this.#compose(false));
    input.addEventListener("click", () => this.#search.isAnswered() && this.#view.open(true));
    clear.addEventListener("click", () => this.#empty());
    retry.addEventListener("click", () => this.#ask({ anyway: true }));
    list.addEventListener("click", (event) => this.#onSelect(event));
    list.addEventListener("auxclick", (event) => event.button === 1 && this.#onSelect(event));
    keepFocus(this.#inside, (event) => onFieldKey(event, actions));
    box.addEventListener("focusout", (event) => this.#onFocusOut(event));
    this.#listenToDialog();
  }

  #listenToDialog(): void {
    if (!this.#around) return;
    const { trigger, dialog, close } = this.#around;
    trigger.addEventListener("click", () => this.reach());
    close.addEventListener("click", () => dialog.close());
    dialog.addEventListener("mousedown", (event) => this.#onBeside(event, dialog));
    dialog.addEventListener("close", () => this.#onDialogClosed());
  }

  /** Names, directions and whether there is anything to ask, from the attributes as they are now. */
  #refresh(): void {
    const isOff = typeof gatewayOf(this) === "string";
    if (isOff) setTimeout(() => this.#tell());
    nameEverything(this, { inside: this.#inside, around: this.#around, strings: this.#strings, isOff });
    this.#view.draw(this.#state, this.#manner());
    if (isOff) this.#view.offer(this.#root);
  }

  #manner() {
    return { words: wordsFor(this, this.#strings), target: targetOf(this) };
  }

  /** Once for each trouble, and only for one that lasts: attributes may come one by one. */
  #tell(): void {
    const trouble = gatewayOf(this);
    if (typeof trouble !== "string" || !this.isConnected || trouble === this.#trouble) return;
    this.#trouble = trouble;
    warnOnce(trouble);
    this.#emit("error", { reason: "misconfigured", status: 0 });
  }

  #show(state: State): void {
    this.#state = state;
    this.#view.show(state, this.#manner());
    if (state.kind === "found") this.#emit("results", { query: state.query, count: state.results.length });
    else if ("status" in state && !("isNews" in state && !state.isNews)) this.#emit("error", { reason: state.kind, status: state.status });
  }

  #onInput(event: InputEvent): void {
    this.#onWritten();
    if (event.isComposing || this.#isComposing) return;
    this.#view.hush();
    this.#view.list.activate(-1);
    this.#view.open(true);
    this.#search.soon();
  }

  #onWritten(): void {
    const { box, clear, input } = this.#inside;
    clear.hidden = input.value === "";
    set(box, { "data-written": input.value !== "" });
  }

  #compose(isComposing: boolean): void {
    this.#isComposing = isComposing;
    this.#onWritten();
    if (isComposing) return this.#search.hold();
    this.#view.open(true);
    this.#search.soon();
  }

  #ask(how: { anyway?: boolean } = {}): void {
    this.#inside.input.focus();
    this.#view.open(true);
    void this.#search.now(how);
  }

  #openOrAsk(): void {
    this.#view.open(true);
    if (!this.#search.isAnswered() && !this.#search.isPending) void this.#search.now();
  }

  #empty(): void {
    this.query = "";
    this.#inside.input.focus();
  }

  #leave(): boolean {
    const back = this.#cameFrom;
    if (this.#around) return false; // the dialog closes itself, and gives the focus back
    if (this.#view.isShown) {
      this.#search.pause();
      this.close();
    } else if (this.#inside.input.value) this.#empty();
    else if (back?.isConnected) back.focus();
    else return false;
    return true;
  }

  #onSelect(event: MouseEvent): void {
    const at = this.#view.list.resultAt(event);
    if (!at?.result.link) return;
    const { title, link } = at.result as Found & { link: URL };
    const newTab = opensElsewhere(event) || targetOf(this) === "_blank";
    const detail = { url: link.href, title, position: at.position, query: this.query, newTab };
    if (!this.#emit("select", detail, !newTab)) event.preventDefault();
    if (!newTab) this.close();
  }

  #onFocusOut({ relatedTarget }: FocusEvent): void {
    const next = relatedTarget as Node | null; // what the page put inside the element belongs to it
    if (this.#root.contains(next) || this.contains(next) || !this.#page.hasFocus() || this.#around) return;
    this.#cameFrom = null;
    this.#rest();
  }

  /** The visitor has turned to something else. */
  #rest(): void {
    this.#search.rest();
    this.#view.open(false);
  }

  /** The dialog's own box is all filled: what hits it alone hit the backdrop. */
  #onBeside(event: Event, dialog: HTMLDialogElement): void {
    if (event.target !== dialog) return;
    event.preventDefault(); // else the page takes the focus after the dialog has given it back
    dialog.close();
  }

  #onDialogClosed(): void {
    this.#search.pause();
    this.#view.open(false);
  }

  /** Not by the event's path: that does not show what is inside a closed tree, where this element may be. */
  readonly #onPointerDown = (event: Event): void => {
    if (!this.#around && event !== this.#pressed) this.#rest();
    this.#pressed = null;
  };

  /** Back on line it goes on; a page that is put aside asks nothing, and goes on when it is taken up again. */
  readonly #onPage = (event: Event): void => {
    if (event.type === "online" && this.#state.kind === "offline" && this.#view.isShown) void this.#search.now();
    if (event.type === "pagehide") this.#toResume = this.#search.pause();
    if (event.type === "pageshow" && this.#toResume) void this.#search.now();
    if (event.type === "pageshow") this.#toResume = false;
  };

  #emit(name: string, detail: object, cancelable = false): boolean {
    return this.dispatchEvent(new CustomEvent(`knowledge-search:${name}`, { detail, bubbles: true, composed: true, cancelable }));
  }
}

const PAGE_EVENTS = ["online", "pagehide", "pageshow"];

reflect(KnowledgeSearch.prototype);
