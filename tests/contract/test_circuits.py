"""What `ports.circuits.CircuitStore` promises, how many calls it costs, and what rows that cannot be read come to."""

from __future__ import annotations

import asyncio
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from typing import Any

import pytest

from shared.adapters.circuit_changes import MOST_IN_A_WRITE
from shared.adapters.circuit_items import attribute_of, circuit_of
from shared.adapters.circuits import DynamoCircuits
from shared.adapters.row_reads import RowReads
from shared.domain.circuits import WELL, Circuit, Circuits, Lane, Rule, claimed
from shared.domain.outcomes import OutcomeCode
from shared.errors import Unavailable
from shared.ports.circuits import CircuitStore, KnownCircuits
from shared.services import circuit_writer
from shared.services.circuit_keeper import CircuitKeeper
from tests.contract.far_ahead import NOW
from tests.contract.invariants import rows_in
from tests.contract.stubs import StubClient, refusal
from tests.contract.worlds import StoreWorld, World
from tests.support.fakes import FakeClock
from tests.support.search_stage import RecordedLog

ONE, TWO, THREE = "cs_aaaaaaaaaaaaaaaa", "cs_bbbbbbbbbbbbbbbb", "ao_cccccccccccccccc"
PLACE = {"pk": {"S": "CIRCUITS"}, "sk": {"S": "-"}}
FULL = Circuit(
    revision="3.2",
    failures=3,
    refusals=2,
    faults=4,
    openings=1,
    open_until=NOW + 30.1234567,
    is_held=True,
    trial_id="ab" * 8,
    trial_until=NOW + 60,
    disabled_at=NOW + 0.5,
    last_code=OutcomeCode.TIMEOUT,
    last_at=NOW,
)


def sets(**circuits: Circuit) -> Rule:
    return lambda _known: circuits


def counts(provider_id: str) -> Rule:
    """One failure more than are known."""

    def rule(circuits: Circuits) -> Circuits:
        circuit = circuits.get(provider_id, WELL)
        return {provider_id: replace(circuit, failures=circuit.failures + 1)}

    return rule


async def written(circuits: CircuitStore, rule: Rule) -> KnownCircuits:
    return (await circuits.change(rule, known=await circuits.read())).known


# --- the promises ---
async def test_where_nobody_wrote_all_are_well(world: World) -> None:
    assert await world.circuits(Lane.AGENT).read() == KnownCircuits(circuits={}, version=0)


async def test_every_instance_reads_what_one_wrote_to_the_last_digit(world: World) -> None:
    changed = await world.circuits(Lane.AGENT).change(sets(**{ONE: FULL}), known=KnownCircuits())
    assert (changed.before, changed.after) == ({ONE: WELL}, {ONE: FULL})
    assert changed.known == await world.circuits(Lane.AGENT).read()
    assert changed.known.circuits == {ONE: FULL}
    assert changed.known.version != 0


async def test_a_change_leaves_the_others_as_they_are(world: World) -> None:
    circuits = world.circuits(Lane.AGENT)
    first = await written(circuits, sets(**{ONE: FULL, TWO: Circuit(failures=1)}))
    changed = await circuits.change(sets(**{TWO: Circuit(failures=2), THREE: FULL}), known=first)
    assert changed.before == {TWO: Circuit(failures=1), THREE: WELL}
    assert changed.known.circuits == {ONE: FULL, TWO: Circuit(failures=2), THREE: FULL}


async def test_one_that_is_well_again_is_forgotten(world: World) -> None:
    circuits = world.circuits(Lane.AGENT)
    first = await written(circuits, sets(**{ONE: FULL, TWO: FULL}))
    changed = await circuits.change(sets(**{ONE: WELL, THREE: FULL}), known=first)
    assert changed.after == {ONE: WELL, THREE: FULL}
    assert (await circuits.read()).circuits == {TWO: FULL, THREE: FULL}


async def test_what_changes_nothing_writes_nothing(world: World) -> None:
    circuits = world.circuits(Lane.AGENT)
    known = await written(circuits, sets(**{ONE: FULL}))
    changed = await circuits.change(lambda _known: {}, known=known)
    assert (changed.before, changed.after, changed.known) == ({}, {}, known)
    assert await circuits.read() == known


