// How the three products can be told to search: the fields of their `config`, with hints.
import type { EntryShown } from "../../api";
import type { Draft, Spec } from "../../kit";
import type { Product } from "../instances/products";

/** In a draft of dify: whether it brings settings of its own. It is no part of the body. */
export const OWN = "own";

const MODEL = "config/retrievalModel";
const SETTINGS = "How it is searched";

const FASTGPT: Spec[] = [
  {
    at: "config/searchMode",
    label: "Search mode",
    as: "select",
    group: SETTINGS,
    options: [
      { value: "embedding", label: "Semantic" },
      { value: "fullTextRecall", label: "Full text" },
      { value: "mixedRecall", label: "Mixed" },
    ],
  },
  {
    at: "config/tokenLimit",
    label: "Token limit",
    as: "integer",
    first: "5000",
    hint: "1 to 20,000 tokens of text, not rows.",
    group: SETTINGS,
  },
  {
    at: "config/similarity",
    label: "Similarity",
    as: "number",
    first: "0",
    hint: "0 to 1. Filters by meaning, and where a rerank really ran.",
    group: SETTINGS,
  },
  {
    at: "config/usingReRank",
    label: "Rerank",
    as: "check",
    hint: "Silently off in FastGPT where no rerank model is set.",
    group: SETTINGS,
  },
];

const RAGFLOW: Spec[] = [
  {
    at: "config/similarityThreshold",
    label: "Similarity threshold",
    as: "number",
    first: "0.2",
    hint: "0 to 1",
    group: SETTINGS,
  },
  {
    at: "config/vectorSimilarityWeight",
    label: "Weight of meaning",
    as: "number",
    first: "0.3",
    hint: "0 to 1; the rest is the weight of keywords.",
    group: SETTINGS,
  },
  {
    at: "config/topK",
    label: "Candidates",
    as: "integer",
    first: "1024",
    hint: "1 to 2,048: the pool, not the number of results.",
    group: SETTINGS,
  },
];
const GRAPH: Spec = {
  at: "config/useKg",
  label: "Search the knowledge graph too",
  as: "check",
  group: SETTINGS,
  hint: "A language model works at every search. What it brings was written by a model, and is marked so.",
};

const DIFY: Spec[] = [
  {
    at: `${MODEL}/searchMethod`,
    label: "Search method",
    as: "select",
    group: SETTINGS,
    options: [
      { value: "semantic_search", label: "Semantic" },
      { value: "keyword_search", label: "Keyword" },
      { value: "full_text_search", label: "Full text" },
      { value: "hybrid_search", label: "Hybrid" },
    ],
  },
  {
    at: `${MODEL}/scoreThreshold`,
    label: "Score threshold",
    as: "number",
    optional: true,
    hint: "0 to 1; empty is off.",
    group: SETTINGS,
  },
  {
    at: `${MODEL}/rerankMode`,
    label: "Rerank",
    as: "select",
    optional: true,
    group: SETTINGS,
    options: [
      { value: "", label: "Off" },
      { value: "reranking_model", label: "With a rerank model" },
      { value: "weighted_score", label: "With weights" },
    ],
  },
];
const RERANK: Spec[] = [
  {
    at: `${MODEL}/rerankModel/providerName`,
    label: "Provider of the rerank model",
    as: "text",
    hint: "As Dify names it.",
    group: "Rerank model",
  },
  { at: `${MODEL}/rerankModel/modelName`, label: "Rerank model", as: "text", group: "Rerank model" },
];
const WEIGHTS: Spec[] = [
  {
    at: `${MODEL}/weights/vectorWeight`,
    label: "Weight of meaning",
    as: "number",
    first: "0.7",
    hint: "Both weights make 1.",
    group: "Weights",
  },
  {
    at: `${MODEL}/weights/keywordWeight`,
    label: "Weight of keywords",
    as: "number",
    first: "0.3",
    group: "Weights",
  },
  {
    at: `${MODEL}/weights/embeddingProviderName`,
    label: "Provider of the embedding model",
    as: "text",
    group: "Weights",
  },
  { at: `${MODEL}/weights/embeddingModelName`, label: "Embedding model", as: "text", group: "Weights" },
];

/** Every field that a config of this product can have: drafts hold all of them, whichever are shown. */
export function allSpecsOf(kind: Product): Spec[] {
  if (kind === "fastgpt") return FASTGPT;
  if (kind === "ragflow") return [...RAGFLOW, GRAPH];
  return [...DIFY, ...RERANK, ...WEIGHTS];
}

/** Those that the draft makes sense of. No graph is offered where the server shows none. */
export function specsOf(kind: Product, draft: Draft, entry: Pick<EntryShown, "hasGraph"> | null): Spec[] {
  if (kind === "fastgpt") return FASTGPT;
  if (kind === "ragflow") return entry?.hasGraph === false && draft[GRAPH.at] !== true ? RAGFLOW : [...RAGFLOW, GRAPH];
  if (draft[OWN] !== true) return [];
  const mode = draft[`${MODEL}/rerankMode`];
  return [...DIFY, ...(mode === "reranking_model" ? RERANK : []), ...(mode === "weighted_score" ? WEIGHTS : [])];
}

/** The fields beside the config. */
export const COMMON: Spec[] = [
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
    hint: "1,000 to 25,000; never past the search's own deadline.",
    group: "Limits",
  },
  {
    at: "maxSnippetCharacters",
    label: "Characters a passage",
    as: "integer",
    first: "4000",
    hint: "100 to 8,000; a longer one is cut and marked.",
    group: "Limits",
  },
];
