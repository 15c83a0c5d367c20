// How the console talks to the gateway that serves it: one function, and short forms of it.
import { ApiProblem, problemOf } from "./problem";
import { bearer, end, sessionSignal } from "./session";

// The page is `<base>/console`, so its directory is where the API starts, whatever base path a custom domain adds.
const ROOT = new URL(".", location.href.split("#")[0]);
const PATIENCE_MS = 40_000;

export interface Answer<T> {
  data: T;
  /** Goes back as `ifMatch` with the change that is based on this answer. */
  etag: string | null;
  status: number;
  headers: Headers;
}

export interface Ask {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  query?: Record<string, string | number | null | undefined> | undefined;
  body?: unknown;
  /** Sent as it is instead of `body`, under `mediaType`. */
  raw?: string;
  mediaType?: string;
  ifMatch?: string | null | undefined;
  idempotencyKey?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Another credential than the one signed in with. Its 401 does not sign out. */
  token?: string;
  /** Sent to its end also when the page is closed meanwhile. */
  keepalive?: boolean;
  /** `text` for an export; JSON unless told. */
  as?: "json" | "text";
}

/**
 * Calls `api/v1/<path>`. Throws an ApiProblem for everything but success, and an AbortError when the view was left.
 * A 401 ends the session.
 */
export async function call<T>(path: string, ask: Ask = {}): Promise<Answer<T>> {
  const response = await sent(path, ask);
  if (response.ok) {
    const { headers, status } = response;
    return { data: await read<T>(response, ask), etag: headers.get("ETag"), status, headers };
  }
  const problem = await problemOf(response);
  if (problem.status === 401 && ask.token === undefined) end("refused");
  throw problem;
}

export const get = <T>(path: string, ask: Ask = {}) => call<T>(path, ask);
export const post = <T>(path: string, body: unknown, ask: Ask = {}) => call<T>(path, { ...ask, method: "POST", body });
export const put = <T>(path: string, body: unknown, ask: Ask = {}) => call<T>(path, { ...ask, method: "PUT", body });
export const patch = <T>(path: string, body: unknown, ask: Ask = {}) =>
  call<T>(path, { ...ask, method: "PATCH", body });
export const remove = (path: string, ask: Ask = {}) => call<null>(path, { ...ask, method: "DELETE" });

/** `path` from segments, each escaped: `pathOf("knowledge/providers", id, "test")`. */
export function pathOf(first: string, ...segments: string[]): string {
  return [first, ...segments.map(encodeURIComponent)].join("/");
}

async function sent(path: string, ask: Ask): Promise<Response> {
  const patience = AbortSignal.timeout(PATIENCE_MS);
  const signals = [
    patience,
    ...(ask.token === undefined ? [sessionSignal()] : []),
    ...(ask.signal ? [ask.signal] : []),
  ];
  try {
    return await fetch(urlOf(path, ask.query), {
      method: ask.method ?? "GET",
      headers: headersOf(ask),
      body: ask.raw ?? (ask.body === undefined ? null : JSON.stringify(ask.body)),
      signal: AbortSignal.any(signals),
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      keepalive: ask.keepalive ?? false,
      referrerPolicy: "no-referrer",
    });
  } catch (thrown) {
    if (patience.aborted) throw new ApiProblem({ status: 0, code: "no_answer", title: "No answer" });
    if (signals.some((signal) => signal.aborted)) throw new DOMException("left", "AbortError");
    throw new ApiProblem({ status: 0, code: "offline", title: "The gateway cannot be reached" });
  }
}

function urlOf(path: string, query: Ask["query"]): URL {
  const url = new URL(`api/v1/${path}`, ROOT);
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== null && value !== undefined && value !== "") url.searchParams.set(name, String(value));
  }
  return url;
}

function headersOf(ask: Ask): Record<string, string> {
  const headers: Record<string, string> = { Accept: "application/json, application/problem+json" };
  const token = ask.token ?? bearer();
  if (token) headers.Authorization = `Bearer ${token}`;
  if (ask.body !== undefined || ask.raw !== undefined) headers["Content-Type"] = ask.mediaType ?? "application/json";
  if (ask.ifMatch) headers["If-Match"] = ask.ifMatch;
  if (ask.idempotencyKey) headers["Idempotency-Key"] = ask.idempotencyKey;
  return headers;
}

async function read<T>(response: Response, ask: Ask): Promise<T> {
  const text = await response.text();
  if (ask.as === "text") return text as T;
  if (text === "") return null as T;
  try {
    return JSON.parse(text) as T;
  } catch {
    const requestId = response.headers.get("X-Request-Id");
    throw new ApiProblem({
      status: response.status,
      code: "unreadable_answer",
      title: "The answer cannot be read",
      requestId,
    });
  }
}
