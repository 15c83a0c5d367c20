/** When to ask, and which answer counts: one question at a time, the newest, and never more often than it was allowed. */

import type { Found } from "./answers";
import { ask, type Question, type Reply } from "./ask";
import type { Gateway } from "./settings";

export type State =
  | { kind: "idle" }
  | { kind: "loading"; isSlow: boolean }
  | { kind: "found"; query: string; results: Found[] }
  | { kind: "limited"; seconds: number; status: number; goesOn: boolean; isNews: boolean }
  | { kind: "offline" | "unavailable" | "refused"; status: number };

export interface Circumstances {
  gateway(): Gateway | string;
  question(): Question;
  minLength(): number;
  show(state: State): void;
}

const DEBOUNCE_MS = 220;
const LOADING_AFTER_MS = 250;
const SLOW_AFTER_MS = 2_500;
const GIVE_UP_AFTER_MS = 15_000; // the gateway answers within 8 s
const WIDE = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}]/gu; // one of these can be a word

export class Search {
  private timers: ReturnType<typeof setTimeout>[] = [];
  private asking: AbortController | null = null;
  private asked = "";
  private barred = { until: 0, by: "" }; // on the clock that nobody sets
  private answered = "";
  private isWaiting = false;

  constructor(private readonly around: Circumstances) {}

  /** The visitor is still typing. */
  soon(): void {
    if (!this.asking && this.isAnswered()) return this.clearTimers();
    if (this.isTooShort()) return this.stop();
    if (this.isUnderWay()) return;
    this.halt();
    this.later(() => void this.now(), DEBOUNCE_MS);
  }

  /**
   * The visitor wants it now. `again`: the gateway's own time to come back has come. `anyway`: the visitor says so,
   * whatever the browser believes of its connection. A question that is under way is not sent twice.
   */
  async now({ again = false, anyway = false } = {}): Promise<void> {
    if (this.isUnderWay()) return;
    this.halt();
    const gateway = this.around.gateway();
    if (typeof gateway === "string" || this.isTooShort()) return this.stop();
    const barredMs = this.barred.by === nameOf(gateway) ? this.barred.until - performance.now() : 0;
    if (barredMs > 0) return this.wait(barredMs, false);
    if (!navigator.onLine && !anyway) return this.end({ kind: "offline", status: 0 });
    await this.ask(gateway, again);
  }

  /** Is this question the one whose answer is shown? */
  isAnswered(): boolean {
    return this.answered !== "" && this.answered === JSON.stringify(this.around.question());
  }

  /** Is a question under way, or waiting for its time? */
  get isPending(): boolean {
    return this.asking !== null || this.isWaiting;
  }

  /** Nothing is begun while an input method composes; what is under way may come. */
  hold(): void {
    if (!this.asking) this.clearTimers();
  }

  /** Drops whatever is under way or about to be, and keeps what was shown. Was there anything? */
  pause(): boolean {
    const { isPending } = this;
    const isBusy = this.timers.length > 0;
    this.clearTimers();
    if (isPending) this.stop();
    return isBusy;
  }

  /** The visitor has turned to something else: what was sent may come, but nothing is asked by itself any more. */
  rest(): void {
    if (this.isWaiting) this.stop();
  }

  /** Drops whatever is under way, and what was shown. */
  stop(): void {
    this.halt();
    this.end({ kind: "idle" });
  }

  private async ask(gateway: Gateway, again: boolean): Promise<void> {
    const question = this.around.question();
    const asking = new AbortController();
    this.asking = asking;
    this.asked = this.about();
    this.later(() => this.around.show({ kind: "loading", isSlow: false }), LOADING_AFTER_MS);
    this.later(() => this.around.show({ kind: "loading", isSlow: true }), SLOW_AFTER_MS);
    this.later(() => asking.abort(), GIVE_UP_AFTER_MS);
    const reply = await ask(gateway, question, asking.signal);
    if (this.asking !== asking) return; // a newer question, or nobody's any more
    this.halt();
    this.conclude(question, reply, { again, by: nameOf(gateway) });
  }

  private conclude(question: Question, reply: Reply, { again, by }: { again: boolean; by: string }): void {
    if (reply.kind === "found") {
      this.end({ ...reply, query: question.query });
      this.answered = JSON.stringify(question);
    } else if (reply.kind === "limited") {
      this.barred = { until: performance.now() + reply.seconds * 1000, by };
      if (again) this.end({ ...reply, goesOn: false, isNews: true });
      else this.wait(reply.seconds * 1000, true);
    } else {
      this.end(reply);
    }
  }

  /** Asks by itself, once, when the gateway's time has come. */
  private wait(ms: number, isNews: boolean): void {
    this.end({ kind: "limited", seconds: Math.ceil(ms / 1000), status: 429, goesOn: true, isNews });
    this.isWaiting = true;
    this.later(() => void this.now({ again: true }), ms);
  }

  private end(state: State): void {
    this.answered = "";
    this.around.show(state);
  }

  private halt(): void {
    this.clearTimers();
    const asking = this.asking;
    this.asking = null; // first, so that its end is nobody's
    asking?.abort();
    this.isWaiting = false;
  }

  private clearTimers(): void {
    this.timers.forEach(clearTimeout);
    this.timers = [];
  }

  private isUnderWay(): boolean {
    return this.asking !== null && this.asked === this.about();
  }

  private about(): string {
    return nameOf(this.around.gateway()) + JSON.stringify(this.around.question());
  }

  private isTooShort(): boolean {
    const { query } = this.around.question();
    return query === "" || query.length + (query.match(WIDE)?.length ?? 0) < this.around.minLength();
  }

  private later(act: () => void, ms: number): void {
    this.timers.push(setTimeout(act, ms));
  }
}

function nameOf(gateway: Gateway | string): string {
  return JSON.stringify(gateway);
}
