"""Reading circuits beside something else, claiming and writing within bounds."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest

from shared.domain.circuits import WELL, Circuit, Effect, Incident, Lane
from shared.domain.journal import Happening
from shared.domain.outcomes import OutcomeCode
from shared.errors import Unavailable
from shared.observability import CIRCUITS_UNKNOWN, CIRCUITS_UNWRITTEN
from shared.ports.circuits import KnownCircuits
from shared.services import circuit_writer
from shared.services.circuit_keeper import CircuitKeeper, any_jitter
from tests.support.builders import NOW
from tests.support.fakes import FakeClock
from tests.support.health_fakes import FakeCircuitStore, FakeJournal
from tests.support.search_stage import RecordedLog

PUBLIC, INTERNAL = "cs_aaaaaaaaaaaaaaaa", "ao_aaaaaaaaaaaaaaaa"


class Desk:
    def __init__(self, lane: Lane = Lane.AGENT) -> None:
        self.clock = FakeClock()
        self.log: Any = RecordedLog()
        self.store, self.customers = FakeCircuitStore(), FakeCircuitStore()
        self.journal = FakeJournal(self.clock)
        self.keeper = CircuitKeeper(
            lane=lane,
            circuits=self.store,
            journal=self.journal,
            customer_circuits=self.customers if lane is Lane.AGENT else None,
            clock=self.clock,
            logger=self.log,
        )


async def never(*_anything: Any) -> Any:
    await asyncio.Event().wait()


async def value(result: Any) -> Any:
    await asyncio.sleep(0)
    return result


async def nothing_left() -> bool:
    return asyncio.all_tasks() == {asyncio.current_task()}


def refused() -> Incident:
    return Incident(revision="1", effect=Effect.REFUSAL, code=OutcomeCode.UNAUTHORIZED, may_disable=True)


# --- reading ------------------------------------------------------------------------------------------


def test_circuits_are_read_beside_what_is_read_with_them() -> None:
    desk = Desk()
    desk.store.circuits[PUBLIC] = Circuit(revision="1", failures=1)
    read, known = asyncio.run(desk.keeper.beside(value("registrations")))
    assert (read, known.circuits) == ("registrations", {PUBLIC: Circuit(revision="1", failures=1)})


def test_circuits_that_never_come_are_hardly_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk()
    monkeypatch.setattr(desk.store, "read", never)

    async def scene() -> bool:
        assert await desk.keeper.beside(value("registrations")) == ("registrations", KnownCircuits())
        return await nothing_left()

    assert asyncio.run(scene())
    assert len(desk.log.of(CIRCUITS_UNKNOWN)) == 1


@pytest.mark.parametrize("ends", ["raises", "is cancelled"])
def test_what_is_read_beside_them_decides_and_nothing_is_left_behind(
    monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    desk = Desk()
    monkeypatch.setattr(desk.store, "read", never)

    async def fail() -> None:
        raise ZeroDivisionError

    async def scene() -> bool:
        reading = asyncio.ensure_future(desk.keeper.beside(fail() if ends == "raises" else never()))
        await asyncio.sleep(0)
        if ends == "is cancelled":
            reading.cancel()
        with pytest.raises(ZeroDivisionError if ends == "raises" else asyncio.CancelledError):
            await reading
        return await nothing_left()

    assert asyncio.run(scene())


# --- claiming -----------------------------------------------------------------------------------------


def test_several_trials_are_claimed_by_one_write_and_those_that_are_not_due_are_not() -> None:
    desk = Desk()
    due, later = Circuit(revision="1", open_until=NOW - 1), Circuit(revision="1", open_until=NOW + 9)
    desk.store.circuits = {PUBLIC: due, INTERNAL: later, "ao_bbbbbbbbbbbbbbbb": due}
    desk.store.version = 1

    async def scene() -> Any:
        known = await desk.keeper.known()
        return await desk.keeper.claim(list(desk.store.circuits), known=known, within_s=5)

    claim = asyncio.run(scene())
    assert claim.providers == {PUBLIC, "ao_bbbbbbbbbbbbbbbb"}
    assert {desk.store.circuits[id_].trial_id for id_ in claim.providers} == {claim.trial_id}
    assert desk.store.writes == 1


@pytest.mark.parametrize("bound", ["its own", "the time that is left"])
def test_a_claim_is_bounded(monkeypatch: pytest.MonkeyPatch, bound: str) -> None:
    desk = Desk()
    desk.store.pause = never
    if bound == "its own":
        monkeypatch.setattr(circuit_writer, "CLAIMING_S", 0.01)
    claiming = desk.keeper.claim([PUBLIC], known=KnownCircuits(), within_s=60 if bound == "its own" else 0.01)
    assert asyncio.run(claiming).providers == frozenset()
    assert len(desk.log.of(CIRCUITS_UNWRITTEN)) == 1


# --- settling -----------------------------------------------------------------------------------------


def test_nothing_to_settle_costs_nothing() -> None:
    desk = Desk()
    asyncio.run(desk.keeper.settle({}, known=KnownCircuits(), within_s=5))
    assert (desk.store.reads, desk.store.writes) == (0, 0)


def test_what_another_instance_wrote_meanwhile_is_counted_on() -> None:
    desk = Desk()
    desk.store.meanwhile.append(lambda _circuits: {PUBLIC: Circuit(revision="1", failures=2)})
    incident = Incident(revision="1", effect=Effect.TRANSIENT, code=OutcomeCode.TIMEOUT)
    asyncio.run(desk.keeper.settle({PUBLIC: incident}, known=KnownCircuits(), within_s=5))
    assert desk.store.circuits[PUBLIC].open_until == NOW + 30


@pytest.mark.parametrize(("id_", "is_told"), [(PUBLIC, True), (INTERNAL, False)], ids=["public", "internal"])
def test_what_agents_take_out_of_use_is_told_to_the_customers_lane_where_customers_know_it(
    id_: str, is_told: bool
) -> None:
    desk = Desk()
    desk.store.circuits[id_] = Circuit(revision="1", refusals=2)
    desk.store.version = 1
    known = asyncio.run(desk.keeper.known())
    asyncio.run(desk.keeper.settle({id_: refused()}, known=known, within_s=5))
    assert desk.store.circuits[id_].disabled_at == NOW
    assert (desk.customers.circuits.get(id_, WELL).disabled_at == NOW) is is_told
    assert [entry.happening for entry in desk.journal.entries] == [Happening.AUTO_DISABLED]


def test_a_lane_that_cannot_be_told_leaves_the_agents_lane_and_the_journal_as_they_should_be() -> None:
    desk = Desk()
    desk.store.circuits[PUBLIC] = Circuit(revision="1", refusals=2)
    desk.store.version = 1
    desk.customers.failure = Unavailable()
    known = asyncio.run(desk.keeper.known())
    asyncio.run(desk.keeper.settle({PUBLIC: refused()}, known=known, within_s=5))
    assert desk.store.circuits[PUBLIC].disabled_at == NOW
    assert len(desk.journal.entries) == 1
    assert unwritten(desk) == [("customer_circuits", [PUBLIC])]


def about_to_lose(desk: Desk, *ids: str) -> KnownCircuits:
    desk.store.circuits |= {id_: Circuit(revision="1", refusals=2) for id_ in ids}
    desk.store.version += 1
    return asyncio.run(desk.keeper.known())


def unwritten(desk: Desk) -> list[tuple[str, list[str]]]:
    return [(line["part"], line["providers"]) for line in desk.log.of(CIRCUITS_UNWRITTEN)]


def test_taking_a_provider_out_of_use_may_take_longer_than_a_count() -> None:
    desk = Desk()
    known = about_to_lose(desk, PUBLIC)

    async def slowly(*_entries: Any) -> None:
        await asyncio.sleep(0.05)

    desk.customers.pause = desk.journal.pause = slowly
    asyncio.run(desk.keeper.settle({PUBLIC: refused()}, known=known, within_s=0.001, whole_within_s=60))
    assert desk.customers.circuits[PUBLIC].disabled_at == NOW
    assert [entry.happening for entry in desk.journal.entries] == [Happening.AUTO_DISABLED]
    assert unwritten(desk) == []


def test_so_it_does_where_only_what_others_wrote_meanwhile_makes_it_too_much() -> None:
    desk = Desk()
    desk.store.meanwhile.append(lambda _circuits: {PUBLIC: Circuit(revision="1", refusals=2)})
    desk.customers.pause = partial(asyncio.sleep, 0.05)
    asyncio.run(desk.keeper.settle({PUBLIC: refused()}, known=KnownCircuits(), within_s=0.001, whole_within_s=60))
    assert desk.customers.circuits[PUBLIC].disabled_at == NOW


def test_the_history_and_the_customers_lane_do_not_wait_for_each_other() -> None:
    desk = Desk()
    known = about_to_lose(desk, PUBLIC)

    async def scene() -> None:
        noted, told = asyncio.Event(), asyncio.Event()

        async def note() -> None:
            noted.set()
            await told.wait()

        async def tell() -> None:
            told.set()
            await noted.wait()

        desk.journal.pause, desk.customers.pause = note, tell
        await desk.keeper.settle({PUBLIC: refused()}, known=known, within_s=60)

    asyncio.run(scene())
    assert (len(desk.journal.entries), len(desk.customers.circuits)) == (1, 1)


def test_what_of_it_is_lost_is_said_of_whom() -> None:
    desk = Desk()
    known = about_to_lose(desk, PUBLIC, INTERNAL)
    desk.customers.pause = desk.journal.pause = never

    async def scene() -> bool:
        incidents = {PUBLIC: refused(), INTERNAL: refused()}
        await desk.keeper.settle(incidents, known=known, within_s=0.001, whole_within_s=0.01)
        return await nothing_left()

    assert asyncio.run(scene())
    assert unwritten(desk) == [("history", [INTERNAL, PUBLIC]), ("customer_circuits", [PUBLIC])]


def test_of_one_part_that_fails_the_other_is_done() -> None:
    desk = Desk()
    known = about_to_lose(desk, PUBLIC)
    desk.journal.failure = Unavailable()
    desk.customers.pause = partial(asyncio.sleep, 0.01)
    asyncio.run(desk.keeper.settle({PUBLIC: refused()}, known=known, within_s=60))
    assert desk.customers.circuits[PUBLIC].disabled_at == NOW
    assert unwritten(desk) == [("history", [PUBLIC])]


def test_a_count_is_let_go_though_losing_a_provider_might_take_longer() -> None:
    desk = Desk()
    desk.store.pause = never
    asyncio.run(desk.keeper.settle({PUBLIC: refused()}, known=KnownCircuits(), within_s=0.01, whole_within_s=60))
    assert unwritten(desk) == [("circuits", [PUBLIC])]


def test_a_write_that_takes_too_long_is_let_go() -> None:
    desk = Desk()
    desk.store.pause = never

    async def scene() -> bool:
        await desk.keeper.settle({PUBLIC: refused()}, known=KnownCircuits(), within_s=0.01)
        return await nothing_left()

    assert asyncio.run(scene())
    assert len(desk.log.of(CIRCUITS_UNWRITTEN)) == 1


def test_jitter_stays_within_its_bounds_and_differs() -> None:
    drawn = {any_jitter() for _ in range(100)}
    assert len(drawn) > 50
    assert all(-1 <= each <= 1 for each in drawn)