async def test_who_comes_second_applies_its_rule_to_what_is_there_by_then(world: World) -> None:
    first, second = world.circuits(Lane.AGENT), world.circuits(Lane.AGENT)
    known = await second.read()
    await written(first, counts(ONE))
    changed = await second.change(counts(ONE), known=known)
    assert changed.before == {ONE: Circuit(failures=1)}
    assert changed.after == {ONE: Circuit(failures=2)}


async def test_a_change_of_another_circuit_meanwhile_is_kept(world: World) -> None:
    circuits = world.circuits(Lane.AGENT)
    known = await written(circuits, counts(ONE))
    await written(world.circuits(Lane.AGENT), counts(TWO))
    changed = await circuits.change(counts(ONE), known=known)
    assert changed.known.circuits == {ONE: Circuit(failures=2), TWO: Circuit(failures=1)}


async def test_a_rule_that_has_nothing_left_to_change_writes_nothing(world: World) -> None:
    circuits = world.circuits(Lane.AGENT)
    known = await circuits.read()
    there = await written(world.circuits(Lane.AGENT), sets(**{ONE: FULL}))
    changed = await circuits.change(lambda found: {} if ONE in found else {ONE: FULL}, known=known)
    assert (changed.after, changed.known) == ({}, there)


async def test_each_state_has_a_version_of_its_own(world: World) -> None:
    circuits = world.circuits(Lane.AGENT)
    versions = [(await written(circuits, counts(ONE))).version for _ in range(4)]
    versions.append((await written(circuits, sets(**{ONE: WELL}))).version)
    assert len({0, *versions}) == 6


async def test_what_happens_on_one_lane_says_nothing_on_the_other(world: World) -> None:
    for lane, other in ((Lane.AGENT, Lane.CUSTOMER), (Lane.CUSTOMER, Lane.AGENT)):
        before = await world.circuits(other).read()
        await written(world.circuits(lane), sets(**{ONE: replace(FULL, revision=lane)}))
        assert await world.circuits(other).read() == before
        assert (await world.circuits(lane).read()).circuits[ONE].revision == lane


async def test_as_many_as_there_can_be_change_at_once(quick_world: World) -> None:
    circuits = quick_world.circuits(Lane.AGENT)
    every = {f"cs_{number:016d}": replace(FULL, failures=number) for number in range(400)}
    changed = await circuits.change(lambda _known: every, known=KnownCircuits())
    assert changed.after == changed.known.circuits == every
    assert changed.before == dict.fromkeys(every, WELL)
    cleared = await circuits.change(lambda known: dict.fromkeys(known, WELL), known=changed.known)
    assert cleared.known.circuits == {}
    assert cleared.before == every


# --- the real adapter ---
@pytest.mark.emulator
async def test_reading_is_one_call_and_shared(store: StoreWorld, calls: list[str]) -> None:
    reads = store.row_reads()
    lanes = [DynamoCircuits(store.clients.dynamodb, reads=reads, table=store.ledger_of(lane)) for lane in Lane]
    await asyncio.gather(*(lane.read() for lane in lanes), reads.row(store.internal_table, "GENERATION", "-"))
    assert calls == ["BatchGetItem"]


@pytest.mark.emulator
async def test_a_change_is_one_write_and_one_more_for_who_comes_second(store: StoreWorld, calls: list[str]) -> None:
    circuits = store.circuits(Lane.AGENT)
    known = (await circuits.change(counts(ONE), known=KnownCircuits())).known
    await circuits.change(sets(**{ONE: FULL, TWO: FULL}), known=known)
    assert calls == ["UpdateItem", "UpdateItem"]
    calls.clear()
    await circuits.change(counts(ONE), known=known)
    assert calls == ["UpdateItem", "UpdateItem"]


@pytest.mark.emulator
async def test_more_than_fit_into_one_write_are_written_in_parts(store: StoreWorld, calls: list[str]) -> None:
    every = {f"cs_{number:016d}": FULL for number in range(MOST_IN_A_WRITE + 1)}
    await store.circuits(Lane.AGENT).change(lambda _known: every, known=KnownCircuits())
    assert calls == ["UpdateItem", "UpdateItem"]


