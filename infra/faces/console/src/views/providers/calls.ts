// What this view asks the gateway for.
import type {
  CapabilitiesShown,
  ContractWithSecret,
  LiveTestShown,
  ProviderMade,
  ProviderPage,
  ProviderShown,
  ProviderTestShown,
  ServerTestShown,
} from "../../api";
import { get, patch, pathOf, post, remove } from "../../call";
import type { Intent } from "../../intent";
import { readPages } from "../../pages";

const PATH = "knowledge/providers";

/** A provider as it was read, and the tag that a change of it goes with. */
export interface Read {
  provider: ProviderShown;
  etag: string | null;
}

export type TestShown = ProviderTestShown | LiveTestShown | ServerTestShown;

/** All of them: there are at most a few hundred, and a filter that knows only the first page would lie. */
export async function readAll(signal: AbortSignal): Promise<ProviderShown[]> {
  return await readPages<ProviderPage, ProviderShown>(PATH, ({ providers }) => providers, signal);
}

export async function readOne(id: string, signal?: AbortSignal): Promise<Read> {
  const { data, etag } = await get<ProviderShown>(pathOf(PATH, id), { signal });
  return { provider: data, etag };
}

export async function create(body: object, intent: Intent): Promise<ProviderMade> {
  return (await intent.post<ProviderMade>(PATH, body)).data;
}

export async function change(was: Read, body: object): Promise<Read> {
  const { data, etag } = await patch<ProviderShown>(pathOf(PATH, was.provider.id), body, { ifMatch: was.etag });
  return { provider: data, etag };
}

export async function drop(was: Read): Promise<void> {
  await remove(pathOf(PATH, was.provider.id), { ifMatch: was.etag });
}

export async function test(id: string, body: object): Promise<{ report: TestShown; read: Read }> {
  const { data, etag } = await post<TestShown>(pathOf(PATH, id, "test"), body);
  return { report: data, read: { provider: data.provider, etag } };
}

export async function rotate(
  was: Read,
  body: { windowHours: number; replacePending: boolean },
  intent: Intent,
): Promise<{ made: ContractWithSecret; etag: string | null }> {
  const answer = await intent.post<ContractWithSecret>(pathOf(PATH, was.provider.id, "rotate-secret"), body, {
    ifMatch: was.etag,
  });
  return { made: answer.data, etag: answer.etag };
}

export async function rereadCapabilities(id: string): Promise<{ report: CapabilitiesShown; read: Read }> {
  const { data, etag } = await post<CapabilitiesShown>(pathOf(PATH, id, "capabilities"), {});
  return { report: data, read: { provider: data.provider, etag } };
}
