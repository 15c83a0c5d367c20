"""What `ports.journal.Journal` and `JournalReader` promise."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from shared.adapters.journal import DynamoJournal
from shared.adapters.journal_reader import DynamoJournalReader
from shared.domain.circuits import CircuitState, Lane
from shared.domain.health import HealthState
from shared.domain.journal import Happening, JournalEntry
from shared.domain.outcomes import OutcomeCode
from shared.errors import Unavailable
from tests.contract.far_ahead import NOW
from tests.contract.invariants import rows_in
from tests.contract.stubs import StubClient, refusal
from tests.contract.worlds import StoreWorld, World
from tests.support.fakes import FakeClock

ONE, TWO = "cs_aaaaaaaaaaaaaaaa", "cs_bbbbbbbbbbbbbbbb"
MONTH_S = 30 * 86_400.0
OPENED = JournalEntry(
    provider_id=ONE,
    at=NOW,
    happening=Happening.CIRCUIT_OPENED,
    state=CircuitState.OPEN,
    lane=Lane.AGENT,
    code=OutcomeCode.TIMEOUT,
    until=NOW + 31.25,
)
SEEN = JournalEntry(provider_id=ONE, at=NOW + 1.5, happening=Happening.STATE_CHANGED, state=HealthState.HEALTHY)


async def test_of_a_provider_of_which_nothing_is_noted_there_is_nothing(world: World) -> None:
    assert await world.journal_reader(Lane.AGENT).latest(ONE, limit=10) == ()


async def test_what_was_noted_is_read_newest_first(world: World) -> None:
    await world.journal(Lane.AGENT).note([SEEN])
    await world.journal(Lane.AGENT).note([OPENED])
    assert await world.journal_reader(Lane.AGENT).latest(ONE, limit=10) == (SEEN, OPENED)
    assert await world.journal_reader(Lane.AGENT).latest(ONE, limit=1) == (SEEN,)


async def test_every_happening_can_be_noted(quick_world: World) -> None:
    entries = [replace(OPENED, happening=each, at=NOW + number) for number, each in enumerate(Happening)]
    await quick_world.journal(Lane.AGENT).note(entries)
    assert await quick_world.journal_reader(Lane.AGENT).latest(ONE, limit=10) == tuple(reversed(entries))


async def test_entries_of_the_same_moment_are_all_kept(world: World) -> None:
    await world.journal(Lane.AGENT).note([OPENED] * 3)
    assert await world.journal_reader(Lane.AGENT).latest(ONE, limit=10) == (OPENED,) * 3


async def test_each_provider_and_each_lane_has_its_own(world: World) -> None:
    other = replace(OPENED, provider_id=TWO)
    await world.journal(Lane.AGENT).note([OPENED, other])
    await world.journal(Lane.CUSTOMER).note([replace(OPENED, lane=Lane.CUSTOMER)])
    assert await world.journal_reader(Lane.AGENT).latest(TWO, limit=10) == (other,)
    assert await world.journal_reader(Lane.AGENT).latest(ONE, limit=10) == (OPENED,)
    assert await world.journal_reader(Lane.CUSTOMER).latest(TWO, limit=10) == ()


async def test_that_a_provider_was_taken_out_of_use_is_kept_once_for_a_lane_and_a_moment(world: World) -> None:
    lost = replace(OPENED, happening=Happening.AUTO_DISABLED, state="auto_disabled", lane=Lane.AGENT, until=None)
    customers, later = replace(lost, lane=Lane.CUSTOMER), replace(lost, at=lost.at + 1)
    for entries in ([lost], [lost, customers], [later]):
        await world.journal(Lane.AGENT).note(entries)
    found = await world.journal_reader(Lane.AGENT).latest(ONE, limit=10)
    assert found[0] == later
    assert set(found[1:]) == {lost, customers}
    assert len(found) == 3


async def test_what_is_older_than_thirty_days_is_not_read_any_more(world: World) -> None:
    await world.journal(Lane.AGENT).note([OPENED, SEEN])
    world.clock.advance(MONTH_S)
    assert await world.journal_reader(Lane.AGENT).latest(ONE, limit=10) == (SEEN,)
    world.clock.advance(2)
    assert await world.journal_reader(Lane.AGENT).latest(ONE, limit=10) == ()


async def test_more_than_a_page_is_read_in_order(quick_world: World) -> None:
    entries = [replace(OPENED, at=NOW + number / 8) for number in range(250)]
    await quick_world.journal(Lane.AGENT).note(entries)
    found = await quick_world.journal_reader(Lane.AGENT).latest(ONE, limit=240)
    assert [entry.at for entry in found] == [NOW + number / 8 for number in range(249, 9, -1)]


# --- the real adapters ---
@pytest.mark.emulator
async def test_the_store_is_told_when_to_clear_away(store: StoreWorld) -> None:
    await store.journal(Lane.AGENT).note([OPENED])
    [item] = rows_in(store, store.internal_ledger).items
    assert item["pk"]["S"] == f"HISTORY#{ONE}"
    assert item["expires_at"] == {"N": str(int(NOW + MONTH_S))}


@pytest.mark.emulator
async def test_an_entry_that_cannot_be_read_is_left_out(store: StoreWorld) -> None:
    await store.journal(Lane.AGENT).note([OPENED, SEEN])
    [newest] = [item for item in rows_in(store, store.internal_ledger).items if "lane" not in item]
    spoiled = newest | {"happening": {"S": "something_of_tomorrow"}}
    store.clients.dynamodb.put_item(TableName=store.internal_ledger, Item=spoiled)
    assert await store.journal_reader(Lane.AGENT).latest(ONE, limit=1) == (OPENED,)


async def test_nothing_to_note_costs_nothing() -> None:
    client: Any = StubClient({})
    await DynamoJournal(client, table="table-l").note([])
    assert client.calls == []


@pytest.mark.parametrize("code", ["ThrottlingException", "AccessDeniedException"])
async def test_a_store_that_cannot_be_used_is_unavailable(code: str) -> None:
    client: Any = StubClient(refusal(code))
    with pytest.raises(Unavailable):
        await DynamoJournal(client, table="table-l").note([OPENED, SEEN])
    with pytest.raises(Unavailable):
        await DynamoJournalReader(client, table="table-l", clock=FakeClock()).latest(ONE, limit=1)
