// What this view asks the gateway for.
import type {
  CatalogShown,
  EntryShown,
  InstanceCreate,
  InstancePage,
  InstancePatch,
  InstanceShown,
  InstanceTest,
  InstanceTestShown,
} from "../../api";
import { get, patch, pathOf, post, remove } from "../../call";
import type { Intent } from "../../intent";
import { readPages } from "../../pages";

const PATH = "knowledge/instances";

/** An instance as it was read, and the tag that a change of it goes with. */
export interface Read {
  instance: InstanceShown;
  etag: string | null;
}

/** Which part of a catalog is looked at: `parent` is the folder that is open. */
export interface Place {
  page: number;
  search: string;
  parent: string | null;
}

/** All of them: there are at most a hundred. */
export async function readAll(signal: AbortSignal): Promise<InstanceShown[]> {
  return await readPages<InstancePage, InstanceShown>(PATH, ({ instances }) => instances, signal);
}

export async function readOne(id: string, signal?: AbortSignal): Promise<Read> {
  const { data, etag } = await get<InstanceShown>(pathOf(PATH, id), { signal });
  return { instance: data, etag };
}

export async function create(body: InstanceCreate, intent: Intent): Promise<InstanceShown> {
  return (await intent.post<InstanceShown>(PATH, body)).data;
}

export async function change(was: Read, body: Partial<InstancePatch>): Promise<Read> {
  const { data, etag } = await patch<InstanceShown>(pathOf(PATH, was.instance.id), body, { ifMatch: was.etag });
  return { instance: data, etag };
}

/** `bindings`: exactly what is bound to it, and goes with it. */
export async function drop(was: Read, bindings: string[]): Promise<void> {
  const query = bindings.length > 0 ? { bindings: bindings.join(",") } : {};
  await remove(pathOf(PATH, was.instance.id), { ifMatch: was.etag, query });
}

export async function test(id: string, body: InstanceTest, signal?: AbortSignal): Promise<InstanceTestShown> {
  return (await post<InstanceTestShown>(pathOf(PATH, id, "test"), body, { signal })).data;
}

export async function readCatalog(id: string, place: Place, signal: AbortSignal): Promise<CatalogShown> {
  const { page, search, parent } = place;
  return (await get<CatalogShown>(pathOf(PATH, id, "catalog"), { query: { page, search, parent }, signal })).data;
}

export async function readEntry(id: string, remoteId: string, signal: AbortSignal): Promise<EntryShown> {
  return (await get<EntryShown>(pathOf(PATH, id, "catalog", remoteId), { signal })).data;
}
