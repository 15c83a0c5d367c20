/** Texts with something of the visitor's in them, and when they are read out. */

import { make } from "./dom";

const CALM_MS = 700;

/** The text as nodes: what stands for `{name}` keeps its own direction of writing, and is never more than text. */
export function filled(text: string, values: Record<string, string>): Node[] {
  return text
    .split(/\{(\w+)\}/)
    .map((piece, index) => (index % 2 ? make("bdi", {}, values[piece] ?? `{${piece}}`) : new Text(piece)))
    .filter((node) => node.textContent);
}

/** The polite live region. It waits until the visitor has come to rest, and says the last thing only. */
export class Announcer {
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly region: HTMLElement) {}

  say(...nodes: Node[]): void {
    this.hush();
    this.timer = setTimeout(() => this.region.replaceChildren(...nodes), CALM_MS);
  }

  hush(): void {
    clearTimeout(this.timer);
    this.region.replaceChildren();
  }
}
