// Where the focus goes when what had it is gone: to what stands in its place, and never to the start of the page.
const CONTROLS = ":is(button, a[href], input, select, textarea, summary):not(:disabled)";

interface Step {
  inside: Element;
  /** Which of the controls in there it was. */
  at: number;
}

/** Where an element stands, from the inside out, up to its view or its dialog. */
export function placeOf(element: Element | null): Step[] {
  const steps: Step[] = [];
  for (
    let inside = element?.parentElement;
    inside && !inside.matches("main, dialog, body");
    inside = inside.parentElement
  )
    steps.push({ inside, at: [...inside.querySelectorAll(CONTROLS)].indexOf(element as Element) });
  return steps;
}

/** To the control that is there now, in the innermost that is left; else to the heading of the view. */
export function focusIn(place: Step[]): void {
  for (const { inside, at } of place) {
    const there = inside.isConnected ? [...inside.querySelectorAll<HTMLElement>(CONTROLS)] : [];
    const next = there[Math.min(Math.max(at, 0), there.length - 1)];
    if (next) return next.focus();
  }
  document.querySelector<HTMLElement>("dialog[open] h2, main h1")?.focus();
}

/** To be called when an element is about to go. Waits for what comes instead; nothing happens where it has no focus. */
export function passOn(element: Element | null): void {
  if (element === null || document.activeElement !== element) return;
  const place = placeOf(element);
  queueMicrotask(() => {
    const nobody = document.activeElement === null || document.activeElement === document.body;
    if (nobody) focusIn(place);
  });
}
