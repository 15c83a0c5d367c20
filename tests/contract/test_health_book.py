"""What `ports.health_book.HealthReader` and `HealthBook` promise."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from typing import Any

import pytest

from shared.adapters.health_book import DynamoHealthBook
from shared.adapters.health_reader import DynamoHealthReader
from shared.domain.health import HealthRecords, HealthState, Look, ProbeRun, ProviderHealth
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import Warning_
from shared.errors import Unavailable
from shared.ports.health_book import HealthBook
from tests.contract.far_ahead import NOW
from tests.contract.stubs import StubClient, refusal
from tests.contract.worlds import StoreWorld, World
from tests.support.fakes import FakeClock

EVERY_S, LEASE_S = 300.0, 60.0
RUN_PLACE = {"pk": {"S": "HEALTH"}, "sk": {"S": "-"}}
WELL = ProviderHealth(
    provider_id="cs_aaaaaaaaaaaaaaaa",
    revision="1",
    look=Look.CAPABILITIES,
    state=HealthState.HEALTHY,
    since=NOW,
    last_well_at=NOW + 0.123,
)
ILL = ProviderHealth(
    provider_id="ao_bbbbbbbbbbbbbbbb",
    revision="2.7",
    look=Look.KNOWLEDGE_BASE,
    state=HealthState.LIMITED,
    since=NOW,
    code=OutcomeCode.RATE_LIMITED,
    failures=2,
    warnings=(Warning_.SURPLUS_CUT, Warning_.SNIPPET_CUT),
    retry_at=NOW + 60.5,
)


async def begins(book: HealthBook, run_id: str, *, now: float) -> bool:
    return await book.begin(run_id, now=now, every_s=EVERY_S, lease_s=LEASE_S)


async def test_before_the_first_run_there_is_nothing(world: World) -> None:
    assert await world.health_reader().records() == HealthRecords()
    assert await world.health_book().records() == HealthRecords()


# --- the run ---
async def test_a_run_goes_on_until_it_is_finished(world: World) -> None:
    book = world.health_book()
    assert await begins(book, "r1", now=NOW)
    going_on = ProbeRun(run_id="r1", started_at=NOW)
    assert await world.health_reader().records() == HealthRecords(run=going_on)
    ended = replace(going_on, finished_at=NOW + 12.5, looked_at=7, left_out=1, next_id="cs_c")
    await book.finish(ended)
    assert await world.health_reader().records() == HealthRecords(run=ended, finished=ended)


async def test_the_last_run_that_finished_is_known_while_the_next_goes_on(world: World) -> None:
    book = world.health_book()
    await begins(book, "r1", now=NOW)
    ended = ProbeRun(run_id="r1", started_at=NOW, finished_at=NOW + 5, looked_at=3)
    await book.finish(ended)
    assert await begins(book, "r2", now=NOW + EVERY_S)
    assert await book.records() == HealthRecords(run=ProbeRun(run_id="r2", started_at=NOW + EVERY_S), finished=ended)


async def test_a_run_that_is_not_due_does_not_begin(world: World) -> None:
    book = world.health_book()
    await begins(book, "r1", now=NOW)
    await book.finish(ProbeRun(run_id="r1", started_at=NOW, finished_at=NOW + 1))
    assert not await begins(world.health_book(), "r2", now=NOW + EVERY_S - 0.001)
    assert (await book.records()).run.run_id == "r1"
    assert await begins(world.health_book(), "r2", now=NOW + EVERY_S)


async def test_a_run_that_goes_on_holds_its_lease(world: World) -> None:
    """However often runs are wanted."""
    book = world.health_book()
    assert await book.begin("r1", now=NOW, every_s=1.0, lease_s=LEASE_S)
    assert not await book.begin("r2", now=NOW + LEASE_S - 0.001, every_s=1.0, lease_s=LEASE_S)
    await book.finish(ProbeRun(run_id="r1", started_at=NOW, finished_at=NOW + 2))
    assert await book.begin("r2", now=NOW + 2, every_s=1.0, lease_s=LEASE_S)


async def test_a_run_that_was_cut_off_is_followed_by_the_next(world: World) -> None:
    book = world.health_book()
    await begins(book, "r1", now=NOW)
    assert await book.begin("r2", now=NOW + LEASE_S, every_s=1.0, lease_s=LEASE_S)
    assert (await book.records()).run == ProbeRun(run_id="r2", started_at=NOW + LEASE_S)


async def test_who_was_overtaken_finishes_nothing(world: World) -> None:
    book = world.health_book()
    await begins(book, "r1", now=NOW)
    await begins(book, "r2", now=NOW + EVERY_S)
    await book.finish(ProbeRun(run_id="r1", started_at=NOW, finished_at=NOW + EVERY_S + 1, looked_at=9))
    assert await book.records() == HealthRecords(run=ProbeRun(run_id="r2", started_at=NOW + EVERY_S))
    assert not await book.begin("r3", now=NOW + EVERY_S + 2, every_s=1.0, lease_s=LEASE_S), "it still holds its lease"


async def test_nothing_is_finished_where_nothing_began(world: World) -> None:
    await world.health_book().finish(ProbeRun(run_id="r1", started_at=NOW, finished_at=NOW))
    assert await world.health_reader().records() == HealthRecords()


async def test_the_end_is_the_clocks_unless_it_is_given(world: World) -> None:
    await begins(world.health_book(), "r1", now=NOW)
    world.clock.advance(9)
    await world.health_book().finish(ProbeRun(run_id="r1", started_at=NOW))
    assert (await world.health_reader().records()).finished.finished_at == NOW + 9


@pytest.mark.parametrize("ahead_s", [600.0, 86_400.0], ids=["ten_minutes", "a_day"])
async def test_a_clock_that_was_ahead_holds_nobody_back(quick_world: World, ahead_s: float) -> None:
    book = quick_world.health_book()
    await begins(book, "wrong", now=NOW + ahead_s)
    assert await begins(book, "right", now=NOW + 10)
    assert not await begins(book, "right again", now=NOW + 20)


# --- what was found ---
async def test_what_was_kept_is_read_to_the_last_digit(world: World) -> None:
    await world.health_book().keep([WELL, ILL], forget=[])
    assert set((await world.health_reader().records()).providers) == {WELL, ILL}


async def test_what_is_kept_anew_takes_the_place_of_what_was_known(world: World) -> None:
    book = world.health_book()
    await book.keep([WELL, ILL], forget=[])
    down = replace(WELL, state=HealthState.DOWN, last_well_at=None, code=OutcomeCode.TIMEOUT)
    await book.keep([down], forget=[ILL.provider_id, "cs_ffffffffffffffff"])
    assert (await world.health_reader().records()).providers == (down,)


async def test_runs_leave_what_was_found(world: World) -> None:
    book = world.health_book()
    await book.keep([WELL], forget=[])
    await begins(book, "r1", now=NOW)
    assert (await book.records()).providers == (WELL,)


async def test_every_state_can_be_kept(quick_world: World) -> None:
    every = [replace(ILL, provider_id=f"cs_{state:_<16}", state=state) for state in HealthState]
    await quick_world.health_book().keep(every, forget=())
    assert set((await quick_world.health_reader().records()).providers) == set(every)


# --- the real adapter ---
@pytest.mark.emulator
def test_of_eight_that_begin_at_once_one_is_let_through(store: StoreWorld) -> None:
    start = Barrier(8)

    def begin(now: float, number: int) -> bool:
        start.wait(60)
        return asyncio.run(begins(store.health_book(), f"r{number}", now=now))

    with ThreadPoolExecutor(8) as pool:
        for turn in range(5):
            jobs = [pool.submit(begin, NOW + turn * EVERY_S, number) for number in range(8)]
            assert sum(job.result() for job in jobs) == 1


@pytest.mark.emulator
async def test_a_claim_whose_answer_was_lost_is_one(store: StoreWorld) -> None:
    class Repeating:
        def update_item(self, **parameters: Any) -> Any:
            store.clients.dynamodb.update_item(**parameters)
            return store.clients.dynamodb.update_item(**parameters)

    client: Any = Repeating()
    assert await begins(DynamoHealthBook(client, table=store.internal_ledger, clock=store.clock), "r1", now=NOW)
    assert not await begins(store.health_book(), "r1", now=NOW), "the id alone opens nothing"


@pytest.mark.emulator
@pytest.mark.parametrize(
    "spoiled",
    [{"started_at": {"S": "once"}}, {"lease_until": {"S": "x"}, "started_at": {"NULL": True}}, {"run_id": {"N": "1"}}],
    ids=["start", "both", "id"],
)
async def test_a_run_that_cannot_be_read_stops_nobody_for_long(store: StoreWorld, spoiled: dict[str, Any]) -> None:
    await begins(store.health_book(), "r1", now=NOW)
    _spoil(store, RUN_PLACE, spoiled)
    assert (await store.health_reader().records()).run is None
    assert await begins(store.health_book(), "r2", now=NOW + EVERY_S)
    assert (await store.health_reader().records()).run == ProbeRun(run_id="r2", started_at=NOW + EVERY_S)


@pytest.mark.emulator
async def test_what_cannot_be_read_of_the_last_run_leaves_the_one_that_goes_on(store: StoreWorld) -> None:
    await begins(store.health_book(), "r1", now=NOW)
    _spoil(store, RUN_PLACE, {"finished": {"S": "yes"}})
    assert await store.health_reader().records() == HealthRecords(run=ProbeRun(run_id="r1", started_at=NOW))


@pytest.mark.emulator
@pytest.mark.parametrize(
    "spoiled",
    [{"state": {"S": "radiant"}}, {"since": {"S": "once"}}, {"warnings": {"L": [{"S": "new"}]}}],
    ids=["state", "since", "warning"],
)
async def test_a_provider_that_cannot_be_read_is_left_out(store: StoreWorld, spoiled: dict[str, Any]) -> None:
    await store.health_book().keep([WELL, ILL], forget=())
    _spoil(store, {"pk": {"S": "HEALTH"}, "sk": {"S": ILL.provider_id}}, spoiled)
    assert (await store.health_reader().records()).providers == (WELL,)


def _spoil(store: StoreWorld, key: dict[str, Any], spoiled: dict[str, Any]) -> None:
    client, table = store.clients.dynamodb, store.internal_ledger
    item = client.get_item(TableName=table, Key=key, ConsistentRead=True)["Item"]
    client.put_item(TableName=table, Item=item | spoiled)


@pytest.mark.parametrize("code", ["ThrottlingException", "AccessDeniedException"])
async def test_a_store_that_cannot_be_used_is_unavailable(code: str) -> None:
    client: Any = StubClient(refusal(code))
    book = DynamoHealthBook(client, table="table-l", clock=FakeClock())
    for operation in (
        begins(book, "r1", now=NOW),
        book.finish(ProbeRun(run_id="r1", started_at=NOW)),
        book.keep([WELL], forget=["cs_x"]),
        book.records(),
        DynamoHealthReader(client, table="table-l").records(),
    ):
        with pytest.raises(Unavailable):
            await operation
