// Lists that are read to their end: what is chosen from, or filtered, must not lack what lies on a later page.
import { get } from "./call";

/** All rows of a list; `rowsOf` takes them from a page. */
export async function readPages<P extends { nextCursor: string | null }, T>(
  path: string,
  rowsOf: (page: P) => T[],
  signal?: AbortSignal,
): Promise<T[]> {
  const all: T[] = [];
  let cursor: string | null = null;
  do {
    const page: P = (await get<P>(path, { query: { limit: 100, cursor }, signal })).data;
    all.push(...rowsOf(page));
    cursor = page.nextCursor;
  } while (cursor !== null);
  return all;
}
