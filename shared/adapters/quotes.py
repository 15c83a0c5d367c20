"""Quotes, one row each."""

from __future__ import annotations

import math
from typing import Final

from shared.adapters.attributes import (
    Item,
    NewItem,
    flag,
    flag_of,
    number,
    number_of,
    optional,
    text,
    text_of,
    whole_of,
)
from shared.adapters.failures import of_store, store_unavailable
from shared.adapters.keys import EXPIRES_AT, ONLY, PARTITION_KEY, key_of
from shared.adapters.rows import row
from shared.adapters.services import DynamoDBClient
from shared.adapters.threads import in_thread
from shared.adapters.unreadable import readable
from shared.domain.alexandria import Holder, Price, Quote, ToolName
from shared.ports.clock import Clock

QUOTE: Final = "QUOTE#"


class DynamoQuotes:
    """Implements `ports.quotes.Quotes`."""

    def __init__(self, client: DynamoDBClient, *, table: str, clock: Clock) -> None:
        self._client = client
        self._table = table
        self._clock = clock

    async def keep(self, quote: Quote) -> None:
        await in_thread(self._put, item_of(quote))

    async def find(self, holder: Holder, quote_id: str) -> Quote | None:
        item = await in_thread(row, self._client, self._table, QUOTE + quote_id, ONLY)
        if item is None:
            return None
        quote = _quote(item)
        if quote is None:
            raise store_unavailable()
        return quote if quote.holder == holder and quote.expires_at > self._clock.now() else None

    @of_store
    def _put(self, item: NewItem) -> None:
        self._client.put_item(TableName=self._table, Item=item)


def item_of(quote: Quote) -> NewItem:
    item = {
        **key_of(QUOTE + quote.id, ONLY),
        **holder_attributes(quote.holder),
        **tool_attributes(quote.tool),
        "source_id": text(quote.source_id),
        "valid_until": number(quote.expires_at),
        EXPIRES_AT: number(math.ceil(quote.expires_at)),
    }
    if quote.price.credits is not None:
        item["credits"] = number(quote.price.credits)
    if quote.price.per_record is not None:
        item["per_record"] = flag(quote.price.per_record)
    return item


def quote_of(item: Item) -> Quote:
    return Quote(
        id=text_of(item, PARTITION_KEY).removeprefix(QUOTE),
        holder=holder_of(item),
        source_id=text_of(item, "source_id"),
        tool=tool_of(item),
        price=Price(credits=optional(item, "credits", whole_of), per_record=optional(item, "per_record", flag_of)),
        expires_at=number_of(item, "valid_until"),
    )


def holder_attributes(holder: Holder) -> NewItem:
    agent = {} if holder.agent_id is None else {"agent_id": text(holder.agent_id)}
    return {"credential_id": text(holder.credential_id), **agent}


def holder_of(item: Item) -> Holder:
    return Holder(text_of(item, "credential_id"), optional(item, "agent_id", text_of))


def tool_attributes(tool: ToolName) -> NewItem:
    return {"tool_provider": text(tool.provider), "tool_capability": text(tool.capability)}


def tool_of(item: Item) -> ToolName:
    return ToolName(text_of(item, "tool_provider"), text_of(item, "tool_capability"))


_quote = readable(quote_of)
