"""Receipts of executions, one row each: written before anything is sent, and once more when the outcome is known."""

from __future__ import annotations

from typing import Final

from shared.adapters.attributes import Item, NewItem, number, number_of, optional, text, text_of, whole_of
from shared.adapters.failures import CONDITION_FAILED, code_of, of_store, store_unavailable
from shared.adapters.keys import EXPIRES_AT, PARTITION_KEY, key_of
from shared.adapters.quotes import holder_attributes, holder_of, tool_attributes, tool_of
from shared.adapters.rows import row
from shared.adapters.service_faults import ServiceRefusal
from shared.adapters.services import DynamoDBClient
from shared.adapters.threads import in_thread
from shared.adapters.unreadable import readable
from shared.domain.alexandria import Holder, Receipt, ReceiptState, Trouble
from shared.ports.clock import Clock

RECEIPT: Final = "RECEIPT#"
_place_is_free: Final = (
    "attribute_not_exists(#pk) OR #expires_at <= :now OR (#state = :refused AND #fingerprint = :fingerprint)"
)
_is_still_mine: Final = "#claim = :claim AND #state = :started"
_FREE_NAMES: Final = {"#pk": PARTITION_KEY, "#expires_at": EXPIRES_AT, "#state": "state", "#fingerprint": "fingerprint"}
_MINE_NAMES: Final = {"#claim": "claim", "#state": "state"}


class DynamoReceipts:
    """Implements `ports.receipts.Receipts`."""

    def __init__(self, client: DynamoDBClient, *, table: str, clock: Clock) -> None:
        self._client = client
        self._table = table
        self._clock = clock

    async def find(self, holder: Holder, request_id: str) -> Receipt | None:
        return await in_thread(self._find, holder, request_id)

    async def begin(self, receipt: Receipt) -> Receipt | None:
        return await in_thread(self._begin, receipt)

    async def settle(self, receipt: Receipt) -> None:
        await in_thread(self._settle, receipt)

    def _find(self, holder: Holder, request_id: str) -> Receipt | None:
        """A receipt that cannot be read is `Unavailable`: taking it for absent could send something twice."""
        item = row(self._client, self._table, RECEIPT + holder.credential_id, sort_of(holder, request_id))
        if item is None:
            return None
        receipt = _receipt(item)
        if receipt is None:
            raise store_unavailable()
        return receipt if receipt.expires_at > self._clock.now() else None

    def _begin(self, receipt: Receipt) -> Receipt | None:
        if self._put_where_free(receipt):
            return None
        there = self._find(receipt.holder, receipt.request_id)
        if there is None:
            raise store_unavailable()  # it ended this very moment
        # The client repeats a write whose answer was lost, and finds its own row in the way.
        return None if there.claim == receipt.claim else there

    @of_store
    def _put_where_free(self, receipt: Receipt) -> bool:
        values = {
            ":now": number(self._clock.now()),
            ":refused": text(ReceiptState.REFUSED),
            ":fingerprint": text(receipt.fingerprint),
        }
        try:
            self._client.put_item(
                TableName=self._table,
                Item=item_of(receipt),
                ConditionExpression=_place_is_free,
                ExpressionAttributeNames=_FREE_NAMES,
                ExpressionAttributeValues=values,
            )
        except ServiceRefusal as fault:
            return _unless_refused(fault)
        return True

    @of_store
    def _settle(self, receipt: Receipt) -> None:
        try:
            self._client.put_item(
                TableName=self._table,
                Item=item_of(receipt),
                ConditionExpression=_is_still_mine,
                ExpressionAttributeNames=_MINE_NAMES,
                ExpressionAttributeValues={":claim": text(receipt.claim), ":started": text(ReceiptState.STARTED)},
            )
        except ServiceRefusal as fault:
            _unless_refused(fault)


def _unless_refused(fault: ServiceRefusal) -> bool:
    """False for a condition that does not hold; every other fault is raised again."""
    if code_of(fault) != CONDITION_FAILED:
        raise fault
    return False


def sort_of(holder: Holder, request_id: str) -> str:
    """Agents that share a credential do not share request ids. Neither part can hold a blank."""
    return request_id if holder.agent_id is None else f"{request_id} {holder.agent_id}"


def item_of(receipt: Receipt) -> NewItem:
    item = {
        **key_of(RECEIPT + receipt.holder.credential_id, sort_of(receipt.holder, receipt.request_id)),
        **holder_attributes(receipt.holder),
        **tool_attributes(receipt.tool),
        "request_id": text(receipt.request_id),
        "fingerprint": text(receipt.fingerprint),
        "claim": text(receipt.claim),
        "quote_id": text(receipt.quote_id),
        "state": text(receipt.state),
        "started_at": number(receipt.started_at),
        EXPIRES_AT: number(receipt.expires_at),
    }
    if receipt.trouble is not None:
        item["trouble"] = text(receipt.trouble)
    numbers = {"settled_at": receipt.settled_at, "credits": receipt.credits, "retry_at": receipt.retry_at}
    return item | {name: number(value) for name, value in numbers.items() if value is not None}


def receipt_of(item: Item) -> Receipt:
    trouble = optional(item, "trouble", text_of)
    return Receipt(
        holder=holder_of(item),
        request_id=text_of(item, "request_id"),
        fingerprint=text_of(item, "fingerprint"),
        claim=text_of(item, "claim"),
        quote_id=text_of(item, "quote_id"),
        tool=tool_of(item),
        started_at=number_of(item, "started_at"),
        state=ReceiptState(text_of(item, "state")),
        settled_at=optional(item, "settled_at", number_of),
        credits=optional(item, "credits", whole_of),
        trouble=None if trouble is None else Trouble(trouble),
        retry_at=optional(item, "retry_at", number_of),
    )


_receipt = readable(receipt_of)