@pytest.mark.emulator
async def test_the_row_is_as_small_as_what_is_known(store: StoreWorld) -> None:
    await written(store.circuits(Lane.AGENT), sets(**{ONE: Circuit(revision="1", failures=1), TWO: FULL}))
    [item] = rows_in(store, store.internal_ledger).items
    assert set(item) == {"pk", "sk", "version", f"c_{ONE}", f"c_{TWO}"}
    assert item[f"c_{ONE}"] == {"M": {"revision": {"S": "1"}, "failures": {"N": "1"}}}
    await written(store.circuits(Lane.AGENT), sets(**{ONE: WELL, TWO: WELL}))
    [item] = rows_in(store, store.internal_ledger).items
    assert set(item) == {"pk", "sk", "version"}


@pytest.mark.emulator
@pytest.mark.parametrize(
    "spoiled",
    [
        {"S": "open"},
        {"M": {"failures": {"S": "many"}}},
        {"M": {"open_until": {"N": "1"}, "last_code": {"S": "a_code_of_tomorrow"}}},
        {"M": {"is_held": {"N": "1"}}},
        {"L": []},
    ],
    ids=["text", "count", "code", "flag", "list"],
)
async def test_a_circuit_that_cannot_be_read_counts_as_well_and_is_mended(
    store: StoreWorld, spoiled: dict[str, Any]
) -> None:
    circuits = store.circuits(Lane.AGENT)
    await written(circuits, sets(**{ONE: FULL, TWO: FULL}))
    _spoil(store, f"c_{ONE}", spoiled)
    assert (await circuits.read()).circuits == {TWO: FULL}
    changed = await circuits.change(counts(ONE), known=await circuits.read())
    assert changed.known.circuits == {ONE: Circuit(failures=1), TWO: FULL}


@pytest.mark.emulator
@pytest.mark.parametrize(
    "spoiled",
    [{"S": "seven"}, {"N": "1.5"}, {"NULL": True}, {"M": {}}, None],
    ids=["text", "half", "null", "map", "none"],
)
async def test_of_a_row_without_a_version_nothing_is_known_until_the_next_write(
    store: StoreWorld, spoiled: dict[str, Any] | None
) -> None:
    circuits = store.circuits(Lane.AGENT)
    old = await written(circuits, sets(**{TWO: FULL}))
    _spoil(store, "version", spoiled)
    known = await circuits.read()
    assert known == KnownCircuits()
    changed = await circuits.change(counts(ONE), known=known)
    assert changed.before == {ONE: WELL}
    assert await circuits.read() == changed.known
    assert changed.known.circuits == {ONE: Circuit(failures=1), TWO: FULL}
    late = await circuits.change(counts(ONE), known=old)
    assert late.after == {ONE: Circuit(failures=2)}, "what was read before the repair is not taken for what is there"


def _spoil(store: StoreWorld, name: str, value: dict[str, Any] | None) -> None:
    client, table = store.clients.dynamodb, store.internal_ledger
    item = client.get_item(TableName=table, Key=PLACE, ConsistentRead=True)["Item"]
    item.pop(name)
    client.put_item(TableName=table, Item=item if value is None else item | {name: value})


@pytest.mark.parametrize("circuit", [WELL, FULL, Circuit(revision="2", faults=1)], ids=["well", "full", "some"])
def test_a_circuit_is_read_back_as_it_was_written(circuit: Circuit) -> None:
    assert circuit_of(attribute_of(circuit)["M"]) == circuit


# --- what goes wrong ---
@pytest.mark.emulator
async def test_a_write_whose_answer_was_lost_counts_once(store: StoreWorld) -> None:
    """The client sends it again, and the second finds the first's work."""

    class Repeating:
        def __init__(self, client: Any) -> None:
            self.client = client

        def update_item(self, **parameters: Any) -> Any:
            self.client.update_item(**parameters)
            return self.client.update_item(**parameters)

    known = await written(store.circuits(Lane.AGENT), counts(ONE))
    client: Any = Repeating(store.clients.dynamodb)
    circuits = DynamoCircuits(client, reads=store.row_reads(), table=store.internal_ledger)
    changed = await circuits.change(counts(ONE), known=known)
    assert changed.after == {ONE: Circuit(failures=2)}
    assert await store.circuits(Lane.AGENT).read() == changed.known
    assert changed.known.circuits == {ONE: Circuit(failures=2)}


