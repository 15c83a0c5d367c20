"""Changing one row in place, in one write and on a condition. Blocking."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from shared.adapters.attributes import Item, NewItem
from shared.adapters.expressions import CONFLICTS, names_in
from shared.adapters.failures import CONDITION_FAILED, code_of, of_store, store_unavailable
from shared.adapters.service_faults import ServiceRefusal
from shared.adapters.services import DynamoDBClient

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import UpdateItemInputTypeDef

_ATTEMPTS = 6
_PAUSE_MS: Final = 20  # doubled with each attempt; the actual pause is anything up to that


@dataclass(frozen=True, slots=True)
class Updated:
    """`row` as it is now, or, where the condition did not hold and nothing was written, as it was found."""

    is_done: bool
    row: Item


@of_store
def update_row(
    client: DynamoDBClient,
    table: str,
    key: NewItem,
    change: str,
    *,
    condition: str = "",
    values: Item | None = None,
    names: Mapping[str, str] | None = None,
) -> Updated:
    """`change` and `condition` write every attribute as `#name`; `names` says which one that is where it differs. A
    transaction under way on the same row is waited for. Raises `Unavailable`.
    """
    request: UpdateItemInputTypeDef = {
        "TableName": table,
        "Key": key,
        "UpdateExpression": change,
        "ExpressionAttributeNames": names_in(f"{change} {condition}") | dict(names or {}),
        "ReturnValues": "ALL_NEW",
    }
    if condition:
        request["ConditionExpression"] = condition
        request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    if values:
        request["ExpressionAttributeValues"] = values
    for attempt in range(_ATTEMPTS):
        updated = _try(client, request)
        if updated is not None:
            return updated
        time.sleep(secrets.randbelow(_PAUSE_MS * 2**attempt) / 1_000)
    raise store_unavailable()


def _try(client: DynamoDBClient, request: UpdateItemInputTypeDef) -> Updated | None:
    """None when a transaction holds the row."""
    try:
        return Updated(is_done=True, row=client.update_item(**request).get("Attributes", {}))
    except ServiceRefusal as refusal:
        code = code_of(refusal)
        if code in CONFLICTS:
            return None
        if code != CONDITION_FAILED:
            raise
        return Updated(is_done=False, row=refusal.document.get("Item", {}))
