// The draft of a binding, and the bodies that it stands for.
import type { ProviderShown } from "../../api";
import { bodyOf, changesOf, draftOf, type Draft } from "../../kit";
import type { Product } from "../instances/products";
import { LAST, NAME } from "../every_provider";
import { allSpecsOf, COMMON, OWN, specsOf } from "./configs";

export type BoundProvider = Extract<ProviderShown, { kind: Product }>;
type Body = Record<string, unknown>;

const PLAIN = [NAME, ...COMMON, ...LAST];

export function isBoundProvider(provider: ProviderShown): provider is BoundProvider {
  return "instanceId" in provider;
}

export function newDraft(kind: Product, name: string): Draft {
  return { ...draftOf([...PLAIN, ...allSpecsOf(kind)]), name, [OWN]: false };
}

/** Of settings that are not there, the draft has what a new one would have. */
export function draftFrom(provider: BoundProvider): Draft {
  const fresh = draftOf(allSpecsOf(provider.kind));
  const kept = draftOf(allSpecsOf(provider.kind), provider);
  const filled = Object.fromEntries(
    Object.entries(fresh).map(([at, first]) => [at, kept[at] === "" ? blankOr(at, first) : (kept[at] ?? first)]),
  );
  const own = provider.kind === "dify" && provider.config.retrievalModel !== null;
  return { ...draftOf(PLAIN, provider), ...filled, [OWN]: own };
}

// What is off when it is empty stays empty; a field that needs a value gets its first one.
function blankOr(at: string, first: string | boolean): string | boolean {
  return at.endsWith("/scoreThreshold") || at.endsWith("/rerankMode") ? "" : first;
}

export function configOf(kind: Product, draft: Draft): Body {
  return (bodyOf(specsOf(kind, draft, null), draft).config ?? {}) as Body;
}

export function createBody(
  kind: Product,
  draft: Draft,
  to: { instanceId: string; remoteId: string; testQuery: string },
): Body {
  return { ...bodyOf(PLAIN, draft), kind, ...to, config: configOf(kind, draft) };
}

export function isAskedOtherwise(draft: Draft, was: BoundProvider): boolean {
  return (
    was.configInvalid ||
    JSON.stringify(configOf(was.kind, draft)) !== JSON.stringify(configOf(was.kind, draftFrom(was)))
  );
}

/** Only what differs; a config goes whole, and is tried first. */
export function patchBody(draft: Draft, was: BoundProvider, testQuery: string): Body {
  const changes = changesOf(PLAIN, draft, was);
  return isAskedOtherwise(draft, was) ? { ...changes, config: configOf(was.kind, draft), testQuery } : changes;
}
