/** Makes elements without any markup text, so that pages with Trusted Types and without inline styles can have them. */

type Child = Node | string;
type Attributes = Record<string, string | number | boolean>;

const SVG = "http://www.w3.org/2000/svg";

export function make<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  set(element, attributes);
  element.append(...children);
  return element;
}

/** `true` sets an empty attribute, `false` takes it away. */
export function set(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

/** A line drawing of 24 by 24 in the colour of the text, hidden from assistive technology. */
export function icon(path: string): SVGSVGElement {
  const drawing = document.createElementNS(SVG, "svg");
  set(drawing, { viewBox: "0 0 24 24", "aria-hidden": "true", class: "icon" });
  const line = document.createElementNS(SVG, "path");
  set(line, { d: path });
  drawing.append(line);
  return drawing;
}

export const MAGNIFIER = "M11 4a7 7 0 1 1 0 14a7 7 0 0 1 0-14zM16 16l4.5 4.5";
export const CROSS = "M6 6l12 12M18 6L6 18";
