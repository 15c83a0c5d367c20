// What a page left behind that was killed before it could give its credentials back.
import type { CredentialPage, CredentialShown } from "../../api";
import { pathOf, remove } from "../../call";
import { readPages } from "../../pages";
import { ApiProblem, isAbort } from "../../problem";

/** Deletes the credentials of these names that have ended. Those of another page that is still at work have not. */
export async function clearAway(names: ReadonlySet<string>): Promise<void> {
  try {
    for (const one of await ended(names))
      await remove(pathOf("credentials", one.id), { ifMatch: `"${one.generation}"` });
  } catch (thrown) {
    // They are of no use to anybody; the next page tries again.
    if (!(thrown instanceof ApiProblem) && !isAbort(thrown)) throw thrown;
  }
}

async function ended(names: ReadonlySet<string>): Promise<CredentialShown[]> {
  const all = await readPages<CredentialPage, CredentialShown>("credentials", ({ credentials }) => credentials);
  const now = Date.now();
  return all.filter((one) => names.has(one.name) && one.expiresAt !== null && Date.parse(one.expiresAt) < now);
}
