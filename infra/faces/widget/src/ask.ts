/** One question to the gateway. Every end of it has a name; none is thrown. */

import { resultsIn, type Found } from "./answers";
import type { Gateway } from "./settings";
import { warnOnce } from "./warnings";

export interface Question {
  query: string;
  limit: number;
  locale: string;
}

export type Reply =
  | { kind: "found"; results: Found[] }
  | { kind: "offline" | "unavailable" | "refused"; status: number }
  | { kind: "limited"; seconds: number; status: number };

const REFUSALS = [401, 403, 404, 405];
const UNREADABLE =
  "no answer could be read. If that lasts: is this page's origin among the credential's origins, and api in the page's connect-src";
const LONGEST_WAIT_S = 120;
const USUAL_WAIT_S = 30;

/** Rejects with nothing: after `signal` has fired, what it returns is nobody's business any more. */
export async function ask(gateway: Gateway, question: Question, signal: AbortSignal): Promise<Reply> {
  try {
    const response = await send(gateway, question, signal);
    if (response.ok) {
      const results = resultsIn(await response.json(), question.limit);
      return results ? { kind: "found", results } : { kind: "unavailable", status: response.status };
    }
    return failure(response);
  } catch {
    // No connection, no permission to read, no JSON: a browser does not tell them apart.
    if (navigator.onLine && !signal.aborted) warnOnce(UNREADABLE);
    return { kind: navigator.onLine ? "unavailable" : "offline", status: 0 };
  }
}

function send(gateway: Gateway, { query, limit, locale }: Question, signal: AbortSignal): Promise<Response> {
  return fetch(gateway.endpoint, {
    method: "POST",
    mode: "cors",
    credentials: "omit",
    cache: "no-store",
    redirect: "error",
    referrerPolicy: "no-referrer",
    headers: { Authorization: `Bearer ${gateway.key}`, "Content-Type": "application/json" },
    body: JSON.stringify(locale ? { query, limit, locale } : { query, limit }),
    signal,
  });
}

function failure({ status, headers }: Response): Reply {
  if (status === 429) return { kind: "limited", seconds: secondsOf(headers.get("Retry-After")), status };
  if (status >= 400 && status < 500) {
    warnOnce(`the gateway answered ${status}: compare this page's origin (${location.origin}), api and key with the credential`);
  }
  return { kind: REFUSALS.includes(status) ? "refused" : "unavailable", status };
}

/** `Retry-After` as seconds or as a date, kept between one second and two minutes. */
function secondsOf(retryAfter: string | null): number {
  const text = retryAfter?.trim() ?? "";
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? USUAL_WAIT_S : Math.min(LONGEST_WAIT_S, Math.max(1, Math.ceil(seconds)));
}
