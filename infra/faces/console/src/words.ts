// The gateway's words for states, kinds and happenings, in words for people and with the tone that they are shown in.
import type {
  Happening,
  HealthState,
  Look,
  OutcomeCode,
  Overall,
  Part,
  ProviderKind,
  ProviderStatus,
  Warning,
} from "./api";
import type { Tone } from "./kit/badge";

interface Word {
  word: string;
  tone: Tone;
}

export const STATES: Record<HealthState, Word> = {
  auto_disabled: { word: "Out of use", tone: "bad" },
  refused: { word: "Refused", tone: "bad" },
  broken: { word: "Broken", tone: "bad" },
  down: { word: "Down", tone: "bad" },
  limited: { word: "Limited", tone: "warn" },
  failing: { word: "Failing", tone: "warn" },
  not_configured: { word: "Not configured", tone: "warn" },
  unchecked: { word: "Unchecked", tone: "neutral" },
  healthy: { word: "Healthy", tone: "ok" },
  disabled: { word: "Switched off", tone: "neutral" },
};

export const OVERALL: Record<Overall, Word> = {
  healthy: { word: "Healthy", tone: "ok" },
  degraded: { word: "Degraded", tone: "warn" },
  down: { word: "Down", tone: "bad" },
};

export const STATUSES: Record<ProviderStatus, Word> = {
  active: { word: "Active", tone: "ok" },
  disabled: { word: "Disabled", tone: "neutral" },
  auto_disabled: { word: "Out of use", tone: "bad" },
};

export const KINDS: Record<ProviderKind, string> = {
  contract: "Contract",
  context7: "Context7",
  exa: "Exa",
  firecrawl: "Firecrawl",
  mintlify: "Mintlify",
  deepwiki: "DeepWiki",
  dify: "Dify",
  fastgpt: "FastGPT",
  ragflow: "RAGFlow",
  dify_external: "Dify external API",
};

export const LOOKS: Record<Look, string> = {
  capabilities: "its capabilities",
  knowledge_base: "its knowledge base",
  tools: "its list of tools",
  nothing: "nothing: that would cost a search",
};

export const PARTS: Record<Part, string> = {
  agent_circuits: "circuits of agents' searches",
  customer_circuits: "circuits of customers' searches",
  looks: "what the probe found",
  keys: "keys of the pools",
  rests: "which keys rest",
  allowances: "allowances",
  agent_history: "history of agents' searches",
  customer_history: "history of customers' searches",
};

export const HAPPENINGS: Record<Happening, string> = {
  circuit_opened: "Failed three times in a row, or failed its trial: it is left alone",
  circuit_held: "Asked to be left alone",
  circuit_half_opened: "May be tried before its time",
  circuit_closed: "A search succeeded",
  auto_disabled: "Taken out of use",
  put_back: "Put back into use by an operator",
  state_changed: "Looks found it in another state",
};

const WARNINGS: Record<Warning, string> = {
  surplus_cut: "It gave more passages than it was asked for; the surplus was cut.",
  internal_dropped: "It gave internal passages; they were dropped, as this provider is customer_safe.",
  audience_missing: "It gave passages without an audience; they count as internal.",
  result_dropped: "It gave passages that cannot be used; they were dropped.",
  field_dropped: "It gave fields that cannot be used; they were left out.",
  url_dropped: "It gave addresses that nobody may be sent to; they were left out.",
  snippet_cut: "It gave passages that are too long; they were cut.",
  source_not_approved: "It named sources that are not approved; they were left out.",
  source_redirected: "The source was found at another address.",
  source_failed: "A source could not be read.",
  version_not_advertised: "It does not list the version that was asked for.",
  not_fresh: "It showed a kept copy where a new one was asked for.",
  capabilities_changed: "It can do other things than are registered.",
};

const MORE: Record<string, string> = {
  ...WARNINGS,
  activation_lost: "It was changed while the test ran, so it was not turned on. Read it again, then test it again.",
  upstream_may_bill_or_log: "The server may have billed and logged this search.",
};

/** A warning in a sentence; one that this console does not know yet as it is. */
export function warningText(code: string): string {
  return MORE[code] ?? code;
}

export function codeText(code: OutcomeCode | string | null): string {
  return code === null ? "" : code.replaceAll("_", " ");
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** A field's name as words: `approvedHosts` is `Approved hosts`. */
export function spelled(name: string): string {
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}
