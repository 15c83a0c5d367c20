"""Reading many rows by their keys at once. Strongly consistent."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from shared.adapters.attributes import Item, NewItem
from shared.adapters.failures import of_store, store_unavailable
from shared.adapters.keys import key_of
from shared.adapters.threads import in_thread

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

MAX_BATCH: Final = 100
_ATTEMPTS = 8
_PAUSE_MS = 10  # doubled with each attempt that brought nothing; the actual pause is anything up to that


async def rows_at(client: DynamoDBClient, table: str, places: Iterable[tuple[str, str]]) -> list[Item]:
    """The rows that exist at these (partition, sort), in no order. Batches of 100, all under way at the same time;
    each is followed until the store has nothing left unprocessed. No call for no places. Raises `Unavailable`.
    """
    distinct = list(dict.fromkeys(places))
    batches = [distinct[at : at + MAX_BATCH] for at in range(0, len(distinct), MAX_BATCH)]
    found = await asyncio.gather(*(in_thread(_batch, client, table, batch) for batch in batches))
    return [item for part in found for item in part]


@of_store
def _batch(client: DynamoDBClient, table: str, places: Sequence[tuple[str, str]]) -> list[Item]:
    left: list[NewItem] = [key_of(partition, sort) for partition, sort in places]
    found: list[Item] = []
    fruitless = 0
    while left:
        answer = client.batch_get_item(RequestItems={table: {"Keys": left, "ConsistentRead": True}})
        found += answer["Responses"].get(table, [])
        unprocessed = answer.get("UnprocessedKeys") or {}
        still = [dict(key) for key in unprocessed[table]["Keys"]] if table in unprocessed else []
        fruitless = fruitless + 1 if len(still) == len(left) else 0
        if fruitless == _ATTEMPTS:
            raise store_unavailable()
        if fruitless:
            time.sleep(secrets.randbelow(_PAUSE_MS * 2**fruitless) / 1_000)
        left = still
    return found
