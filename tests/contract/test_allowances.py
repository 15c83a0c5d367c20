"""What `ports.allowances` promises: `Allowances` and `AllowanceDesk`, and what the row looks like meanwhile."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from shared.adapters.allowance_desk import DynamoAllowanceDesk
from shared.adapters.allowance_rows import allowance_of
from shared.adapters.allowances import DynamoAllowances
from shared.domain.allowances import DEFAULT_LIMIT, LEASE_S, SLOT_S, WINDOW_S, Allowance, Reservation, Review, slot_of
from shared.domain.pools import Pool
from shared.errors import Conflict, PreconditionFailed, Refused, Unavailable
from tests.contract.far_ahead import a_change
from tests.contract.invariants import rows_in
from tests.contract.stubs import StubClient, refusal
from tests.contract.worlds import StoreWorld, World
from tests.support.fakes import FakeClock

NOTHING = Review()
POOL = Pool.EXA


async def set_limit(world: World, limit: int, *, pool: Pool = POOL) -> Allowance:
    desk = world.allowance_desk()
    generation = (await desk.read(pool)).generation
    return await desk.change(pool, limit=limit, review=NOTHING, expected_generation=generation, change=a_change())


async def review(world: World, *, happened: int = 0, did_not_happen: int = 0) -> Allowance:
    desk = world.allowance_desk()
    now = await desk.read(POOL)
    found = Review(happened=happened, did_not_happen=did_not_happen)
    return await desk.change(POOL, limit=now.limit, review=found, expected_generation=now.generation, change=a_change())


async def counts(world: World) -> tuple[int, int, int]:
    """Confirmed, reserved and unknown units."""
    now, allowance = world.clock.now(), await world.allowance_desk().read(POOL)
    return allowance.confirmed_at(now), allowance.reserved_at(now), allowance.unknown_at(now)


async def refused(world: World) -> Refused:
    with pytest.raises(Refused) as problem:
        await world.allowances().reserve(POOL)
    assert problem.value.code == "allowance_exhausted"
    return problem.value


# --- reserving and settling ---
@pytest.mark.parametrize("pool", Pool)
async def test_every_pool_has_its_limit_from_the_start(quick_world: World, pool: Pool) -> None:
    assert await quick_world.allowance_desk().read(pool) == Allowance(pool=pool, limit=DEFAULT_LIMIT[pool])


async def test_a_unit_is_reserved_then_confirmed(quick_world: World) -> None:
    allowances = quick_world.allowances()
    reservation = await allowances.reserve(POOL)
    assert reservation.pool is POOL
    assert await counts(quick_world) == (0, 1, 0)
    await quick_world.allowances().confirm(reservation)
    assert await counts(quick_world) == (1, 0, 0)


async def test_a_released_unit_is_free_again(quick_world: World) -> None:
    await set_limit(quick_world, 1)
    reservation = await quick_world.allowances().reserve(POOL)
    await refused(quick_world)
    await quick_world.allowances().release(reservation)
    assert await counts(quick_world) == (0, 0, 0)
    await quick_world.allowances().reserve(POOL)


@pytest.mark.parametrize("second", ["confirm", "release"])
@pytest.mark.parametrize("first", ["confirm", "release"])
async def test_settling_twice_changes_nothing_the_second_time(quick_world: World, first: str, second: str) -> None:
    allowances = quick_world.allowances()
    kept, settled = await allowances.reserve(POOL), await allowances.reserve(POOL)
    await getattr(allowances, first)(settled)
    after_first = await counts(quick_world)
    await getattr(allowances, second)(settled)
    assert await counts(quick_world) == after_first
    await allowances.release(kept)
    await allowances.release(Reservation(pool=POOL, id="f" * 16))
    assert (await quick_world.allowance_desk().read(POOL)).used_at(quick_world.clock.now()) == after_first[0]


async def test_pools_are_counted_apart(quick_world: World) -> None:
    await set_limit(quick_world, 0)
    await refused(quick_world)
    await quick_world.allowances().reserve(Pool.FIRECRAWL)


async def test_a_pool_with_limit_zero_is_closed(quick_world: World) -> None:
    await set_limit(quick_world, 0)
    assert (await refused(quick_world)).retry_at is None
    await set_limit(quick_world, 1)
    await quick_world.allowances().reserve(POOL)


async def test_a_limit_below_what_is_used_refuses_until_enough_has_left(quick_world: World) -> None:
    allowances = quick_world.allowances()
    for _ in range(3):
        await allowances.confirm(await allowances.reserve(POOL))
    await set_limit(quick_world, 2)
    assert (await refused(quick_world)).retry_at is not None
    await set_limit(quick_world, 4)
    await allowances.reserve(POOL)


# --- the rolling day ---
async def test_a_confirmed_unit_counts_for_a_day_and_leaves_with_its_half_hour(quick_world: World) -> None:
    clock = quick_world.clock
    clock.advance(SLOT_S - clock.now() % SLOT_S)
    await set_limit(quick_world, 1)
    allowances = quick_world.allowances()
    await allowances.confirm(await allowances.reserve(POOL))
    free_at = clock.now() + SLOT_S + WINDOW_S
    assert (await refused(quick_world)).retry_at == free_at
    clock.advance(SLOT_S + WINDOW_S - 1)
    assert (await refused(quick_world)).retry_at == free_at
    assert (await counts(quick_world))[0] == 1
    clock.advance(1)
    await allowances.reserve(POOL)
    assert await counts(quick_world) == (0, 1, 0)


async def test_the_unit_counts_from_its_confirmation(quick_world: World) -> None:
    clock, allowances = quick_world.clock, quick_world.allowances()
    clock.advance(SLOT_S - clock.now() % SLOT_S - 1)
    reservation = await allowances.reserve(POOL)
    clock.advance(2)
    await allowances.confirm(reservation)
    allowance = await quick_world.allowance_desk().read(POOL)
    assert allowance.slots == {slot_of(clock.now()): 1}


async def test_with_only_open_units_in_the_way_no_time_is_promised(quick_world: World) -> None:
    await set_limit(quick_world, 1)
    await quick_world.allowances().reserve(POOL)
    assert (await refused(quick_world)).retry_at is None


# --- what is unknown ---
async def test_a_unit_that_is_never_settled_becomes_unknown_and_counts_for_good(quick_world: World) -> None:
    await set_limit(quick_world, 1)
    await quick_world.allowances().reserve(POOL)
    quick_world.clock.advance(LEASE_S)
    assert await counts(quick_world) == (0, 0, 1)
    quick_world.clock.advance(10 * WINDOW_S)
    assert (await refused(quick_world)).retry_at is None
    assert await counts(quick_world) == (0, 0, 1)


async def test_a_review_settles_what_is_unknown(quick_world: World) -> None:
    await set_limit(quick_world, 4)
    for _ in range(4):
        await quick_world.allowances().reserve(POOL)
    quick_world.clock.advance(LEASE_S + 1)
    after = await review(quick_world, happened=1, did_not_happen=2)
    assert (after.confirmed_at(quick_world.clock.now()), after.unknown_at(quick_world.clock.now())) == (1, 1)
    assert await counts(quick_world) == (1, 0, 1)
    assert after.slots == {slot_of(quick_world.clock.now()): 1}
    for _ in range(2):
        await quick_world.allowances().reserve(POOL)
    await refused(quick_world)


async def test_more_than_is_unknown_cannot_be_reviewed(quick_world: World) -> None:
    await quick_world.allowances().reserve(POOL)
    for found in ({"happened": 1}, {"did_not_happen": 1}):
        with pytest.raises(Conflict) as problem:
            await review(quick_world, **found)
        assert problem.value.code == "nothing_unknown"
    quick_world.clock.advance(LEASE_S)
    with pytest.raises(Conflict):
        await review(quick_world, happened=1, did_not_happen=1)
    assert await counts(quick_world) == (0, 0, 1)
    assert (await quick_world.allowance_desk().read(POOL)).generation == 0


async def test_an_open_unit_is_no_unknown_one(quick_world: World) -> None:
    await quick_world.allowances().reserve(POOL)
    quick_world.clock.advance(LEASE_S)
    settled_later = await quick_world.allowances().reserve(POOL)
    await review(quick_world, did_not_happen=1)
    assert await counts(quick_world) == (0, 1, 0)
    await quick_world.allowances().confirm(settled_later)
    assert await counts(quick_world) == (1, 0, 0)


# --- the desk ---
async def test_a_change_is_made_once_and_audited(quick_world: World) -> None:
    desk = quick_world.allowance_desk()
    change = a_change(action="allowance.changed", resource="allowance/exa")
    changed = await desk.change(POOL, limit=7, review=NOTHING, expected_generation=0, change=change)
    assert (changed.limit, changed.generation) == (7, 1)
    assert await desk.read(POOL) == changed
    entries = (await quick_world.audit_log().page(limit=5, after=None)).items
    assert [entry.id for entry in entries] == [change.audit.id]


@pytest.mark.parametrize("expected", [0, 2])
async def test_a_change_of_something_else_than_was_read_is_refused(quick_world: World, expected: int) -> None:
    await set_limit(quick_world, 7)
    desk = quick_world.allowance_desk()
    with pytest.raises(PreconditionFailed):
        await desk.change(POOL, limit=9, review=Review(happened=1), expected_generation=expected, change=a_change())
    assert (await desk.read(POOL)).limit == 7
    assert len((await quick_world.audit_log().page(limit=5, after=None)).items) == 1


async def test_the_first_change_cannot_claim_an_earlier_one(quick_world: World) -> None:
    with pytest.raises(PreconditionFailed):
        await quick_world.allowance_desk().change(
            POOL, limit=9, review=NOTHING, expected_generation=1, change=a_change()
        )


# --- the real adapter ---
async def whole(store: StoreWorld) -> Allowance:
    """The allowance as stored, once it is sure that its total is the sum of its parts."""
    [item] = [row for row in rows_in(store, store.internal_ledger).items if row["sk"]["S"] == "ALLOWANCE"]
    allowance = allowance_of(POOL, item)
    assert item["pk"]["S"] == "POOL#exa"
    assert int(item["total"]["N"]) == sum(allowance.slots.values()) + len(allowance.open) + allowance.unknown
    return allowance


@pytest.mark.emulator
async def test_reserving_and_settling_is_one_write_each(store: StoreWorld, calls: list[str]) -> None:
    allowances = store.allowances()
    await allowances.confirm(await allowances.reserve(POOL))
    await allowances.release(await allowances.reserve(POOL))
    assert calls == ["UpdateItem"] * 4
    assert (await whole(store)).slots == {slot_of(store.clock.now()): 1}


@pytest.mark.emulator
async def test_a_used_up_day_is_refused_with_one_call(store: StoreWorld, calls: list[str]) -> None:
    await set_limit(store, 1)
    await store.allowances().reserve(POOL)
    calls.clear()
    await refused(store)
    assert calls == ["UpdateItem"]


@pytest.mark.emulator
async def test_a_write_that_is_sent_twice_takes_one_unit(store: StoreWorld) -> None:
    """As the client library does when the first answer was lost."""
    await set_limit(store, 1)

    class Twice:
        def update_item(self, **parameters: Any) -> Any:
            store.clients.dynamodb.update_item(**parameters)
            return store.clients.dynamodb.update_item(**parameters)

    allowances = DynamoAllowances(Twice(), table=store.internal_ledger, clock=store.clock)
    reservation = await allowances.reserve(POOL)
    assert (await whole(store)).open == {reservation.id: store.clock.now() + LEASE_S}


@pytest.mark.emulator
async def test_slots_that_have_left_make_room_and_nothing_else_does(store: StoreWorld) -> None:
    await set_limit(store, 60)
    allowances = store.allowances()
    for _ in range(60):
        await allowances.confirm(await allowances.reserve(POOL))
        store.clock.advance(SLOT_S * 7 / 6)
    store.clock.advance(WINDOW_S)
    await allowances.reserve(POOL)
    allowance = await whole(store)
    assert allowance.used_at(store.clock.now()) == 1
    assert len(allowance.slots) == 60 - 50, "as many as one write can take out"


@pytest.mark.emulator
async def test_a_row_is_kept_small_while_units_are_free(store: StoreWorld) -> None:
    allowances = store.allowances()
    for _ in range(120):
        await allowances.confirm(await allowances.reserve(POOL))
        store.clock.advance(SLOT_S)
    assert len((await whole(store)).slots) <= 97
    for _ in range(70):
        await allowances.reserve(POOL)
    store.clock.advance(LEASE_S)
    await allowances.reserve(POOL)
    allowance = await whole(store)
    assert (len(allowance.open), allowance.unknown) == (21, 50)
    assert allowance.unknown_at(store.clock.now()) == 70


@pytest.mark.emulator
async def test_a_refusal_gathers_what_is_past_its_lease(store: StoreWorld) -> None:
    await set_limit(store, 65)
    allowances = store.allowances()
    opened = [await allowances.reserve(POOL) for _ in range(65)]
    await refused(store)
    assert len((await whole(store)).open) == 65
    store.clock.advance(LEASE_S)
    await refused(store)
    allowance = await whole(store)
    assert (len(allowance.open), allowance.unknown) == (15, 50)
    for reservation in opened:
        await allowances.release(reservation)
    assert (await whole(store)).used_at(store.clock.now()) == 50


@pytest.mark.emulator
async def test_a_review_reaches_every_unit_past_its_lease(store: StoreWorld) -> None:
    allowances = store.allowances()
    for _ in range(130):
        await allowances.reserve(POOL)
    store.clock.advance(LEASE_S)
    after = await review(store, happened=30, did_not_happen=100)
    assert await whole(store) == after
    assert await counts(store) == (30, 0, 0)


@pytest.mark.emulator
def test_many_that_roll_off_at_once_take_each_slot_once(store: StoreWorld) -> None:
    asyncio.run(set_limit(store, 20))
    for _ in range(20):
        asyncio.run(_made(store))
    store.clock.advance(WINDOW_S + SLOT_S)
    with ThreadPoolExecutor(32) as pool:
        outcomes = Counter(pool.map(lambda _: _outcome(store), range(64)))
    assert outcomes == {"reserved": 20, "allowance_exhausted": 44}
    assert len(asyncio.run(whole(store)).open) == 20


@pytest.mark.emulator
def test_sixty_four_callers_never_exceed_the_limit(store: StoreWorld) -> None:
    asyncio.run(set_limit(store, 25))
    with ThreadPoolExecutor(64) as pool:
        outcomes = Counter(pool.map(lambda _: _outcome(store), range(128)))
    assert outcomes == {"reserved": 25, "allowance_exhausted": 103}
    assert len(asyncio.run(whole(store)).open) == 25


async def _made(store: StoreWorld) -> None:
    allowances = store.allowances()
    await allowances.confirm(await allowances.reserve(POOL))


def _outcome(store: StoreWorld) -> str:
    try:
        asyncio.run(store.allowances().reserve(POOL))
    except Refused as problem:
        return problem.code
    return "reserved"


# --- several processes ---
def _callers(environment: dict[str, str], *, threads: int) -> subprocess.Popen[bytes]:
    """Ready, and waiting for a line before they begin."""
    command = [sys.executable, "-m", "tests.contract.reserver", str(threads)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env=os.environ | environment, bufsize=0, **pipes)


def _start(*processes: subprocess.Popen[bytes]) -> None:
    for process in processes:
        assert process.stdout.readline() == b"ready\n", process.stderr.read()
    for process in processes:
        process.stdin.write(b"\n")


@pytest.mark.emulator
@pytest.mark.slow
def test_sixty_four_callers_of_four_processes_never_exceed_the_limit(
    store: StoreWorld, aws_environment: dict[str, str]
) -> None:
    asyncio.run(set_limit(store, 150))
    processes = [_callers(aws_environment, threads=16) for _ in range(4)]
    try:
        _start(*processes)
        while any(process.poll() is None for process in processes):
            assert asyncio.run(whole(store)).used_at(store.clock.now()) <= 150
            time.sleep(0.01)
    finally:
        for process in processes:
            process.kill()
    outputs = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, outputs
    reports = Counter(line for output, _ in outputs for line in output.split(b"\n") if line)
    assert reports[b"confirmed"] == 150
    assert reports[b"reserved"] == 150 + reports[b"released"] > 150
    assert sum(b"reserved" in output for output, _ in outputs) > 1, "several had their share"
    assert asyncio.run(whole(store)).confirmed_at(store.clock.now()) == 150


@pytest.mark.emulator
@pytest.mark.slow
def test_a_process_killed_between_reserving_and_settling_leaves_its_units_counted(
    store: StoreWorld, aws_environment: dict[str, str]
) -> None:
    asyncio.run(set_limit(store, 10_000))
    reserved = gone = 0
    for _ in range(4):
        process = _callers(aws_environment, threads=8)
        try:
            _start(process)
            head = [process.stdout.readline() for _ in range(60)]
            time.sleep(random.uniform(0, 0.05))
        finally:
            process.send_signal(signal.SIGKILL)
        tail, errors = process.communicate()
        assert all(head), errors
        reports = Counter((b"".join(head) + tail).split(b"\n"))
        reserved, gone = reserved + reports[b"reserved"], gone + reports[b"released"]
    allowance = asyncio.run(whole(store))
    used = allowance.used_at(store.clock.now())
    assert reserved - gone - 4 * 8 <= used <= reserved - gone + 4 * 8, "but for what each thread could not report"
    left_open = len(allowance.open)
    store.clock.advance(LEASE_S)
    assert asyncio.run(counts(store)) == (used - left_open, 0, left_open)


@pytest.mark.parametrize("code", ["ThrottlingException", "AccessDeniedException"])
async def test_a_store_that_cannot_be_used_is_unavailable(code: str) -> None:
    allowances = DynamoAllowances(StubClient(refusal(code)), table="table-l", clock=FakeClock())
    desk = DynamoAllowanceDesk(StubClient(refusal(code)), table="table-l", audit_table="table-i", clock=FakeClock())
    a_reservation = Reservation(pool=POOL, id="f" * 16)
    for operation in (
        allowances.reserve(POOL),
        allowances.confirm(a_reservation),
        allowances.release(a_reservation),
        desk.read(POOL),
        desk.change(POOL, limit=1, review=NOTHING, expected_generation=0, change=a_change()),
    ):
        with pytest.raises(Unavailable):
            await operation


async def test_a_taken_unit_is_not_lost_because_the_row_could_not_be_tidied() -> None:
    slots: dict[str, Any] = {f"s_{number}": {"N": "1"} for number in range(97)}

    def taken(**parameters: Any) -> dict[str, Any]:
        name = parameters["ExpressionAttributeNames"]["#reservation"]
        return {"Attributes": {**slots, name: {"N": "4000000060"}, "total": {"N": "98"}}}

    client = StubClient(taken, refusal("ThrottlingException"))
    assert (await DynamoAllowances(client, table="table-l", clock=FakeClock()).reserve(POOL)).pool is POOL
    assert client.calls == ["update_item", "update_item"]


@pytest.mark.parametrize(
    "item",
    [{"limit": {"S": "many"}}, {"s_soon": {"N": "1"}}, {"o_x": {"S": "later"}}, {"unknown": {"N": "some"}}],
    ids=["limit", "slot", "lease", "unknown"],
)
async def test_a_row_that_cannot_be_read_does_not_pass_for_an_unused_allowance(item: dict[str, Any]) -> None:
    desk = DynamoAllowanceDesk(StubClient({"Item": item}), table="table-l", audit_table="table-i", clock=FakeClock())
    with pytest.raises(Unavailable):
        await desk.read(POOL)
