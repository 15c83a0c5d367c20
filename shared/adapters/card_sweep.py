"""Clearing away what a deleted collection has left, some rows at a time. Blocking."""

from __future__ import annotations

from shared.adapters.attributes import NewItem, text
from shared.adapters.card_items import CARDS, COLLECTIONS, KEYS, collection_of
from shared.adapters.failures import CONDITION_FAILED, code_of, of_store, store_unavailable
from shared.adapters.keys import PARTITION_KEY, SORT_KEY, key_of
from shared.adapters.rows import row, rows
from shared.adapters.service_faults import ServiceRefusal
from shared.adapters.services import DynamoDBClient
from shared.adapters.unreadable import readable
from shared.domain.cards import CollectionStatus

_in_partition = "#pk = :pk"
_is_deleting = "#status = :deleting"
_its_key = "#pk, #sk"
_BATCH = 25
_ATTEMPTS = 8
_collection = readable(collection_of)


def deleting(client: DynamoDBClient, table: str, *, limit: int) -> tuple[str, ...]:
    """Raises `Unavailable`."""
    every = (_collection(item) for item in rows(client, table, COLLECTIONS))
    gone = [one.id for one in every if one and one.status is CollectionStatus.DELETING]
    return tuple(gone[:limit])


def sweep(client: DynamoDBClient, table: str, collection_id: str, *, limit: int) -> bool:
    """Raises `Unavailable`; `ValueError` for a collection that is not being deleted: nothing of it is touched."""
    item = row(client, table, COLLECTIONS, collection_id)
    if item is None:
        return True
    if item.get("status") != {"S": CollectionStatus.DELETING.value}:
        raise ValueError("this collection is not being deleted")
    left = limit
    for partition in (CARDS + collection_id, KEYS + collection_id):
        places, is_all = _some_of(client, table, partition, limit=left)
        _delete(client, table, places)
        left -= len(places)
        if not is_all or left <= 0:
            return False
    _delete_tombstone(client, table, collection_id)
    return True


@of_store
def _some_of(client: DynamoDBClient, table: str, partition: str, *, limit: int) -> tuple[list[NewItem], bool]:
    """The first rows, and whether these are all: large ones fill a page long before the limit does."""
    answer = client.query(
        TableName=table,
        ConsistentRead=True,
        Limit=limit,
        KeyConditionExpression=_in_partition,
        ProjectionExpression=_its_key,
        ExpressionAttributeNames={"#pk": PARTITION_KEY, "#sk": SORT_KEY},
        ExpressionAttributeValues={":pk": text(partition)},
    )
    return list(answer["Items"]), "LastEvaluatedKey" not in answer


@of_store
def _delete(client: DynamoDBClient, table: str, places: list[NewItem]) -> None:
    for at in range(0, len(places), _BATCH):
        left = [{"DeleteRequest": {"Key": place}} for place in places[at : at + _BATCH]]
        for _ in range(_ATTEMPTS):
            answer = client.batch_write_item(RequestItems={table: left})  # type: ignore[dict-item]
            left = answer.get("UnprocessedItems", {}).get(table, [])  # type: ignore[assignment]
            if not left:
                break
        else:
            raise store_unavailable()


@of_store
def _delete_tombstone(client: DynamoDBClient, table: str, collection_id: str) -> None:
    try:
        client.delete_item(
            TableName=table,
            Key=key_of(COLLECTIONS, collection_id),
            ConditionExpression=_is_deleting,
            ExpressionAttributeNames={"#status": "status"},
            ExpressionAttributeValues={":deleting": text(CollectionStatus.DELETING)},
        )
    except ServiceRefusal as refusal:
        if code_of(refusal) != CONDITION_FAILED:  # gone already: another run was quicker
            raise
