// Deleting the workbench's credentials at the gateway, and what becomes of those that it would not delete.
import type { CredentialShown } from "../../api";
import { announce } from "../../announce";
import { get, pathOf, remove } from "../../call";
import { ApiProblem, isAbort } from "../../problem";
import { exactly } from "../../kit";
import { store } from "../../store";

interface Given {
  id: string;
  etag: string | null;
  endsAtMs: number;
}

/** Those whose deletion was refused: tried again with the next question and the next leaving. */
export const staying = store<Given[]>([]);

/** `token` is the admin's that they were made with. Where one stays, that is said. */
export async function giveBack(one: Given, token: string): Promise<void> {
  try {
    await remove(pathOf("credentials", one.id), { ifMatch: one.etag, token, keepalive: true });
  } catch (thrown) {
    if (isAbort(thrown) || isGone(thrown)) return;
    staying.set([...staying.get(), { ...one, etag: null }]);
    announce(`A short-lived credential is not deleted yet. It ends by itself at ${endOf(one)}.`, "bad");
  }
}

/** Once more for all that stay and have not ended. Somebody may have changed one meanwhile, so its tag is read first. */
export function giveBackAgain(token: string | null): void {
  const again = staying.get().filter((one) => one.endsAtMs > Date.now());
  if (staying.get().length > 0) staying.set([]);
  if (token) for (const one of again) void giveBackAnew(one, token);
}

async function giveBackAnew(one: Given, token: string): Promise<void> {
  try {
    const { etag } = await get<CredentialShown>(pathOf("credentials", one.id), { token, keepalive: true });
    await giveBack({ ...one, etag }, token);
  } catch (thrown) {
    if (!isGone(thrown)) staying.set([...staying.get(), one]);
  }
}

export function endOf({ endsAtMs }: Pick<Given, "endsAtMs">): string {
  return exactly(new Date(endsAtMs).toISOString());
}

function isGone(thrown: unknown): boolean {
  return thrown instanceof ApiProblem && thrown.status === 404;
}
