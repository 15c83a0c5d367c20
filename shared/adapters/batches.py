"""Reading many rows by their keys at once. Strongly consistent."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from shared.adapters.attributes import Item, text_of
from shared.adapters.failures import of_store, store_unavailable
from shared.adapters.keys import PARTITION_KEY, SORT_KEY, key_of
from shared.adapters.service_faults import ServiceRefusal
from shared.adapters.services import DynamoDBClient
from shared.adapters.threads import in_thread

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import (
        BatchGetItemOutputTypeDef,
        KeysAndAttributesOutputTypeDef,
        KeysAndAttributesUnionTypeDef,
    )

Place: TypeAlias = tuple[str, str, str]  # table, partition, sort

MAX_BATCH: Final = 100
_ATTEMPTS = 8
_PAUSE_MS = 10  # doubled with each attempt that brought nothing; the actual pause is anything up to that


@dataclass(frozen=True, slots=True)
class RowsRead:
    """The rows that exist; of `unread` it is not known whether they do."""

    found: dict[Place, Item]
    unread: Collection[Place] = ()


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
    store leaves rows for later, none for no places. Blocking. Raises `Unavailable`.
    """
    left: Mapping[str, KeysAndAttributesUnionTypeDef] = _request(places)
    found: dict[Place, Item] = {}
    fruitless = 0
    while left:
        answer = client.batch_get_item(RequestItems=left)
        found |= _rows_in(answer)
        still = answer.get("UnprocessedKeys") or {}
        fruitless = fruitless + 1 if _count(still) == _count(left) else 0
        if fruitless == _ATTEMPTS:
            raise store_unavailable()
        if fruitless:
            time.sleep(secrets.randbelow(_PAUSE_MS * 2**fruitless) / 1_000)
        left = still
    return found


@of_store
def rows_where_possible(client: DynamoDBClient, places: Sequence[Place], *, dispensable: Collection[Place]) -> RowsRead:
    """Like `rows_of`, but for the `dispensable` ones of `places`: those are asked for once, in the first call. The
    others are neither held up nor lost when these are left unprocessed, or when their table is refused.
    """
    needed = [place for place in places if place not in dispensable]
    if len(needed) == len(places):
        return RowsRead(rows_of(client, places))
    try:
        answer = client.batch_get_item(RequestItems=_request(places))
    except ServiceRefusal:
        if not needed:
            raise
        return RowsRead(rows_of(client, needed), unread=dispensable)
    left = _places_in(answer.get("UnprocessedKeys") or {})
    later = [place for place in needed if place in left]
    return RowsRead(_rows_in(answer) | rows_of(client, later), unread=left - set(later))


def _rows_in(answer: BatchGetItemOutputTypeDef) -> dict[Place, Item]:
    return {
        (table, text_of(item, PARTITION_KEY), text_of(item, SORT_KEY)): item
        for table, items in answer["Responses"].items()
        for item in items
    }


def _places_in(unprocessed: Mapping[str, KeysAndAttributesOutputTypeDef]) -> set[Place]:
    return {
        (table, text_of(key, PARTITION_KEY), text_of(key, SORT_KEY))
        for table, of_table in unprocessed.items()
        for key in of_table["Keys"]
    }


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
