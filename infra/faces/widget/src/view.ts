/** What is seen and heard of a state of the search. */

import { set } from "./dom";
import { ResultList } from "./list";
import { Announcer, filled } from "./sayings";
import type { State } from "./search";
import type { Skeleton } from "./skeleton";
import type { Words } from "./strings";

interface Manner {
  words: Words;
  target: string;
}

export class View {
  readonly list: ResultList;
  private readonly announcer: Announcer;
  private isOpen = false;

  constructor(private readonly inside: Skeleton) {
    this.list = new ResultList(inside.list, inside.input);
    this.announcer = new Announcer(inside.status);
  }

  /** Is there a popup to be seen? */
  get isShown(): boolean {
    return !this.inside.popup.hidden;
  }

  /** A new state: is seen, and heard while there is somebody to hear it. */
  show(state: State, manner: Manner): void {
    if (state.kind === "idle") this.open(false);
    this.draw(state, manner);
    if (this.isOpen) this.announce(state, manner.words);
  }

  /** The same state in other words perhaps: nothing is said twice, and the active result stays the active one. */
  draw(state: State, { words, target }: Manner): void {
    const { box, retry } = this.inside;
    set(box, { "data-busy": state.kind === "loading" });
    retry.hidden = !mayBeTriedAgain(state);
    this.offer(state.kind === "refused" && this.inside.message);
    if (state.kind === "found") this.list.fill(state.results, { words, target, query: state.query });
    else if (state.kind === "loading") this.list.busy();
    else this.list.clear();
    this.write(() => messageFor(state, { words, count: this.list.count }));
    this.open(this.isOpen);
  }

  open(isOpen: boolean): void {
    const { popup, message, input } = this.inside;
    this.isOpen = isOpen;
    if (!isOpen) this.hush();
    popup.hidden = !isOpen || (message.hidden && !this.list.count);
    set(input, { "aria-expanded": String(!popup.hidden && this.list.count > 0) });
    if (popup.hidden) this.list.activate(-1);
  }

  /** Shows what the page put inside the element, for when there is no search: a link to another one, say. */
  offer(where: Node | false): void {
    const { instead } = this.inside;
    instead.hidden = !where;
    if (where) where.appendChild(instead);
  }

  hush(): void {
    this.announcer.hush();
  }

  private write(message: () => Node[]): void {
    const nodes = message();
    this.inside.words.replaceChildren(...nodes);
    this.inside.message.hidden = !nodes.length;
  }

  private announce(state: State, words: Words): void {
    if (state.kind === "found" && state.results.length) this.announcer.say(new Text(words.results(state.results.length)));
    else if (state.kind !== "loading" || state.isSlow) this.announcer.say(...messageFor(state, { words, count: 0 }));
  }
}

function mayBeTriedAgain(state: State): boolean {
  return state.kind === "unavailable" || state.kind === "offline" || (state.kind === "limited" && !state.goesOn);
}

/** `count`: how many earlier results are still there; beside them only slowness is worth a word. */
function messageFor(state: State, { words, count }: { words: Words; count: number }): Node[] {
  switch (state.kind) {
    case "idle":
      return [];
    case "loading":
      return state.isSlow || !count ? filled(words.text(state.isSlow ? "slow" : "loading"), {}) : [];
    case "found":
      return count ? [] : filled(words.text("empty"), { query: state.query });
    case "limited":
      return filled(words.text(state.goesOn ? "limited" : "limitedStill"), { time: words.seconds(state.seconds) });
    default:
      return filled(words.text(state.kind), {});
  }
}
