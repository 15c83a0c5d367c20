// What can be registered here, and with which fields.
import type { ProviderKind, ProviderShown } from "../../api";
import type { Spec } from "../../kit";
import { LAST, NAME } from "../every_provider";

export type Made = Exclude<ProviderKind, "dify" | "fastgpt" | "ragflow">;
export type Bound = Exclude<ProviderKind, Made>;

export const LIVE: ReadonlySet<ProviderKind> = new Set(["context7", "exa", "firecrawl", "mintlify", "deepwiki"]);
const BOUND: ReadonlySet<ProviderKind> = new Set(["dify", "fastgpt", "ragflow"]);

export const MADE: { kind: Made; label: string; hint: string }[] = [
  { kind: "contract", label: "Contract provider", hint: "Your own service that speaks the provider contract." },
  { kind: "exa", label: "Exa", hint: "Live search of approved hosts." },
  { kind: "context7", label: "Context7", hint: "Documentation of libraries." },
  { kind: "mintlify", label: "Mintlify", hint: "Documentation sites that Mintlify hosts." },
  { kind: "deepwiki", label: "DeepWiki", hint: "Questions about public repositories." },
  { kind: "firecrawl", label: "Firecrawl", hint: "Fetches approved pages; answers no searches." },
  { kind: "dify_external", label: "Dify external API", hint: "A server that answers Dify's external knowledge API." },
];

export function isBound(provider: ProviderShown): provider is Extract<ProviderShown, { kind: Bound }> {
  return BOUND.has(provider.kind);
}

const BASE_URL: Spec = { at: "baseUrl", label: "Base URL", as: "url" };
const LIMITS: Spec[] = [
  {
    at: "resultLimit",
    label: "Passages a search",
    as: "integer",
    first: "6",
    hint: "1 to 20",
    group: "Limits",
  },
  {
    at: "requestTimeoutMs",
    label: "Time limit, ms",
    as: "integer",
    first: "15000",
    hint: "1,000 to 25,000",
    group: "Limits",
  },
  {
    at: "maxSnippetCharacters",
    label: "Characters a passage",
    as: "integer",
    first: "4000",
    hint: "100 to 8,000",
    group: "Limits",
  },
];
const HOSTS: Spec = {
  at: "config/approvedHosts",
  label: "Approved hosts",
  as: "lines",
  hint: "Exact public DNS names, one a line. What it cites or fetches from anywhere else is left out.",
};

export const CAPABILITIES: [string, string][] = [
  ["semanticSearch", "Semantic search"],
  ["locale", "Locale"],
  ["localeFallback", "Locale fallback"],
  ["freshness", "Freshness"],
  ["translationGroups", "Translation groups"],
  ["chunking", "Chunking"],
  ["scoring", "Scoring"],
  ["citationUrl", "Citation URL"],
];

const CONTRACT: Spec[] = [
  NAME,
  {
    ...BASE_URL,
    hint: "https; /retrieve and /capabilities are appended to it. A customer_safe provider with another one has to pass a test again.",
  },
  {
    at: "allowPrivateNetwork",
    label: "It is in a private network",
    as: "check",
    hint: "Permits RFC 1918 and fc00::/7; needs the deployment's VPC option. Audited.",
    group: "Reach",
  },
  {
    at: "sendConversationId",
    label: "Send conversation ids",
    as: "check",
    hint: "For agent_only providers alone.",
    group: "Reach",
  },
  ...CAPABILITIES.map(([name, label]): Spec => ({
    at: `capabilities/${name}`,
    label,
    as: "check",
    group: "What it can do",
  })),
  ...LAST,
];

const CONFIGS: Record<Exclude<Made, "contract" | "dify_external">, Spec[]> = {
  exa: [
    HOSTS,
    {
      at: "config/searchType",
      label: "Search type",
      as: "select",
      first: "fast",
      options: options("instant", "fast", "auto"),
      group: "Search",
    },
    {
      at: "config/results",
      label: "Results",
      as: "integer",
      first: "5",
      hint: "1 to 10",
      group: "Search",
    },
    {
      at: "config/maxCharacters",
      label: "Characters a document",
      as: "integer",
      first: "10000",
      group: "Search",
    },
  ],
  context7: [
    HOSTS,
    {
      at: "config/library",
      label: "Library",
      as: "text",
      optional: true,
      hint: "As in /acme/widgets: asked whatever a search names.",
    },
  ],
  mintlify: [
    HOSTS,
    {
      at: "config/endpoint",
      label: "Endpoint",
      as: "select",
      first: "mcp",
      options: options("mcp", "root"),
      group: "Search",
    },
    {
      at: "config/tokenBudget",
      label: "Token budget",
      as: "integer",
      first: "3000",
      hint: "500 to 6,000",
      group: "Search",
    },
    { at: "config/product", label: "Product", as: "text", optional: true, group: "Search" },
  ],
  firecrawl: [HOSTS],
  deepwiki: [
    {
      at: "config/repositories",
      label: "Repositories",
      as: "lines",
      hint: "Public ones, owner/name, one a line. No other is ever named to the service.",
    },
  ],
};

const EXTERNAL: Spec[] = [
  NAME,
  { ...BASE_URL, hint: "/retrieval is appended to it." },
  {
    at: "config/knowledgeId",
    label: "Knowledge id",
    as: "text",
    hint: "The server's own name for the knowledge, sent as it is.",
    group: "Knowledge",
  },
  {
    at: "config/scoreThreshold",
    label: "Score threshold",
    as: "number",
    first: "0",
    hint: "0 to 1",
    group: "Knowledge",
  },
  ...LIMITS,
  {
    at: "privateAuthority",
    label: "Certificates to believe (PEM)",
    as: "area",
    optional: true,
    hint: "Beside the public authorities. Certificates are always verified.",
  },
  ...LAST,
];

/** The fields of a new provider of this kind, and of a change of one. */
export function specsOf(kind: ProviderKind): Spec[] {
  if (kind === "contract") return CONTRACT;
  if (kind === "dify_external") return EXTERNAL;
  if (kind === "dify" || kind === "fastgpt" || kind === "ragflow") return [NAME, ...LIMITS, ...LAST];
  return [NAME, ...CONFIGS[kind], ...LAST];
}

function options(...values: string[]) {
  return values.map((value) => ({ value, label: value }));
}
