// What this view asks the gateway for.
import type { CredentialPage, CredentialShown, CredentialWithToken, ProviderPage, ProviderShown } from "../../api";
import { get, patch, pathOf, remove } from "../../call";
import type { Intent } from "../../intent";
import { readPages } from "../../pages";

const PATH = "credentials";

/** A credential as it was read, and the tag that a change of it goes with. */
export interface Read {
  credential: CredentialShown;
  etag: string | null;
}

/** What a making or a rotation answered: the token this once, or null where an earlier answer had it. */
export interface Issued extends Read {
  token: string | null;
}

export async function readAll(signal: AbortSignal): Promise<CredentialShown[]> {
  return await readPages<CredentialPage, CredentialShown>(PATH, ({ credentials }) => credentials, signal);
}

export async function readOne(id: string, signal?: AbortSignal): Promise<Read> {
  const { data, etag } = await get<CredentialShown>(pathOf(PATH, id), { signal });
  return { credential: data, etag };
}

export async function create(body: object, intent: Intent): Promise<Issued> {
  const { data, etag } = await intent.post<CredentialWithToken>(PATH, body);
  return issued(data, etag);
}

export async function rotate(was: Read, intent: Intent): Promise<Issued> {
  const { data, etag } = await intent.post<CredentialWithToken>(
    pathOf(PATH, was.credential.id, "rotate"),
    {},
    { ifMatch: was.etag },
  );
  return issued(data, etag);
}

export async function change(was: Read, body: object): Promise<Read> {
  const { data, etag } = await patch<CredentialShown>(pathOf(PATH, was.credential.id), body, { ifMatch: was.etag });
  return { credential: data, etag };
}

export async function revoke(was: Read): Promise<void> {
  await remove(pathOf(PATH, was.credential.id), { ifMatch: was.etag });
}

/** What an agent's credential can be narrowed to. */
export async function readProviders(signal: AbortSignal): Promise<ProviderShown[]> {
  const path = "knowledge/providers";
  const all = await readPages<ProviderPage, ProviderShown>(path, ({ providers }) => providers, signal);
  return all.sort((a, b) => a.name.localeCompare(b.name));
}

function issued({ token, warnings: _, ...credential }: CredentialWithToken, etag: string | null): Issued {
  return { credential, etag, token };
}
