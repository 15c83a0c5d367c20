// Lists that are read to their end: what is chosen from, or filtered, must not lack what lies on a later page.
import { get } from "./call";
import { unreadable } from "./problem";

/** All rows of a list; `rowsOf` takes them from a page. Throws an ApiProblem for a list that comes round again. */
export async function readPages<P extends { nextCursor: string | null }, T>(
  path: string,
  rowsOf: (page: P) => T[],
  signal?: AbortSignal,
): Promise<T[]> {
  const all: T[] = [];
  const seen = new Set<string>();
  let cursor: string | null = null;
  do {
    const page: P = (await get<P>(path, { query: { limit: 100, cursor }, signal })).data;
    all.push(...rowsOf(page));
    cursor = page.nextCursor ?? null;
    if (cursor !== null && seen.has(cursor)) throw unreadable();
    if (cursor !== null) seen.add(cursor);
  } while (cursor !== null);
  return all;
}
