"""What `ports.quotes.Quotes` promises."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from shared.domain.alexandria import Holder, Price, Quote
from shared.errors import Unavailable
from tests.contract.far_ahead import NOW
from tests.contract.worlds import StoreWorld, World
from tests.support.alexandria_fakes import HOLDER, a_quote
from tests.support.search_stage import RecordedLog


def quoted(**over: Any) -> Quote:
    return a_quote(expires_at=NOW + 600, **over)


@pytest.mark.parametrize("agent_id", [None, "agent-seven"])
@pytest.mark.parametrize(
    "price",
    [Price(), Price(credits=0, per_record=False), Price(credits=7, per_record=True), Price(per_record=True)],
    ids=["unknown", "free", "for_each_record", "unknown_for_each_record"],
)
async def test_a_quote_is_read_as_it_was_kept(world: World, price: Price, agent_id: str | None) -> None:
    holder = Holder(HOLDER.credential_id, agent_id)
    quote = quoted(price=price, holder=holder)
    await world.quotes().keep(quote)
    assert await world.quotes().find(holder, quote.id) == quote


async def test_a_quote_belongs_to_its_credential_and_its_agent(world: World) -> None:
    one = quoted(id="aq_one")
    named = quoted(id="aq_named", holder=replace(HOLDER, agent_id="agent-seven"))
    for quote in (one, named):
        await world.quotes().keep(quote)
    others = [HOLDER, named.holder, Holder("bbbbbbbbbbbbbbbb"), replace(HOLDER, agent_id="agent-eight")]
    for quote in (one, named):
        found = [await world.quotes().find(holder, quote.id) for holder in others]
        assert [holder for holder, each in zip(others, found, strict=True) if each] == [quote.holder]


async def test_an_unknown_quote_is_none(world: World) -> None:
    assert await world.quotes().find(HOLDER, "aq_unknown") is None


async def test_a_quote_ends_at_its_very_moment(world: World) -> None:
    quote = a_quote(expires_at=NOW + 0.25)
    await world.quotes().keep(quote)
    world.clock.advance(0.125)
    assert await world.quotes().find(HOLDER, quote.id) == quote
    world.clock.advance(0.125)
    assert await world.quotes().find(HOLDER, quote.id) is None


@pytest.mark.emulator
async def test_a_row_that_cannot_be_read_is_unavailable(store: StoreWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shared.adapters.unreadable._logger", RecordedLog())
    quote = quoted()
    await store.quotes().keep(quote)
    key = {"pk": {"S": "QUOTE#" + quote.id}, "sk": {"S": "-"}}
    store.clients.dynamodb.update_item(
        TableName=store.internal_ledger, Key=key, UpdateExpression="REMOVE tool_provider"
    )
    with pytest.raises(Unavailable):
        await store.quotes().find(HOLDER, quote.id)


@pytest.mark.emulator
async def test_the_row_ends_with_the_quote(store: StoreWorld) -> None:
    quote = a_quote(expires_at=NOW + 600.25)
    await store.quotes().keep(quote)
    key = {"pk": {"S": "QUOTE#" + quote.id}, "sk": {"S": "-"}}
    item = store.clients.dynamodb.get_item(TableName=store.internal_ledger, Key=key)["Item"]
    assert item["expires_at"] == {"N": str(int(NOW) + 601)}
