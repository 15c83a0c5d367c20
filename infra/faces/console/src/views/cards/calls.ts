// What this view asks the gateway for.
import type { CardCreate, CardPage, CardPatch, CardShown } from "../../api";
import { get, patch, pathOf, remove } from "../../call";
import type { Intent } from "../../intent";

const cardsOf = (collectionId: string) => pathOf("collections", collectionId, "cards");

/** A card as it was read, and the tag that a change of it goes with. */
export interface Read {
  card: CardShown;
  etag: string | null;
}

export async function readPage(collectionId: string, cursor: string | null, signal: AbortSignal) {
  const { data } = await get<CardPage>(cardsOf(collectionId), { query: { limit: 100, cursor }, signal });
  return { rows: data.cards, nextCursor: data.nextCursor };
}

export async function readOne(collectionId: string, id: string, signal?: AbortSignal): Promise<Read> {
  const { data, etag } = await get<CardShown>(pathOf(cardsOf(collectionId), id), { signal });
  return { card: data, etag };
}

export async function create(collectionId: string, body: CardCreate, intent: Intent): Promise<CardShown> {
  return (await intent.post<CardShown>(cardsOf(collectionId), body)).data;
}

export async function change(collectionId: string, was: Read, body: Partial<CardPatch>): Promise<Read> {
  const { data, etag } = await patch<CardShown>(pathOf(cardsOf(collectionId), was.card.id), body, {
    ifMatch: was.etag,
  });
  return { card: data, etag };
}

export async function drop(collectionId: string, was: Read): Promise<void> {
  await remove(pathOf(cardsOf(collectionId), was.card.id), { ifMatch: was.etag });
}
