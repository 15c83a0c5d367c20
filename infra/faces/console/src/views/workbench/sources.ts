// What can be chosen from, and what is known of whom a question goes to.
import type { CollectionPage, CollectionShown, ProviderPage, ProviderShown } from "../../api";
import { readPages } from "../../pages";

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
