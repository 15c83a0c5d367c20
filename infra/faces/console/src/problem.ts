// Every way in which a call can fail, as one type.
import type { Problem } from "./api";

export interface Violation {
  pointer: string;
  detail: string;
}

interface Facts {
  status: number;
  /** The gateway's, or one of the console's own where the gateway said nothing: offline, no_answer, unreadable_answer. */
  code: string;
  title: string;
  detail?: string | undefined;
  violations?: Violation[];
  requestId?: string | null;
  retryAfterS?: number | null;
  more?: Record<string, unknown>;
}

export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly violations: Violation[];
  readonly requestId: string | null;
  readonly retryAfterS: number | null;
  /** What else the problem says: `outcome`, `explanation`, `acknowledge`, `bindings`, … */
  readonly more: Record<string, unknown>;

  constructor(facts: Facts) {
    super(facts.code);
    this.status = facts.status;
    this.code = facts.code;
    this.title = facts.title;
    this.detail = facts.detail ?? "";
    this.violations = facts.violations ?? [];
    this.requestId = facts.requestId ?? null;
    this.retryAfterS = facts.retryAfterS ?? null;
    this.more = facts.more ?? {};
  }

  /** Whether the gateway has said that this very request was not carried out. Otherwise a change may have been made. */
  get settled(): boolean {
    return this.status >= 400 && this.status < 500 && this.code !== "idempotency_key_used";
  }
}

export function isAbort(thrown: unknown): boolean {
  return thrown instanceof DOMException && thrown.name === "AbortError";
}

const KNOWN = new Set(["type", "title", "status", "code", "requestId", "detail", "errors"]);

/** Reads what the gateway answered; an answer of something else in between is `unreadable_answer`. */
export async function problemOf(response: Response): Promise<ApiProblem> {
  const facts = {
    status: response.status,
    requestId: response.headers.get("X-Request-Id"),
    retryAfterS: seconds(response.headers.get("Retry-After")),
  };
  const body = (await response.json().catch(() => null)) as (Partial<Problem> & Record<string, unknown>) | null;
  if (!body || typeof body.code !== "string") {
    return new ApiProblem({ ...facts, code: "unreadable_answer", title: "The answer cannot be read" });
  }
  return new ApiProblem({
    ...facts,
    code: body.code,
    title: body.title ?? "The request was refused",
    detail: body.detail,
    violations: body.errors ?? [],
    requestId: body.requestId ?? facts.requestId,
    more: Object.fromEntries(Object.entries(body).filter(([name]) => !KNOWN.has(name))),
  });
}

function seconds(header: string | null): number | null {
  const read = header === null ? NaN : Number(header);
  return Number.isFinite(read) ? read : null;
}
