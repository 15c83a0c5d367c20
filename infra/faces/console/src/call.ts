// How the console talks to the gateway that serves it: one function, and short forms of it.
import { ApiProblem, parsed, problemOf, unreadable } from "./problem";
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
  /** `text` for an export, `nothing` where nobody reads what is said; JSON unless told. */
  as?: "json" | "text" | "nothing";
}

/**
 * Calls `api/v1/<path>`. Throws an ApiProblem for everything but success, and an AbortError when the view was left.
 * A 401 ends the session.
 */
export async function call<T>(path: string, ask: Ask = {}): Promise<Answer<T>> {
  const { response, text } = await exchanged(path, ask);
  if (response.ok) {
    const { headers, status } = response;
    return { data: read<T>(response, text, ask), etag: headers.get("ETag"), status, headers };
  }
  const problem = problemOf(response, text);
  if (problem.status === 401 && ask.token === undefined) end("refused");
  throw problem;
}

export const get = <T>(path: string, ask: Ask = {}) => call<T>(path, ask);
export const post = <T>(path: string, body: unknown, ask: Ask = {}) => call<T>(path, { ...ask, method: "POST", body });
export const put = <T>(path: string, body: unknown, ask: Ask = {}) => call<T>(path, { ...ask, method: "PUT", body });
export const patch = <T>(path: string, body: unknown, ask: Ask = {}) =>
  call<T>(path, { ...ask, method: "PATCH", body });
export const remove = (path: string, ask: Ask = {}) => call<null>(path, { ...ask, method: "DELETE", as: "nothing" });

/**
 * `path` from segments, each escaped: `pathOf("knowledge/providers", id, "test")`. Throws an ApiProblem for a segment that
 * names nothing: `.` and `..` are never escaped, and would lead to another path.
 */
export function pathOf(first: string, ...segments: string[]): string {
  if (segments.some((one) => ["", ".", ".."].includes(one)))
    throw new ApiProblem({ status: 404, code: "not_found", title: "Nothing has this address" });
  return [first, ...segments.map(encodeURIComponent)].join("/");
}

// The body may break off or stall as well as the line, so both are waited for here.
async function exchanged(path: string, ask: Ask): Promise<{ response: Response; text: string }> {
  const patience = AbortSignal.timeout(PATIENCE_MS);
  const signals = [
    patience,
    ...(ask.token === undefined ? [sessionSignal()] : []),
    ...(ask.signal ? [ask.signal] : []),
  ];
  let response: Response | null = null;
  try {
    response = await sent(path, ask, AbortSignal.any(signals));
    return { response, text: await response.text() };
  } catch {
    if (patience.aborted) throw new ApiProblem({ status: 0, code: "no_answer", title: "No answer" });
    if (signals.some((signal) => signal.aborted)) throw new DOMException("left", "AbortError");
    // Not the status of what was begun: what it says is not known to have been said.
    if (response) throw unreadable({ requestId: response.headers.get("X-Request-Id") });
    throw new ApiProblem({ status: 0, code: "offline", title: "The gateway cannot be reached" });
  }
}

async function sent(path: string, ask: Ask, signal: AbortSignal): Promise<Response> {
  return await fetch(urlOf(path, ask.query), {
    method: ask.method ?? "GET",
    headers: headersOf(ask),
    body: ask.raw ?? (ask.body === undefined ? null : JSON.stringify(ask.body)),
    signal,
    cache: "no-store",
    credentials: "omit",
    redirect: "error",
    keepalive: ask.keepalive ?? false,
    referrerPolicy: "no-referrer",
  });
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

// Every answer of the API that is read is an object with members.
function read<T>(response: Response, text: string, ask: Ask): T {
  if (ask.as === "text") return text as T;
  if (ask.as === "nothing") return null as T;
  const found = parsed(text);
  const members = typeof found === "object" && found !== null && !Array.isArray(found) ? Object.keys(found).length : 0;
  if (members > 0) return found as T;
  throw unreadable({ status: response.status, requestId: response.headers.get("X-Request-Id") });
}
