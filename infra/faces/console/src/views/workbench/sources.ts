// What can be chosen from, and what is known of whom a question goes to.
import type { CollectionPage, CollectionShown, ProviderPage, ProviderShown } from "../../api";
import { get } from "../../call";

export interface Sources {
  providers: ProviderShown[];
  collections: CollectionShown[];
}

export async function readSources(signal: AbortSignal): Promise<Sources> {
  const [providers, collections] = await Promise.all([
    readPages<ProviderPage, ProviderShown>("knowledge/providers", ({ providers }) => providers, signal),
    readPages<CollectionPage, CollectionShown>("collections", ({ collections }) => collections, signal),
  ]);
  const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name);
  return { providers: providers.sort(byName), collections: collections.sort(byName) };
}

async function readPages<P extends { nextCursor: string | null }, T>(
  path: string,
  rows: (page: P) => T[],
  signal: AbortSignal,
) {
  const all: T[] = [];
  let cursor: string | null = null;
  do {
    const page: P = (await get<P>(path, { query: { limit: 100, cursor }, signal })).data;
    all.push(...rows(page));
    cursor = page.nextCursor;
  } while (cursor !== null);
  return all;
}
