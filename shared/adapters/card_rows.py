"""The two batched reads of a look-up, the same on both lanes. Which collection may be read is each lane's own."""

from __future__ import annotations

from collections.abc import Collection as Several

from shared.adapters.attributes import Item, text_of
from shared.adapters.batches import rows_at
from shared.adapters.card_items import CARDS, COLLECTIONS, KEYS, card_ids_of
from shared.adapters.keys import PARTITION_KEY, SORT_KEY
from shared.adapters.services import DynamoDBClient
from shared.adapters.unreadable import readable

_ids = readable(card_ids_of)


async def collection_and_keys(
    client: DynamoDBClient, table: str, collection_id: str, norm_keys: Several[str]
) -> tuple[Item | None, dict[str, tuple[str, ...]]]:
    """One batch: the collection's row, and the card ids under each key that has any. Raises `Unavailable`."""
    places = [(COLLECTIONS, collection_id), *((KEYS + collection_id, key) for key in norm_keys)]
    collection: Item | None = None
    ids: dict[str, tuple[str, ...]] = {}
    for item in await rows_at(client, table, places):
        if text_of(item, PARTITION_KEY) == COLLECTIONS:
            collection = item
        else:
            ids[text_of(item, SORT_KEY)] = _ids(item) or ()
    return collection, ids


async def card_items(client: DynamoDBClient, table: str, collection_id: str, card_ids: Several[str]) -> list[Item]:
    """One batch. Raises `Unavailable`."""
    return await rows_at(client, table, [(CARDS + collection_id, card_id) for card_id in card_ids])


async def holders_of(
    client: DynamoDBClient, table: str, collection_id: str, norm_keys: Several[str]
) -> dict[str, tuple[str, ...]]:
    """The card ids under each of these keys. Raises `Unavailable`."""
    found = await rows_at(client, table, [(KEYS + collection_id, key) for key in norm_keys])
    return {text_of(item, SORT_KEY): _ids(item) or () for item in found}
