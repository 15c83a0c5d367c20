"""Operations whose end nobody knows: from a fifth of the limit on, every further operation says so in the log."""

from __future__ import annotations

import pytest

from shared.adapters import allowances
from shared.domain.allowances import LEASE_S, Allowance
from shared.domain.pools import Pool
from shared.errors import Refused
from tests.contract.test_allowances import POOL, set_limit
from tests.contract.worlds import StoreWorld
from tests.support.builders import NOW
from tests.support.search_stage import RecordedLog


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> RecordedLog:
    heard = RecordedLog()
    monkeypatch.setattr(allowances, "_logger", heard)
    return heard


async def leave_unsettled(world: StoreWorld, units: int) -> None:
    for _ in range(units):
        await world.allowances().reserve(POOL)
    world.clock.advance(LEASE_S + 1)


@pytest.mark.emulator
async def test_below_a_fifth_nothing_is_said(store: StoreWorld, heard: RecordedLog) -> None:
    await set_limit(store, 11)
    await leave_unsettled(store, 2)
    await store.allowances().reserve(POOL)
    assert heard.lines == []


@pytest.mark.emulator
async def test_from_a_fifth_on_every_operation_says_so(store: StoreWorld, heard: RecordedLog) -> None:
    await set_limit(store, 10)
    await leave_unsettled(store, 2)
    for _ in range(2):
        await store.allowances().reserve(POOL)
    said = ("warning", "pool.units_ask_for_review", {"pool": Pool.EXA, "unknown": 2, "limit": 10})
    assert heard.lines == [said, said]


@pytest.mark.emulator
async def test_so_does_an_operation_that_is_refused(store: StoreWorld, heard: RecordedLog) -> None:
    await set_limit(store, 1)
    await leave_unsettled(store, 1)
    with pytest.raises(Refused):
        await store.allowances().reserve(POOL)
    assert [fields["unknown"] for fields in heard.of("pool.units_ask_for_review")] == [1]


def test_a_closed_pool_asks_for_nothing() -> None:
    assert not Allowance(pool=POOL, limit=0, unknown=3).asks_for_review_at(NOW)
    assert Allowance(pool=POOL, limit=15, unknown=3).asks_for_review_at(NOW)