def _stubbed(client: StubClient) -> DynamoCircuits:
    stub: Any = client
    return DynamoCircuits(stub, reads=RowReads(stub), table="table-l")


@pytest.mark.parametrize("code", ["ThrottlingException", "AccessDeniedException"])
async def test_a_store_that_cannot_be_used_is_unavailable(code: str) -> None:
    circuits = _stubbed(StubClient(refusal(code)))
    for operation in (circuits.read(), circuits.change(counts(ONE), known=KnownCircuits())):
        with pytest.raises(Unavailable):
            await operation


async def test_a_transaction_on_the_row_is_waited_for() -> None:
    client = StubClient(refusal("TransactionConflictException"), {"Attributes": {"version": {"N": "7"}}})
    assert (await _stubbed(client).change(counts(ONE), known=KnownCircuits())).known.version == 7
    assert client.calls == ["update_item", "update_item"]


async def test_who_always_comes_second_gives_up() -> None:
    client = StubClient(refusal("ConditionalCheckFailedException"))
    with pytest.raises(Unavailable):
        await _stubbed(client).change(counts(ONE), known=KnownCircuits())
    assert 2 <= len(client.calls) <= 10


async def test_who_is_not_waited_for_any_more_tries_no_more() -> None:
    """A process that is frozen after its answer must not count, an hour later, what it was then too late for."""
    client = StubClient(refusal("ConditionalCheckFailedException"))
    change = asyncio.ensure_future(_stubbed(client).change(counts(ONE), known=KnownCircuits()))
    while not client.calls:
        await asyncio.sleep(0)
    change.cancel()
    await asyncio.wait({change})
    tried = len(client.calls)
    await asyncio.sleep(0.02)
    assert len(client.calls) == tried


# --- many at once ---
@pytest.mark.emulator
def test_of_many_threads_that_count_none_is_lost(store: StoreWorld) -> None:
    async def one() -> bool:
        try:
            await written(store.circuits(Lane.AGENT), counts(ONE))
        except Unavailable:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        counted = sum(pool.map(lambda _: asyncio.run(one()), range(32)))
    known = asyncio.run(store.circuits(Lane.AGENT).read())
    assert known.circuits[ONE].failures == counted > 8


class Claimant:
    """One instance, in a thread of its own: it reads, waits until all have read, and claims."""

    def __init__(self, store: StoreWorld, lane: Lane, start: Barrier) -> None:
        self._start = start
        self._keeper = CircuitKeeper(
            lane=lane,
            circuits=store.circuits(lane),
            journal=store.journal(lane),
            clock=FakeClock(NOW),
            logger=RecordedLog(),
        )

    def claim(self, *provider_ids: str) -> frozenset[str]:
        return asyncio.run(self._claim(provider_ids))

    async def _claim(self, provider_ids: tuple[str, ...]) -> frozenset[str]:
        known = await self._keeper.known()
        self._start.wait(60)
        return (await self._keeper.claim(provider_ids, known=known, within_s=60.0)).providers


@pytest.mark.emulator
@pytest.mark.parametrize("lane", Lane)
def test_of_eight_that_claim_at_once_one_holds_the_trial(
    store: StoreWorld, lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(circuit_writer, "CLAIMING_S", 60.0)
    half_open = Circuit(revision="1", failures=3, openings=1, open_until=NOW - 1)
    for _ in range(5):
        asyncio.run(written(store.circuits(lane), sets(**{ONE: half_open, TWO: half_open})))
        start = Barrier(8)
        with ThreadPoolExecutor(8) as pool:
            jobs = [pool.submit(Claimant(store, lane, start).claim, ONE, TWO) for _ in range(8)]
            held = Counter(id_ for job in jobs for id_ in job.result())
        assert held == {ONE: 1, TWO: 1}
    known = asyncio.run(store.circuits(lane).read())
    assert claimed(known.circuits[ONE], "another", now=NOW) is None
