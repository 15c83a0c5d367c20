// Which of an agent's passages and cards a customer is shown as well, and why not the others.
import type {
  AgentAnswerOut,
  AgentResultOut,
  CardOut,
  CustomerAnswerOut,
  CustomerCardOut,
  CustomerResultOut,
} from "../../api";

export interface Pair<A, C> {
  agent: A | null;
  customer: C | null;
  /** Where the customer's one stands in the customer's answer, from 1. */
  rank: number | null;
}

export type PassagePair = Pair<AgentResultOut, CustomerResultOut>;
export type CardPair = Pair<CardOut, CustomerCardOut>;

/** In the agent's order; what customers alone were shown comes last. Each of theirs is paired once. */
function paired<A, C>(agents: A[], customers: C[], markA: (one: A) => string, markC: (one: C) => string): Pair<A, C>[] {
  const left = customers.map((one, at) => ({ one, rank: at + 1, mark: markC(one) }));
  const pairs = agents.map((agent) => {
    const at = left.findIndex(({ mark }) => mark === markA(agent));
    const [found] = at < 0 ? [] : left.splice(at, 1);
    return { agent, customer: found?.one ?? null, rank: found?.rank ?? null };
  });
  return [...pairs, ...left.map(({ one, rank }) => ({ agent: null, customer: one, rank }))];
}

const markOf = (one: AgentResultOut | CustomerResultOut) => JSON.stringify([one.title, one.snippet, one.url]);
const cardMark = (one: CardOut | CustomerCardOut) => JSON.stringify([one.title, one.body, one.keys]);

export function passagePairs(agent: AgentAnswerOut | null, customer: CustomerAnswerOut | null): PassagePair[] {
  return paired(agent?.results ?? [], customer?.results ?? [], markOf, markOf);
}

export function cardPairs(agents: CardOut[], customers: CustomerCardOut[]): CardPair[] {
  return paired(agents, customers, cardMark, cardMark);
}

/** Ids begin with the exposure: `cs_` and `csc_` reach customers, `ao_` and `aoc_` agents alone. */
export function isAgentOnly(id: string): boolean {
  return id.startsWith("ao");
}

/** Why a customer is not shown this one. */
export function whyHidden(providerId: string, exists: boolean): string {
  if (isAgentOnly(providerId)) return "Its source is agent_only: no customer is ever shown it.";
  if (!exists) return "Customers got no answer to compare with.";
  return "Its source is customer_safe, but it is not in the customer's answer: it did not fit in, or came too late there.";
}
