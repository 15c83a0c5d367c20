// What a change of an instance means before it is sent: what moves, what is voided, what has to be stated anew.
import type { Acknowledge, InstancePatch, InstanceShown } from "../../api";

export interface Draft {
  name: string;
  baseUrl: string;
  action: "keep" | "replace" | "clear";
  credential: string;
  publicOnly: boolean;
  authority: string;
}

export interface Consequences {
  /** Another scheme, host or port. The credential is never carried there. */
  elsewhere: boolean;
  /** Another base URL, be it on the same server. */
  moved: boolean;
  /** What is customer_safe has to be stated again. */
  restate: boolean;
}

export function draftOf(instance: InstanceShown): Draft {
  const { name, baseUrl, privateAuthority } = instance;
  return { name, baseUrl, action: "keep", credential: "", publicOnly: false, authority: privateAuthority ?? "" };
}

export function consequencesOf(draft: Draft, was: InstanceShown): Consequences {
  const moved = draft.baseUrl.trim() !== was.baseUrl;
  const elsewhere = moved && originOf(draft.baseUrl) !== originOf(was.baseUrl);
  const restate = was.exposureProfile === "customer_safe" && (moved || draft.action !== "keep");
  return { moved, elsewhere, restate };
}

/** Only what differs. */
export function patchOf(draft: Draft, was: InstanceShown, acknowledge: Acknowledge | null): Partial<InstancePatch> {
  const { moved, restate } = consequencesOf(draft, was);
  const authority = draft.authority.trim() === "" ? null : draft.authority;
  return {
    ...(draft.name !== was.name && { name: draft.name }),
    ...(moved && { baseUrl: draft.baseUrl.trim() }),
    ...(draft.action === "replace" && { credential: { action: "replace", value: draft.credential.trim() } }),
    ...(draft.action === "clear" && { credential: { action: "clear" } }),
    ...(restate && { credentialReachesPublicContentOnly: draft.publicOnly }),
    ...(authority !== was.privateAuthority && { privateAuthority: authority }),
    ...(acknowledge && { acknowledge }),
  };
}

function originOf(url: string): string {
  try {
    return new URL(url.trim()).origin;
  } catch {
    return url;
  }
}
