// What this view asks the gateway for.
import type { CollectionCreate, CollectionPage, CollectionShown, ImportReport } from "../../api";
import { call, get, patch, pathOf, remove } from "../../call";
import type { Intent } from "../../intent";

const PATH = "collections";

/** A collection as it was read, and the tag that a change of it goes with. */
export interface Read {
  collection: CollectionShown;
  etag: string | null;
}

export async function readPage(cursor: string | null, signal: AbortSignal) {
  const { data } = await get<CollectionPage>(PATH, { query: { limit: 100, cursor }, signal });
  return { rows: data.collections, nextCursor: data.nextCursor };
}

export async function readOne(id: string, signal?: AbortSignal): Promise<Read> {
  const { data, etag } = await get<CollectionShown>(pathOf(PATH, id), { signal });
  return { collection: data, etag };
}

export async function create(body: CollectionCreate, intent: Intent): Promise<CollectionShown> {
  return (await intent.post<CollectionShown>(PATH, body)).data;
}

export async function rename(was: Read, name: string): Promise<Read> {
  const { data, etag } = await patch<CollectionShown>(pathOf(PATH, was.collection.id), { name }, { ifMatch: was.etag });
  return { collection: data, etag };
}

export async function drop(was: Read): Promise<void> {
  await remove(pathOf(PATH, was.collection.id), { ifMatch: was.etag });
}

export async function importRows(
  id: string,
  body: string,
  mediaType: string,
  signal: AbortSignal,
): Promise<ImportReport> {
  const ask = { method: "POST", raw: body, mediaType, signal } as const;
  return (await call<ImportReport>(pathOf(PATH, id, "cards", "import"), ask)).data;
}

/** A page of an export as JSON Lines, and the cursor of the next one. */
export async function exportPage(id: string, cursor: string | null, signal: AbortSignal) {
  const query = { limit: 1000, cursor };
  const { data, headers } = await get<string>(pathOf(PATH, id, "cards", "export"), { query, signal, as: "text" });
  const next = /<([^>]*)>; *rel="?next"?/.exec(headers.get("Link") ?? "")?.[1];
  return {
    text: data,
    nextCursor: next === undefined ? null : new URL(next, location.origin).searchParams.get("cursor"),
  };
}
