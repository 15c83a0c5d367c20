"""Writing several rows or none. Each part says what it means when its condition does not hold."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from shared.adapters.attributes import Item, NewItem
from shared.adapters.expressions import CONFLICTS, names_in
from shared.adapters.failures import code_of, of_store, store_unavailable
from shared.adapters.service_faults import ServiceRefusal
from shared.adapters.services import DynamoDBClient
from shared.adapters.threads import in_thread
from shared.domain.identifiers import new_nonce
from shared.errors import Conflict, GatewayError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

# Told what lies there (None: nothing) when the condition of a part does not hold.
Refusal: TypeAlias = Callable[["Item | None"], GatewayError]

_ATTEMPTS = 6
_PAUSE_MS = 20  # doubled with each attempt; the actual pause is anything up to that
_CONFLICT = "TransactionConflict"
_IN_PROGRESS = "TransactionInProgress"


class Moved(GatewayError):
    """Something that was read beforehand has changed since: read again and try anew. Never leaves the adapters."""


@dataclass(frozen=True, slots=True)
class Part:
    """`refusal` makes the error for a condition that does not hold; `action` is in the service's own words."""

    action: TransactWriteItemTypeDef
    refusal: Refusal


@dataclass(frozen=True, slots=True)
class _Reason:
    """Why one part kept the whole from being written; the code is `None` for a part that did not."""

    code: str
    found: Item | None = None


def refused_as(problem: Callable[[], GatewayError]) -> Refusal:
    """Whatever lies there."""
    return lambda _found: problem()


def busy() -> Conflict:
    return Conflict("Others are changing the same things. Try again.", code="busy", retry_after_s=1)


def moved() -> Moved:
    return Moved("moved")


def put(table: str, item: NewItem, *, refusal: Refusal, condition: str = "", values: Item | None = None) -> Part:
    return _part("Put", {"TableName": table, "Item": item}, condition=condition, values=values, refusal=refusal)


def delete(table: str, key: NewItem, *, refusal: Refusal, condition: str = "", values: Item | None = None) -> Part:
    return _part("Delete", {"TableName": table, "Key": key}, condition=condition, values=values, refusal=refusal)


def check(table: str, key: NewItem, *, refusal: Refusal, condition: str, values: Item | None = None) -> Part:
    return _part(
        "ConditionCheck", {"TableName": table, "Key": key}, condition=condition, values=values, refusal=refusal
    )


def update(
    table: str, key: NewItem, *, refusal: Refusal, change: str, condition: str = "", values: Item | None = None
) -> Part:
    """`change` is what becomes of the row, made where there is none."""
    action = {"TableName": table, "Key": key, "UpdateExpression": change}
    return _part("Update", action, condition=condition, values=values, refusal=refusal)


def _part(verb: str, action: dict[str, Any], *, condition: str, values: Item | None, refusal: Refusal) -> Part:
    if condition:
        action |= {"ConditionExpression": condition, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    if names := names_in(f"{action.get('UpdateExpression', '')} {condition}"):
        action["ExpressionAttributeNames"] = names
    if values:
        action["ExpressionAttributeValues"] = values
    return Part(cast("TransactWriteItemTypeDef", {verb: action}), refusal)


async def commit(client: DynamoDBClient, parts: Sequence[Part]) -> None:
    """Writes all parts or none. Where several conditions do not hold, the first part's refusal counts.

    A conflict with another write in flight is tried again some times. Where an earlier copy of this very write is said
    to be in flight, its outcome is asked for under the same token: another one would meet what it has written. Raises
    the parts' refusals, `Conflict` (`busy`), `Unavailable`.
    """
    token = new_nonce()
    for attempt in range(_ATTEMPTS):
        reasons = await in_thread(_write, client, parts, token)
        if not reasons:
            return
        for part, reason in zip(parts, reasons, strict=True):
            if reason.code == "ConditionalCheckFailed":
                raise part.refusal(reason.found)
        codes = {reason.code for reason in reasons}
        if not codes & {_CONFLICT, _IN_PROGRESS}:
            raise store_unavailable()
        if _IN_PROGRESS not in codes:
            token = new_nonce()
        await asyncio.sleep(secrets.randbelow(_PAUSE_MS * 2**attempt) / 1_000)
    raise store_unavailable() if _IN_PROGRESS in codes else busy()


@of_store
def _write(client: DynamoDBClient, parts: Sequence[Part], token: str) -> list[_Reason]:
    """Why nothing is known to be written, part by part; an empty list when all was."""
    try:
        client.transact_write_items(TransactItems=[part.action for part in parts], ClientRequestToken=token)
    except ServiceRefusal as refusal:
        code = code_of(refusal)
        if code in CONFLICTS:
            return [_Reason(code.removesuffix("Exception"))] * len(parts)
        reasons = _reasons_in(refusal) if code == "TransactionCanceledException" else []
        if len(reasons) != len(parts):
            raise
        return reasons
    return []


def _reasons_in(refusal: ServiceRefusal) -> list[_Reason]:
    reasons = refusal.document.get("CancellationReasons") or []
    return [_Reason(code=str(reason.get("Code")), found=reason.get("Item")) for reason in reasons]
