/** Properties that are their attributes: `element.minLength = 3` is `min-length="3"`, and null takes it away. */

import { set } from "./dom";

const REFLECTED = new Map(
  ["api", "key", "locale", "limit", "placeholder", "label", "theme", "layout", "shortcut", "target", "min-length"].map(
    (name) => [name.replace(/-(\w)/, (_, letter: string) => letter.toUpperCase()), name],
  ),
);

export function reflect(prototype: Element): void {
  for (const [property, attribute] of REFLECTED) {
    Object.defineProperty(prototype, property, {
      configurable: true,
      enumerable: true,
      get(this: Element) {
        return this.getAttribute(attribute);
      },
      set(this: Element, value: unknown) {
        set(this, { [attribute]: value === null || value === undefined ? false : String(value) });
      },
    });
  }
}

/** What was set on the element before its script came lies over the properties: it is set again, through them. */
export function takeEarly(element: Element): void {
  const own = element as unknown as Record<string, unknown>;
  for (const name of ["query", "strings", ...REFLECTED.keys()]) {
    if (!Object.hasOwn(own, name)) continue;
    const value = own[name];
    delete own[name];
    own[name] = value;
  }
}
