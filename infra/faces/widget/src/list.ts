/** The listbox: one option for each result, and which of them is the active one. */

import type { Found } from "./answers";
import { make, set } from "./dom";
import { highlighted, patternOf } from "./highlight";
import type { Words } from "./strings";

export interface Manner {
  words: Words;
  query: string;
  target: string;
}

export class ResultList {
  private results: Found[] = [];
  private options: HTMLElement[] = [];
  private active = -1;

  constructor(
    private readonly list: HTMLElement,
    private readonly input: HTMLInputElement,
  ) {}

  get count(): number {
    return this.options.length;
  }

  get activeOption(): HTMLElement | undefined {
    return this.options[this.active];
  }

  fill(results: Found[], manner: Manner): void {
    const pattern = patternOf(manner.query, manner.words.language);
    const active = results === this.results ? this.active : -1;
    this.results = results;
    this.options = results.map((result, index) => optionOf(result, { index, pattern, manner }));
    this.list.replaceChildren(...this.options);
    this.list.hidden = !results.length;
    this.list.removeAttribute("aria-busy");
    this.activate(active);
  }

  clear(): void {
    this.results = [];
    this.options = [];
    this.list.replaceChildren();
    this.list.hidden = true;
    this.activate(-1);
  }

  busy(): void {
    if (this.count) this.list.setAttribute("aria-busy", "true");
  }

  /** -1 for none: then the field alone has the focus. */
  activate(index: number): void {
    this.activeOption?.setAttribute("aria-selected", "false");
    this.active = index;
    const option = this.activeOption;
    set(this.input, { "aria-activedescendant": option?.id ?? false });
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
  }

  /** One on or back; beyond either end is the field, and then the other end. */
  step(by: 1 | -1): void {
    const places = this.count + 1;
    this.activate(((this.active + 1 + by + places) % places) - 1);
  }

  last(): void {
    this.activate(this.count - 1);
  }

  /** The result of the option that an event came from. */
  resultAt(event: Event): { result: Found; position: number } | null {
    const option = (event.target as Element).closest<HTMLElement>("[role=option]");
    const index = option ? this.options.indexOf(option) : -1;
    const result = this.results[index];
    return result ? { result, position: index + 1 } : null;
  }
}

function optionOf(
  { title, snippet, link, locale }: Found,
  { index, pattern, manner }: { index: number; pattern: RegExp | null; manner: Manner },
): HTMLElement {
  const { words, target } = manner;
  const text = { dir: "auto", lang: locale || false } as const;
  const shown = highlighted(title || (link?.hostname ?? ""), pattern);
  const inside = [
    make("span", { ...text, part: "title", class: "title" }, ...shown),
    make("span", { ...text, part: "snippet", class: "snippet" }, ...highlighted(snippet, pattern)),
    metaOf({ link, locale, words, opensTab: target === "_blank" }),
  ];
  const option = link
    ? make("a", { href: link.href, target, rel: "noopener noreferrer", tabindex: -1 }, ...inside)
    : make("div", {}, ...inside);
  set(option, {
    id: `result-${index}`, part: "option", role: "option", dir: directionIn(title), "aria-selected": "false",
  });
  return option;
}

/** Of the first letter, as browsers do for one text: here all of a result goes the way of its title. */
function directionIn(text: string): "rtl" | "ltr" | false {
  const letter = /\p{L}/u.exec(text)?.[0];
  return letter ? (/[\u0590-\u08ff\ufb1d-\ufefc]|[\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u.test(letter) ? "rtl" : "ltr") : false;
}

function metaOf({ link, locale, words, opensTab }: {
  link: URL | null; locale: string; words: Words; opensTab: boolean;
}): HTMLElement {
  const meta = make("span", { part: "meta", class: "meta" });
  meta.append(link ? make("bdi", { part: "host", dir: "ltr" }, link.host) : make("span", { part: "no-link" }, words.text("noLink")));
  const language = words.otherLanguage(locale);
  if (language) meta.append(" ", make("bdi", { part: "language" }, language));
  if (link && opensTab) meta.append(" ", make("span", { class: "sr" }, words.text("newTab")));
  return meta;
}
