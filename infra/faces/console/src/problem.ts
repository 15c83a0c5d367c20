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
    const itsOwn = this.code !== "idempotency_key_used" && this.code !== "unreadable_answer";
    return this.status >= 400 && this.status < 500 && itsOwn;
  }
}

export function isAbort(thrown: unknown): boolean {
  return thrown instanceof DOMException && thrown.name === "AbortError";
}

/** What is of another shape than it has to be. */
export function unreadable(facts: Partial<Pick<Facts, "status" | "requestId">> = {}): ApiProblem {
  return new ApiProblem({ status: 0, ...facts, code: "unreadable_answer", title: "The answer cannot be read" });
}

/** Whatever was thrown: what is no problem yet met an answer of another shape, and is noted for who looks into it. */
export function asProblem(thrown: unknown): ApiProblem {
  if (thrown instanceof ApiProblem) return thrown;
  reportError(thrown);
  return unreadable();
}

const KNOWN = new Set(["type", "title", "status", "code", "requestId", "detail", "errors"]);

/** What the gateway answered, with its body; an answer of something else in between is `unreadable_answer`. */
export function problemOf(response: Response, text: string): ApiProblem {
  const facts = {
    status: response.status,
    requestId: response.headers.get("X-Request-Id"),
    retryAfterS: seconds(response.headers.get("Retry-After")),
  };
  const body = parsed(text) as Record<keyof Problem | string, unknown> | null;
  if (!body || typeof body.code !== "string") return unreadable(facts);
  return new ApiProblem({
    ...facts,
    code: body.code,
    title: words(body.title) ?? "The request was refused",
    detail: words(body.detail),
    violations: Array.isArray(body.errors) ? body.errors.filter(isViolation) : [],
    requestId: words(body.requestId) ?? facts.requestId,
    more: Object.fromEntries(Object.entries(body).filter(([name]) => !KNOWN.has(name))),
  });
}

function seconds(header: string | null): number | null {
  const read = header === null ? NaN : Number(header);
  return Number.isFinite(read) ? read : null;
}

/** The JSON of a text; undefined where it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function words(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function isViolation(one: Partial<Violation> | null): one is Violation {
  return typeof one?.pointer === "string" && typeof one.detail === "string";
}
