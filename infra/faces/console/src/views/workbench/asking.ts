// One question, asked twice: as an agent and as a customer.
import type { AgentAnswerOut, CustomerAnswerOut } from "../../api";
import { post } from "../../call";
import { bodyOf, draftOf, type Draft, type Spec } from "../../kit";
import { ApiProblem } from "../../problem";
import { drop, tokenOf, type Side } from "./short_lived";

export interface Question {
  draft: Draft;
  /** Ids; none means all. */
  providers: string[];
  collections: string[];
}

/** One side's answer, or why there is none; `tookMs` is from this browser. */
export type Told<T> =
  { answer: T; problem: null; tookMs: number; fromMemory: boolean } | { answer: null; problem: ApiProblem };

export interface Answers {
  question: Question;
  deadlineMs: number;
  agent: Told<AgentAnswerOut>;
  customer: Told<CustomerAnswerOut>;
}

const FRESHNESS = [
  { value: "normal", label: "normal: what is there" },
  { value: "fresh", label: "fresh: fetched anew" },
  { value: "force", label: "force: nothing kept" },
];
export const DEADLINE_MS = 12_000;

export const QUERY: Spec = { at: "query", label: "Question", as: "area" };
export const COMMON: Spec[] = [
  { at: "limit", label: "Passages", as: "integer", optional: true, first: "10" },
  {
    at: "deadlineMs",
    label: "Deadline, ms",
    as: "integer",
    optional: true,
    first: String(DEADLINE_MS),
  },
  { at: "locale", label: "Locale", as: "text", optional: true },
  { at: "localeFallback", label: "Fallback locale", as: "text", optional: true },
];
export const AGENT_ONLY: Spec[] = [
  { at: "freshness", label: "Freshness", as: "select", options: FRESHNESS },
  { at: "product", label: "Product", as: "text", optional: true },
  { at: "repository", label: "Repository", as: "text", optional: true },
  { at: "version", label: "Version", as: "text", optional: true },
];

export function blankQuestion(): Question {
  return { draft: draftOf([QUERY, ...COMMON, ...AGENT_ONLY]), providers: [], collections: [] };
}

export function agentBody(question: Question): Record<string, unknown> {
  const { providers } = question;
  return {
    ...customerBody(question),
    ...bodyOf(AGENT_ONLY, question.draft),
    ...(providers.length > 0 && { providers }),
  };
}

/** A customer's question has no more than these; the gateway refuses every other field. */
export function customerBody({ draft, collections }: Question): Record<string, unknown> {
  return { ...bodyOf([QUERY, ...COMMON], draft), ...(collections.length > 0 && { collections }) };
}

/** What is asked for as an agent, and cannot be said by a customer. */
export function unsaid(question: Question): string[] {
  const customers = customerBody(question);
  return Object.entries(agentBody(question))
    .filter(([name, value]) => !(name in customers) && value !== "normal")
    .map(([name]) => name);
}

export async function askBoth(question: Question, signal: AbortSignal): Promise<Answers> {
  const body = agentBody(question);
  const [agent, customer] = await Promise.all([
    told<AgentAnswerOut>("agt", body, signal),
    told<CustomerAnswerOut>("ast", customerBody(question), signal),
  ]);
  return { question, deadlineMs: Number(body.deadlineMs ?? DEADLINE_MS), agent, customer };
}

async function told<T>(side: Side, body: object, signal: AbortSignal): Promise<Told<T>> {
  const started = performance.now();
  try {
    const { data, headers } = await ask<T>(side, "knowledge/search", body, signal);
    const tookMs = Math.round(performance.now() - started);
    return { answer: data, problem: null, tookMs, fromMemory: headers.has("X-Knowledge-Degraded") };
  } catch (thrown) {
    if (thrown instanceof ApiProblem) return { answer: null, problem: thrown };
    throw thrown;
  }
}

/** Asks as one of the two; once more with a new credential where somebody has deleted the one at hand. */
export async function ask<T>(side: Side, path: string, body: object, signal: AbortSignal) {
  try {
    return await post<T>(path, body, { token: await tokenOf(side), signal });
  } catch (thrown) {
    if (!(thrown instanceof ApiProblem) || thrown.status !== 401) throw thrown;
    drop(side);
    return await post<T>(path, body, { token: await tokenOf(side), signal });
  }
}
