// What was asked in this session. It is in memory alone, and goes when the session ends.
import type { AnswerStatus } from "../../api";
import { beforeEnd } from "../../session";
import { store } from "../../store";
import type { Answers, Question } from "./asking";

export interface Asked {
  id: number;
  at: string;
  question: Question;
  status: AnswerStatus | null;
  agents: number | null;
  customers: number | null;
}

const MOST = 25;
let count = 0;

/** The newest first. */
export const asked = store<Asked[]>([]);

export function keep({ question, agent, customer }: Answers): void {
  const one: Asked = {
    id: ++count,
    at: new Date().toISOString(),
    question,
    status: agent.answer?.status ?? null,
    agents: agent.answer?.results.length ?? null,
    customers: customer.answer?.results.length ?? null,
  };
  asked.set([one, ...asked.get()].slice(0, MOST));
}

beforeEnd(() => asked.set([]));
