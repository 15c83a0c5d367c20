// What is known of the three products, for people who set one up.
import type { EntryShown, InstanceShown, NotSearchable } from "../../api";

export type Product = InstanceShown["kind"];

interface Facts {
  name: string;
  versions: string;
  tellsVersion: string;
  key: string;
  address: string;
  searches: string;
  traces: string;
}

export const PRODUCTS: Record<Product, Facts> = {
  dify: {
    name: "Dify",
    versions: "0.15 and later",
    tellsVersion: "Dify tells its version.",
    key: "A knowledge (dataset) key. It is good for its whole workspace.",
    address: "https://dify.example.com becomes https://dify.example.com/v1.",
    searches: "By meaning, keywords, full text, or both together; queries of up to 250 characters.",
    traces: "Each search is a row in the data set's list of queries, and may call its models.",
  },
  fastgpt: {
    name: "FastGPT",
    versions: "4.8.5 and later",
    tellsVersion: "FastGPT never tells its version.",
    key: "An API key of the account, not the key of one app.",
    address: "Ends with /api in the product's own form.",
    searches: "By meaning, full text, or both together; with a rerank where the product has one.",
    traces: "Each search counts as usage of the account and of the key, and may be billed.",
  },
  ragflow: {
    name: "RAGFlow",
    versions: "0.14 and later",
    tellsVersion: "RAGFlow tells its version from 0.25 on.",
    key: "An API key of the account.",
    address: "Ends with /api/v1 in the product's own form.",
    searches: "By keywords and meaning, weighed; with the knowledge graph where one was built.",
    traces: "Each search may call its models; with the graph a language model as well.",
  },
};

export const WHY_NOT: Record<NotSearchable, { word: string; means: string }> = {
  folder: { word: "Folder", means: "Open it to see what is inside." },
  external: {
    word: "On another server",
    means: "Dify's own API does not search it. Register that server as a Dify external API provider.",
  },
  api_disabled: { word: "API access off", means: "API access is switched off for this data set, in Dify." },
  unknown_type: { word: "Unknown type", means: "A type that this version of the gateway does not know." },
};

/** What the catalog says of an entry beside its name, in a few words each. */
export function factsOf(entry: EntryShown): string[] {
  const facts: string[] = [];
  if (entry.documents !== null) facts.push(`${entry.documents} ${entry.documents === 1 ? "document" : "documents"}`);
  if (entry.isEconomy) facts.push("economy: keywords, no vectors");
  if (entry.hasGraph) facts.push("has a knowledge graph");
  return facts;
}
