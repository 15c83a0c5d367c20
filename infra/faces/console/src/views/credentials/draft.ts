// What is typed into the form of a credential, and the bodies that it stands for.
import type { CredentialClass, CredentialShown, Grant } from "../../api";
import { GRANTABLE } from "./classes";
import { linesOf } from "./origins";

export interface Draft {
  name: string;
  origins: string;
  granted: boolean;
  /** null: no narrowing. */
  allowed: string[] | null;
  rate: string;
  addressRate: string;
  /** As a `datetime-local` field has it, in this browser's time; empty: never. */
  ends: string;
}

export const BLANK: Draft = {
  name: "",
  origins: "",
  granted: false,
  allowed: null,
  rate: "",
  addressRate: "",
  ends: "",
};

export function draftFor(of: CredentialShown): Draft {
  return {
    name: of.name,
    origins: (of.origins ?? []).join("\n"),
    granted: of.grants.length > 0,
    allowed: of.allowedProviders,
    rate: String(of.ratePerMinute),
    addressRate: of.addressRatePerMinute === null ? "" : String(of.addressRatePerMinute),
    ends: of.expiresAt === null ? "" : localOf(of.expiresAt),
  };
}

type Body = Record<string, unknown>;

/** All that is said of it. `rate` and `addressRate` left empty are left to the gateway. */
export function bodyFor(kind: CredentialClass, draft: Draft): Body {
  const grant: Grant | undefined = GRANTABLE[kind];
  return {
    name: draft.name,
    ...(grant && { grants: draft.granted ? [grant] : [] }),
    ...(kind === "pub" && { origins: linesOf(draft.origins) }),
    ...(kind === "agt" && { allowedProviders: draft.allowed }),
    ...(draft.rate.trim() !== "" && { ratePerMinute: count(draft.rate) }),
    ...(kind === "pub" && draft.addressRate.trim() !== "" && { addressRatePerMinute: count(draft.addressRate) }),
    expiresAt: draft.ends === "" ? null : momentOf(draft.ends),
  };
}

/** Only what differs from how it was read. */
export function changesFor(was: CredentialShown, draft: Draft): Body {
  const before = bodyFor(was.class, draftFor(was));
  const after = bodyFor(was.class, draft);
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])),
  );
}

function count(text: string): number | string {
  return Number.isFinite(Number(text)) ? Number(text) : text;
}

function momentOf(local: string): string {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? local : at.toISOString();
}

function localOf(moment: string): string {
  const at = new Date(moment);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
