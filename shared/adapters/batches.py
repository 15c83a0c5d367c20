"""Reading many rows by their keys at once. Strongly consistent."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from shared.adapters.attributes import Item, text_of
from shared.adapters.failures import of_store, store_unavailable
from shared.adapters.keys import PARTITION_KEY, SORT_KEY, key_of
from shared.adapters.threads import in_thread

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import KeysAndAttributesUnionTypeDef

Place: TypeAlias = tuple[str, str, str]  # table, partition, sort

MAX_BATCH: Final = 100
_ATTEMPTS = 8
_PAUSE_MS = 10  # doubled with each attempt that brought nothing; the actual pause is anything up to that


async def rows_at(client: DynamoDBClient, table: str, places: Iterable[tuple[str, str]]) -> list[Item]:
    """The rows that exist at these (partition, sort), in no order. Batches of 100, all under way at the same time;
    each is followed until the store has nothing left unprocessed. No call for no places. Raises `Unavailable`.
    """
    distinct = [(table, *place) for place in dict.fromkeys(places)]
    batches = [distinct[at : at + MAX_BATCH] for at in range(0, len(distinct), MAX_BATCH)]
    found = await asyncio.gather(*(in_thread(rows_of, client, batch) for batch in batches))
    return [item for part in found for item in part.values()]


@of_store
def rows_of(client: DynamoDBClient, places: Sequence[Place]) -> dict[Place, Item]:
    """The rows that exist at these places, of any tables: at most `MAX_BATCH`, none twice. One call, and more while the
    store leaves rows for later. Blocking. Raises `Unavailable`.
    """
    left: Mapping[str, KeysAndAttributesUnionTypeDef] = _request(places)
    found: dict[Place, Item] = {}
    fruitless = 0
    while left:
        answer = client.batch_get_item(RequestItems=left)
        for table, items in answer["Responses"].items():
            found |= {(table, text_of(item, PARTITION_KEY), text_of(item, SORT_KEY)): item for item in items}
        still = answer.get("UnprocessedKeys") or {}
        fruitless = fruitless + 1 if _count(still) == _count(left) else 0
        if fruitless == _ATTEMPTS:
            raise store_unavailable()
        if fruitless:
            time.sleep(secrets.randbelow(_PAUSE_MS * 2**fruitless) / 1_000)
        left = still
    return found


def _request(places: Sequence[Place]) -> dict[str, KeysAndAttributesUnionTypeDef]:
    tables = dict.fromkeys(table for table, _, _ in places)
    return {
        table: {
            "Keys": [key_of(partition, sort) for named, partition, sort in places if named == table],
            "ConsistentRead": True,
        }
        for table in tables
    }


def _count(requested: Mapping[str, KeysAndAttributesUnionTypeDef]) -> int:
    return sum(len(of_table["Keys"]) for of_table in requested.values())
