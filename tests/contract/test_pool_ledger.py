"""What `ports.pool_ledger.PoolLedger` promises, and how many calls it costs."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from shared.adapters.failures import CONDITION_FAILED
from shared.adapters.pool_ledger import DynamoPoolLedger
from shared.adapters.service_faults import ServiceRefusal
from shared.domain.key_pools import MAX_KEYS, PoolState, Rest, fingerprint_of_key
from shared.domain.pools import Pool
from shared.errors import Unavailable
from tests.contract.far_ahead import NOW
from tests.contract.invariants import rows_in
from tests.contract.stubs import Meddling, StubClient, refusal
from tests.contract.worlds import StoreWorld, World
from tests.support.fakes import FakeClock

ONE, TWO, THREE = (fingerprint_of_key(Pool.EXA, f"k-demo-{number}") for number in range(3))
QUOTA = Rest(NOW + 600, "quota")
EARLIER = Rest(NOW + 60, "rate")
LATER = Rest(NOW + 900, "rate")


async def test_a_pool_nobody_wrote_about_is_free(quick_world: World) -> None:
    assert await quick_world.pool_ledger().state(Pool.EXA) == PoolState()


async def test_every_instance_sees_what_one_wrote(quick_world: World) -> None:
    written = await quick_world.pool_ledger().rest(Pool.EXA, [ONE, TWO], QUOTA, active=THREE)
    assert written == PoolState(active=THREE, rests={ONE: QUOTA, TWO: QUOTA})
    assert await quick_world.pool_ledger().state(Pool.EXA) == written
    assert await quick_world.pool_ledger().state(Pool.FIRECRAWL) == PoolState()


async def test_a_time_is_read_back_to_the_last_digit(quick_world: World) -> None:
    exact = Rest(NOW + 0.1234567, "operator")
    await quick_world.pool_ledger().rest(Pool.EXA, [ONE], exact, active=TWO)
    assert (await quick_world.pool_ledger().state(Pool.EXA)).rests[ONE] == exact


async def test_a_rest_never_ends_earlier(quick_world: World) -> None:
    ledger = quick_world.pool_ledger()
    await ledger.rest(Pool.EXA, [ONE], QUOTA, active=TWO)
    assert await ledger.rest(Pool.EXA, [ONE], EARLIER, active=THREE) == PoolState(active=TWO, rests={ONE: QUOTA})
    assert (await ledger.rest(Pool.EXA, [ONE], LATER, active=THREE)).rests == {ONE: LATER}


async def test_a_rest_that_has_ended_gives_way(quick_world: World) -> None:
    ledger = quick_world.pool_ledger()
    await ledger.rest(Pool.EXA, [ONE], EARLIER, active=TWO)
    quick_world.clock.advance(120)
    state = await ledger.state(Pool.EXA)
    assert not state.is_resting(ONE, now=quick_world.clock.now())
    again = Rest(quick_world.clock.now() + 60, "rate")
    assert (await ledger.rest(Pool.EXA, [ONE], again, active=TWO)).rests == {ONE: again}


async def test_of_several_keys_only_those_move_that_would_rest_longer(quick_world: World) -> None:
    ledger = quick_world.pool_ledger()
    await ledger.rest(Pool.EXA, [ONE], LATER, active=TWO)
    state = await ledger.rest(Pool.EXA, [ONE, TWO], QUOTA, active=THREE)
    assert state == PoolState(active=THREE, rests={ONE: LATER, TWO: QUOTA})


async def test_a_key_that_rests_by_now_is_not_taken_into_use(quick_world: World) -> None:
    ledger = quick_world.pool_ledger()
    await ledger.rest(Pool.EXA, [ONE, TWO], LATER, active=THREE)
    state = await ledger.rest(Pool.EXA, [ONE, "f" * 64], QUOTA, active=TWO)
    assert state == PoolState(active=THREE, rests={ONE: LATER, TWO: LATER, "f" * 64: QUOTA})


async def test_without_a_key_to_use_the_one_in_use_stays(quick_world: World) -> None:
    ledger = quick_world.pool_ledger()
    await ledger.rest(Pool.EXA, [ONE], QUOTA, active=TWO)
    assert (await ledger.rest(Pool.EXA, [TWO], QUOTA, active=None)).active == TWO


async def test_a_whole_pool_can_rest_and_wake_at_once(quick_world: World) -> None:
    ledger = quick_world.pool_ledger()
    every = [fingerprint_of_key(Pool.FIRECRAWL, f"k-{number}") for number in range(MAX_KEYS)]
    rested = await ledger.rest(Pool.FIRECRAWL, every + every, Rest(NOW + 60, "operator"), active=every[0])
    assert len(rested.rests) == MAX_KEYS
    assert (await ledger.wake(Pool.FIRECRAWL, every)).rests == {}


async def test_only_the_named_keys_wake(quick_world: World) -> None:
    ledger = quick_world.pool_ledger()
    await ledger.rest(Pool.EXA, [ONE, TWO], QUOTA, active=THREE)
    assert await ledger.wake(Pool.EXA, [ONE, "e" * 64]) == PoolState(active=THREE, rests={TWO: QUOTA})
    assert (await ledger.rest(Pool.EXA, [ONE], EARLIER, active=THREE)).rests[ONE] == EARLIER


async def test_no_keys_change_nothing(quick_world: World) -> None:
    ledger = quick_world.pool_ledger()
    assert await ledger.wake(Pool.EXA, [ONE]) == PoolState()
    await ledger.rest(Pool.EXA, [ONE], QUOTA, active=TWO)
    expected = PoolState(active=TWO, rests={ONE: QUOTA})
    assert await ledger.rest(Pool.EXA, [], LATER, active=THREE) == expected
    assert await ledger.wake(Pool.EXA, []) == expected


# --- the real adapter ---
@pytest.mark.emulator
async def test_each_operation_is_one_call(store: StoreWorld, calls: list[str]) -> None:
    ledger = store.pool_ledger()
    await ledger.state(Pool.EXA)
    await ledger.rest(Pool.EXA, [ONE, TWO], QUOTA, active=THREE)
    await ledger.rest(Pool.EXA, [THREE], EARLIER, active=THREE)
    await ledger.wake(Pool.EXA, [ONE])
    assert calls == ["GetItem", "UpdateItem", "UpdateItem", "UpdateItem"]


@pytest.mark.emulator
async def test_who_comes_second_writes_once_more_at_the_most(store: StoreWorld, calls: list[str]) -> None:
    ledger = store.pool_ledger()
    await ledger.rest(Pool.EXA, [ONE], LATER, active=TWO)
    calls.clear()
    await ledger.rest(Pool.EXA, [ONE], QUOTA, active=TWO)
    assert calls == ["UpdateItem"]
    calls.clear()
    await ledger.rest(Pool.EXA, [ONE, TWO], QUOTA, active=THREE)
    assert calls == ["UpdateItem", "UpdateItem"]


@pytest.mark.emulator
async def test_the_row_holds_fingerprints_and_no_key(store: StoreWorld) -> None:
    await store.pool_ledger().rest(Pool.EXA, [ONE], QUOTA, active=TWO)
    [item] = rows_in(store, store.internal_ledger).items
    assert (item["pk"]["S"], item["sk"]["S"]) == ("POOL#exa", "KEYS")
    assert "k-demo" not in repr(item)


@pytest.mark.emulator
async def test_rests_of_keys_long_gone_are_cleared_away(store: StoreWorld) -> None:
    ledger = store.pool_ledger()
    for batch in range(3):
        keys = [fingerprint_of_key(Pool.EXA, f"k-{batch}-{number}") for number in range(24)]
        await ledger.rest(Pool.EXA, keys, Rest(store.clock.now() + 60, "rate"), active=ONE)
    assert len((await ledger.state(Pool.EXA)).rests) == 72
    store.clock.advance(60 + 86_400)
    last = Rest(store.clock.now() + 60, "rate")
    await ledger.rest(Pool.EXA, [TWO], last, active=ONE)
    state = await ledger.state(Pool.EXA)
    assert len(state.rests) == 73 - 32
    assert state.rests[TWO] == last


@pytest.mark.emulator
async def test_another_write_between_two_attempts_is_respected(store: StoreWorld) -> None:
    """The first attempt fails for ONE; before the second, another instance lets TWO rest for longer."""
    await store.pool_ledger().rest(Pool.EXA, [ONE], LATER, active=TWO)
    meddled: list[int] = []

    def meddle() -> None:
        if not meddled:
            meddled.append(1)
            asyncio.run(store.pool_ledger().rest(Pool.EXA, [TWO], LATER, active=THREE))

    client = Meddling(_Refusing(store.clients.dynamodb, meddle), "update_item", lambda: None)
    ledger = DynamoPoolLedger(client, table=store.internal_ledger, clock=store.clock)
    state = await ledger.rest(Pool.EXA, [ONE, TWO], QUOTA, active=TWO)
    assert state == PoolState(active=THREE, rests={ONE: LATER, TWO: LATER})
    assert client.calls == ["update_item", "update_item"]


class _Refusing:
    """A real client beside which `meddle` runs after a refused update."""

    def __init__(self, client, meddle) -> None:
        self._client = client
        self._meddle = meddle

    def update_item(self, **parameters):
        try:
            return self._client.update_item(**parameters)
        except ServiceRefusal as refusal:
            if refusal.code == CONDITION_FAILED:
                self._meddle()
            raise


@pytest.mark.emulator
def test_of_many_at_once_the_latest_end_stays(store: StoreWorld) -> None:
    def write(number: int) -> None:
        rest = Rest(NOW + 60 + number * 37 % 64, "rate")
        asyncio.run(store.pool_ledger().rest(Pool.EXA, [ONE, TWO], rest, active=THREE))

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(write, range(64)))
    state = asyncio.run(store.pool_ledger().state(Pool.EXA))
    assert state == PoolState(active=THREE, rests=dict.fromkeys((ONE, TWO), Rest(NOW + 60 + 63, "rate")))


@pytest.mark.parametrize("code", ["ThrottlingException", "AccessDeniedException"])
async def test_a_store_that_cannot_be_used_is_unavailable(code: str) -> None:
    ledger = DynamoPoolLedger(StubClient(refusal(code)), table="table-l", clock=FakeClock())
    for operation in (
        ledger.state(Pool.EXA),
        ledger.rest(Pool.EXA, [ONE], QUOTA, active=TWO),
        ledger.wake(Pool.EXA, [ONE]),
    ):
        with pytest.raises(Unavailable):
            await operation


async def test_a_transaction_on_the_row_is_waited_for() -> None:
    client = StubClient(refusal("TransactionConflictException"), {"Attributes": {"active": {"S": TWO}}})
    ledger = DynamoPoolLedger(client, table="table-l", clock=FakeClock())
    assert (await ledger.wake(Pool.EXA, [ONE])).active == TWO
    assert len(client.calls) == 2


@pytest.mark.parametrize(
    "item",
    [{"active": {"N": "1"}}, {f"r_{ONE}": {"S": "soon"}}, {f"r_{ONE}": {"M": {"until": {"N": "1"}}}}],
    ids=["active", "rest", "reason"],
)
async def test_a_row_that_cannot_be_read_does_not_pass_for_a_free_pool(item: dict) -> None:
    ledger = DynamoPoolLedger(StubClient({"Item": item}), table="table-l", clock=FakeClock())
    with pytest.raises(Unavailable):
        await ledger.state(Pool.EXA)
