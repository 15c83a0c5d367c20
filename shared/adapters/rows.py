"""Reading rows: one by its key, or a partition in order. Always strongly consistent. Blocking."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from shared.adapters.attributes import Item, NewItem
from shared.adapters.failures import of_store
from shared.adapters.keys import PARTITION_KEY, SORT_KEY, key_of
from shared.adapters.services import DynamoDBClient

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import QueryInputTypeDef

T = TypeVar("T")

_in_partition = "#pk = :pk"
_behind = "#sk > :sk"
_before = "#sk < :sk"
_NAMES = {"#pk": PARTITION_KEY, "#sk": SORT_KEY}
_PAGE_ROWS = 250


@of_store
def row(client: DynamoDBClient, table: str, partition: str, sort: str) -> Item | None:
    """Raises `Unavailable`."""
    return client.get_item(TableName=table, Key=key_of(partition, sort), ConsistentRead=True).get("Item")


def rows(
    client: DynamoDBClient,
    table: str,
    partition: str,
    *,
    after: str | None = None,
    newest_first: bool = False,
    page_rows: int = _PAGE_ROWS,
) -> Iterator[Item]:
    """A partition in the order of its sort keys, or backwards; `after` is left out. Raises `Unavailable`."""
    query: QueryInputTypeDef = {
        "TableName": table,
        "ConsistentRead": True,
        "ScanIndexForward": not newest_first,
        "Limit": page_rows,
        "KeyConditionExpression": _in_partition,
        "ExpressionAttributeNames": {"#pk": PARTITION_KEY},
        "ExpressionAttributeValues": {":pk": {"S": partition}},
    }
    if after is not None:
        beyond = _before if newest_first else _behind
        query["KeyConditionExpression"] = f"{_in_partition} AND {beyond}"
        query["ExpressionAttributeNames"] = _NAMES
        query["ExpressionAttributeValues"] = {":pk": {"S": partition}, ":sk": {"S": after}}
    while True:
        items, last = _page(client, query)
        yield from items
        if last is None:
            return
        query["ExclusiveStartKey"] = last


def first(found: Iterator[Item], read: Callable[[Item], T | None], *, limit: int) -> list[T]:
    """The first `limit` things that `read` accepts, however many rows have to be looked at for them."""
    accepted = (thing for item in found if (thing := read(item)) is not None)
    return list(islice(accepted, limit))


@of_store
def _page(client: DynamoDBClient, query: QueryInputTypeDef) -> tuple[list[NewItem], NewItem | None]:
    answer = client.query(**query)
    return answer["Items"], answer.get("LastEvaluatedKey")
