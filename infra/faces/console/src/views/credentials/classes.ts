// The four classes of credentials, in words.
import type { CredentialClass, CredentialShown, Grant } from "../../api";
import type { Tone } from "../../kit";

interface Words {
  name: string;
  tone: Tone;
  /** Whom it is for, and what it reaches. */
  hint: string;
}

export const CLASSES: Record<CredentialClass, Words> = {
  pub: {
    name: "Website",
    tone: "info",
    hint: "A website's widget. Its key is public by nature: it works from the listed origins alone, and reaches customer_safe sources.",
  },
  ast: {
    name: "Assistant",
    tone: "info",
    hint: "An assistant that talks to customers. It reaches customer_safe sources, and nothing without its grant.",
  },
  agt: {
    name: "Agent",
    tone: "inside",
    hint: "A tool of people you trust. It reaches agent_only sources too, or only those that you choose.",
  },
  adm: { name: "Admin", tone: "bad", hint: "Administers everything here, this console included. It searches nothing." },
};

export const GRANTS: Record<Grant, string> = {
  "knowledge:read_public": "Reads customer_safe sources and cards",
  "external_knowledge:agent": "Answers Dify applications with everything that it reaches",
  "knowledge:read_internal": "Given to nobody",
};

/** Which grant a class can have; the others have none. */
export const GRANTABLE: Partial<Record<CredentialClass, Grant>> = {
  ast: "knowledge:read_public",
  agt: "external_knowledge:agent",
};

export const ROOT = "root";

export type State = "active" | "disabled" | "expired" | "ends_soon";

const SOON_MS = 7 * 86_400_000;

export function stateOf(one: CredentialShown, nowMs = Date.now()): State {
  if (one.status === "disabled") return "disabled";
  const leftMs = one.expiresAt === null ? Infinity : Date.parse(one.expiresAt) - nowMs;
  if (leftMs <= 0) return "expired";
  return leftMs <= SOON_MS ? "ends_soon" : "active";
}

export const STATES: Record<State, { word: string; tone: Tone }> = {
  active: { word: "Active", tone: "ok" },
  ends_soon: { word: "Ends soon", tone: "warn" },
  expired: { word: "Expired", tone: "bad" },
  disabled: { word: "Disabled", tone: "neutral" },
};
