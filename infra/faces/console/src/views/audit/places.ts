// What audit entries are about, and where in the console that is.
import { href } from "../../router";

/** `provider/cs_…` and its like; null where the console has no place for it. */
export function placeOf(resource: string): string | null {
  const [kind, id = "", inner] = resource.split("/");
  if (!id) return null;
  if (kind === "provider") return href("providers", id);
  if (kind === "instance") return href("instances", id);
  if (kind === "credential") return href("credentials", id);
  if (kind === "collection") return href("cards", id);
  if (kind === "card") return inner ? href("cards", id, inner) : href("cards", id);
  if (kind === "pool" || kind === "allowance") return href("pools");
  return null;
}

export const KINDS: [string, string][] = [
  ["", "All"],
  ["provider", "Providers"],
  ["instance", "Instances"],
  ["credential", "Credentials"],
  ["collection", "Collections"],
  ["card", "Cards"],
  ["pool", "Pools"],
  ["allowance", "Allowances"],
];
