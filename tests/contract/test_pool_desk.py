"""What `ports.pool_desk.PoolDesk` promises: like the ledger's writes, and never without a line of the audit."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from shared.adapters.pool_desk import DynamoPoolDesk
from shared.domain.audit import AuditEntry
from shared.domain.key_pools import MAX_KEYS, PoolState, Rest, fingerprint_of_key
from shared.domain.pools import Pool
from shared.errors import Conflict, Unavailable
from tests.contract.far_ahead import NOW, a_change
from tests.contract.stubs import StubClient, refusal
from tests.contract.worlds import StoreWorld, World
from tests.support.fakes import FakeClock

ONE, TWO, THREE = (fingerprint_of_key(Pool.EXA, f"k-demo-{number}") for number in range(3))
REST = Rest(NOW + 600, "operator")
EARLIER = Rest(NOW + 60, "operator")


async def audited(world: World) -> tuple[AuditEntry, ...]:
    return (await world.audit_log().page(limit=100, after=None)).items


async def test_every_instance_sees_what_an_operator_wrote(quick_world: World) -> None:
    written = await quick_world.pool_desk().rest(Pool.EXA, ONE, REST, active=TWO, change=a_change())

    assert written == PoolState(active=TWO, rests={ONE: REST})
    assert await quick_world.pool_ledger().state(Pool.EXA) == written
    assert await quick_world.pool_ledger().state(Pool.FIRECRAWL) == PoolState()


async def test_the_entry_of_the_audit_is_written_with_it(quick_world: World) -> None:
    rested, woken = a_change(), a_change(at=NOW + 1)
    await quick_world.pool_desk().rest(Pool.EXA, ONE, REST, active=None, change=rested)
    await quick_world.pool_desk().wake(Pool.EXA, [ONE], change=woken)

    assert await audited(quick_world) == (woken.audit, rested.audit)


async def test_without_a_key_to_use_the_one_in_use_stays(quick_world: World) -> None:
    await quick_world.pool_ledger().rest(Pool.EXA, [ONE], Rest(NOW + 5, "rate"), active=TWO)
    written = await quick_world.pool_desk().rest(Pool.EXA, THREE, REST, active=None, change=a_change())

    assert (written.active, set(written.rests)) == (TWO, {ONE, THREE})


async def test_a_rest_that_ends_later_stays_and_nothing_is_written(quick_world: World) -> None:
    quota = Rest(NOW + 600, "quota")
    await quick_world.pool_ledger().rest(Pool.EXA, [ONE], quota, active=TWO)
    for rest in (EARLIER, REST):
        written = await quick_world.pool_desk().rest(Pool.EXA, ONE, rest, active=THREE, change=a_change())
        assert written == PoolState(active=TWO, rests={ONE: quota})
    assert await audited(quick_world) == ()


async def test_a_refusal_lengthens_what_an_operator_set(quick_world: World) -> None:
    quota = Rest(NOW + 900, "quota")
    await quick_world.pool_desk().rest(Pool.EXA, ONE, REST, active=TWO, change=a_change())

    assert (await quick_world.pool_ledger().rest(Pool.EXA, [ONE], quota, active=TWO)).rests == {ONE: quota}


async def test_waking_ends_the_named_rests_alone(quick_world: World) -> None:
    await quick_world.pool_ledger().rest(Pool.EXA, [ONE, TWO, THREE], REST, active=ONE)
    written = await quick_world.pool_desk().wake(Pool.EXA, [THREE, ONE, ONE], change=a_change())

    assert written == PoolState(active=ONE, rests={TWO: REST})


async def test_waking_where_nothing_rests_is_no_error(quick_world: World) -> None:
    assert await quick_world.pool_desk().wake(Pool.EXA, [ONE], change=a_change()) == PoolState()


async def test_a_full_pool_is_woken_at_once(quick_world: World) -> None:
    every = [fingerprint_of_key(Pool.EXA, f"k-demo-{number}") for number in range(MAX_KEYS)]
    await quick_world.pool_ledger().rest(Pool.EXA, every, REST, active=every[0])

    assert (await quick_world.pool_desk().wake(Pool.EXA, every, change=a_change())).rests == {}


@pytest.mark.emulator
async def test_of_many_operators_at_once_the_longest_rest_wins(store: StoreWorld) -> None:
    async def rest(seconds: int) -> None:
        wanted = Rest(NOW + seconds, "operator")
        while True:
            with contextlib.suppress(Conflict):  # others were writing: an operator would try again
                await store.pool_desk().rest(Pool.EXA, ONE, wanted, active=None, change=a_change(at=NOW + seconds))
                return

    await asyncio.gather(*(rest(seconds) for seconds in range(1, 9)))
    entries = await audited(store)

    assert (await store.pool_ledger().state(Pool.EXA)).rests == {ONE: Rest(NOW + 8, "operator")}
    assert 1 <= len(entries) <= 8
    assert entries[0].at == NOW + 8


@pytest.mark.parametrize("code", ["ProvisionedThroughputExceededException", "AccessDeniedException"])
async def test_a_store_that_fails_is_unavailable(code: str) -> None:
    client = StubClient(refusal(code))
    desk = DynamoPoolDesk(client, table="table-l", audit_table="table-a", clock=FakeClock())
    for operation in (
        desk.rest(Pool.EXA, ONE, REST, active=TWO, change=a_change()),
        desk.wake(Pool.EXA, [ONE], change=a_change()),
    ):
        with pytest.raises(Unavailable):
            await operation
    assert client.calls == ["transact_write_items", "transact_write_items"]


async def test_a_pool_that_others_keep_changing_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shared.adapters.transactions._PAUSE_MS", 1)
    client = StubClient(refusal("TransactionCanceledException", reasons=["TransactionConflict", "None"]))
    desk = DynamoPoolDesk(client, table="table-l", audit_table="table-a", clock=FakeClock())
    with pytest.raises(Conflict) as busy:
        await desk.wake(Pool.EXA, [ONE], change=a_change())
    assert busy.value.code == "busy"
