// The two credentials that the workbench asks with: an agent's and an assistant's, each good for 15 minutes.
//
// They are made when they are first needed, live in this module's memory alone, and are deleted at the gateway when the
// workbench is left, when the session ends and when the page is closed. What is lost on the way ends by itself.
import type { CredentialWithToken } from "../../api";
import { post } from "../../call";
import { ApiProblem } from "../../problem";
import { bearer, beforeEnd, end } from "../../session";
import { store } from "../../store";
import { giveBack, giveBackAgain } from "./giving_back";
import { clearAway } from "./left_over";

export type Side = "agt" | "ast";

interface Lent {
  id: string;
  etag: string | null;
  token: string;
  endsAtMs: number;
}

const LIFE_MS = 15 * 60_000;
const SPARE_MS = 60_000;
const PATH = "credentials";
const WANTED: Record<Side, { name: string } & Record<string, unknown>> = {
  agt: { class: "agt", name: "Console workbench, as an agent (short-lived)" },
  ast: { class: "ast", name: "Console workbench, as a customer (short-lived)", grants: ["knowledge:read_public"] },
};

const NAMES: ReadonlySet<string> = new Set(Object.values(WANTED).map(({ name }) => name));

let tidied = false;
const making: Partial<Record<Side, Promise<Lent>>> = {};

/** How many are held now, and when the first of them ends. */
export const held = store<{ count: number; endsAtMs: number } | null>(null);

/** The token of one side; a new one where there is none, or where it ends within a minute. Throws an ApiProblem. */
export async function tokenOf(side: Side): Promise<string> {
  const lent = await (making[side] ??= lend(side));
  if (lent.endsAtMs - Date.now() > SPARE_MS) return lent.token;
  drop(side);
  return (await (making[side] ??= lend(side))).token;
}

/** Gives one back: it is deleted, and the next question makes another. */
export function drop(side: Side, admin = bearer()): void {
  const under = making[side];
  delete making[side];
  void tell();
  if (under && admin)
    void under.then(
      (lent) => giveBack(lent, admin),
      () => undefined,
    );
}

export function dropAll(admin = bearer()): void {
  giveBackAgain(admin);
  drop("agt", admin);
  drop("ast", admin);
}

beforeEnd(dropAll);

// Not bound to the session or to the page: what is under way when either goes would else be made, and known to nobody. A
// page that is kept to be gone back to deletes what has come for it then; for one that is gone, it ends by itself.
async function lend(side: Side): Promise<Lent> {
  const token = bearer() ?? "";
  const endsAtMs = Date.now() + LIFE_MS;
  giveBackAgain(token);
  try {
    const body = { ...WANTED[side], expiresAt: new Date(endsAtMs).toISOString() };
    const { data, etag } = await post<CredentialWithToken>(PATH, body, { token, keepalive: true });
    void tell();
    if (!tidied) void clearAway(NAMES);
    tidied = true;
    return { id: data.id, etag, token: data.token ?? "", endsAtMs };
  } catch (thrown) {
    delete making[side];
    if (thrown instanceof ApiProblem && thrown.status === 401) end("refused");
    throw thrown;
  }
}

async function tell(): Promise<void> {
  const all = await Promise.allSettled(Object.values(making));
  const ends = all.flatMap((one) => (one.status === "fulfilled" ? [one.value.endsAtMs] : []));
  held.set(ends.length > 0 ? { count: ends.length, endsAtMs: Math.min(...ends) } : null);
}
