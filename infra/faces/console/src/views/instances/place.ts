// Where in a catalog somebody is, in the address: `?page=2&search=ferry&in=<folder>&in=<folder in it>`.
import type { EntryShown } from "../../api";
import { href } from "../../router";
import type { Place } from "./calls";

// Names of the folders that were seen; a folder whose name was not is shown by its id.
const names = new Map<string, string>();

export function learn(entries: EntryShown[]): void {
  for (const { id, name, kind } of entries) if (kind === "folder") names.set(id, name);
}

export function namedAs(id: string): string {
  return names.get(id) ?? id;
}

export function trailOf(query: URLSearchParams): string[] {
  return query.getAll("in");
}

export function placeOf(query: URLSearchParams): Place {
  const page = Number(query.get("page") ?? "1");
  const whole = Number.isInteger(page) && page >= 1 && page <= 5;
  return { page: whole ? page : 1, search: query.get("search") ?? "", parent: trailOf(query).at(-1) ?? null };
}

/** The address of another place: what is not named stays as it is in `query`. */
export function addressOf(
  instanceId: string,
  query: URLSearchParams,
  to: { page?: number; search?: string; trail?: string[] },
): string {
  const page = to.page ?? 1;
  const search = to.search ?? query.get("search") ?? "";
  const parameters = new URLSearchParams((to.trail ?? trailOf(query)).map((id) => ["in", id]));
  if (search !== "") parameters.set("search", search);
  if (page > 1) parameters.set("page", String(page));
  const text = parameters.toString();
  return `${href("instances", instanceId)}${text === "" ? "" : `?${text}`}`;
}
