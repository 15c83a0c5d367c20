/** The element, or the nearest one around it, that the selector names; out of shadow trees as well. */
export function nearest(element: Element, selector: string): Element | null {
  const found = element.closest(selector);
  const root = element.getRootNode();
  return found ?? (root instanceof ShadowRoot ? nearest(root.host, selector) : null);
}
