// Outcomes of providers, in words.
import type { AnswerStatus, OutcomeCode, OutcomeStatus, ProviderKind } from "../../api";
import type { Tone } from "../../kit";
import { AT_LIVE_SERVICES, AT_SERVERS, OUTCOMES } from "../../outcome_words";

export const TONES: Record<OutcomeStatus, Tone> = {
  success: "ok",
  empty: "neutral",
  failed: "bad",
  cancelled: "warn",
  skipped: "warn",
};

export const STATUSES: Record<AnswerStatus, { tone: Tone; means: string }> = {
  complete: { tone: "ok", means: "Every provider that was asked has answered." },
  partial: { tone: "warn", means: "Some of the providers gave no answer." },
  failed: { tone: "bad", means: "No provider gave an answer." },
};

const LIVE: ReadonlySet<ProviderKind> = new Set(["context7", "exa", "firecrawl", "mintlify", "deepwiki"]);

/** What the code means at a provider of this kind, and what to do; the code alone where this console does not know it. */
export function explained(code: OutcomeCode, kind: ProviderKind | null): string {
  const own = kind === null || kind === "contract" ? undefined : (LIVE.has(kind) ? AT_LIVE_SERVICES : AT_SERVERS)[code];
  return own ?? OUTCOMES[code] ?? code;
}
