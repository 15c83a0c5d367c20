"""A model of several gateways whose circuits are shared, on both lanes; `test_circuit_model` lets it run.

Each instance has its own keepers, its own adapters over the same tables, and a clock of its own that may be off. What
providers answer, and what happens elsewhere while somebody waits for an answer, is part of the plan of each search, so
that every run can be repeated. What must be known of a provider is worked out here a second time, from the words of
the documentation.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from shared.adapters.circuit_items import CIRCUITS
from shared.adapters.circuits import DynamoCircuits
from shared.adapters.keys import ONLY, key_of
from shared.adapters.row_reads import RowReads
from shared.domain.circuits import WELL, Circuit, Circuits, Lane, found_well, revision_of
from shared.domain.deadlines import Deadline
from shared.domain.exposure import ExposureProfile
from shared.domain.journal import Happening, happenings
from shared.domain.outcomes import Outcome, OutcomeCode, OutcomeStatus
from shared.domain.registrations import Source
from shared.ports.circuits import KnownCircuits
from shared.services.circuit_door import CircuitDoor, Passes, is_well
from shared.services.circuit_keeper import CircuitKeeper
from shared.services.put_back import PutBack
from tests.contract.pool_model import NOW, OwnClock, Time
from tests.contract.worlds import StoreWorld
from tests.support.builders import a_source
from tests.support.search_stage import RecordedLog

INSTANCES = 3
PROVIDERS = 3  # the last of them is for agents alone
CLOCKS_OFF_S = (-2.0, 0.0, 3.0)
OWN_LIMIT_MS = 8_000
LEASE_S = 30.0
WRITES = {"UpdateItem", "PutItem", "DeleteItem"}

# What a provider does: the outcome, and how it counts.
ANSWERS: dict[str, tuple[OutcomeStatus, OutcomeCode | None, str]] = {
    "ok": (OutcomeStatus.SUCCESS, None, "well"),
    "empty": (OutcomeStatus.EMPTY, None, "well"),
    "timeout": (OutcomeStatus.FAILED, OutcomeCode.TIMEOUT, "failures"),
    "dropped": (OutcomeStatus.FAILED, OutcomeCode.CONNECTION_FAILED, "failures"),
    "fault": (OutcomeStatus.FAILED, OutcomeCode.INVALID_RESPONSE, "faults"),
    "refused": (OutcomeStatus.FAILED, OutcomeCode.UNAUTHORIZED, "refusals"),
    "busy for 40 s": (OutcomeStatus.FAILED, OutcomeCode.RATE_LIMITED, "hold"),
    "busy for days": (OutcomeStatus.FAILED, OutcomeCode.UPSTREAM_ERROR, "hold"),
    "hurried": (OutcomeStatus.FAILED, OutcomeCode.TIMEOUT, "nothing"),
    "no keys": (OutcomeStatus.SKIPPED, OutcomeCode.KEYS_EXHAUSTED, "nothing"),
}
HOLDS_S = {"busy for 40 s": 40.0, "busy for days": 200_000.0}


@dataclass(frozen=True)
class Event:
    """Something that is nobody's search: `put_back`, `probe`, `mended` or `rewritten` (of which the circuits were not
    told), of one provider; or `time`.
    """

    what: str
    provider: int


@dataclass(frozen=True)
class Search:
    """`answers` are those of the providers in their order. `hurried`: it has a second for all of it. `killed`: the
    process ends before it writes. `between` goes on after it has read and before it claims, `meanwhile` while it waits
    for answers.
    """

    instance: int
    lane: Lane
    answers: tuple[str, str, str] = ("ok", "ok", "ok")
    jitter: float = 0.0
    takes_s: float = 0.0
    killed: bool = False
    hurried: bool = False
    between: tuple[Search | Event, ...] = ()
    meanwhile: tuple[Search | Event, ...] = ()


Place: TypeAlias = "tuple[Lane, str]"


@dataclass(eq=False)
class Going:
    """A search under way: what it has read, whom it asks, and the calls that it made."""

    search: Search
    revisions: dict[str, str]
    knew: set[str] = field(default_factory=set)
    free: set[str] = field(default_factory=set)
    read: dict[str, Expected] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    held: set[str] = field(default_factory=set)
    calls: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Expected:
    """What must be known of one provider on one lane."""

    revision: str = ""
    failures: int = 0
    refusals: int = 0
    faults: int = 0
    openings: int = 0
    until: float = 0.0
    is_held: bool = False
    trial: Going | None = None
    trial_until: float = 0.0
    is_lost: bool = False

    def is_well(self, revision: str) -> bool:
        return self == Expected() or (not self.is_lost and self.revision != revision)

    def is_free(self, revision: str) -> bool:
        return self.is_well(revision) or not (self.until or self.is_lost)

    def is_due(self, now: float, *, hurried: bool) -> bool:
        """Whoever is in a hurry leaves it to others for 30 s, and again after each trial."""
        if not self.until or self.is_lost or now < self.until or (self.trial and now < self.trial_until):
            return False
        return not hurried or not 0 <= now - max(self.until, self.trial_until) < 30.0


def _stores_of(world: StoreWorld) -> dict[Lane, DynamoCircuits]:
    """Which read in one call what is asked for at once."""
    client, reads = world.clients.dynamodb, RowReads(world.clients.dynamodb)
    return {lane: DynamoCircuits(client, reads=reads, table=world.ledger_of(lane)) for lane in Lane}


class Instance:
    def __init__(self, model: CircuitModel, number: int) -> None:
        self.clock = OwnClock(model.time, CLOCKS_OFF_S[number])
        self.jitter = 0.0
        world = model.world
        stores = _stores_of(world)
        self.keepers = {
            lane: CircuitKeeper(
                lane=lane,
                circuits=stores[lane],
                journal=world.journal(lane),
                clock=self.clock,
                logger=RecordedLog(),
                customer_circuits=stores[Lane.CUSTOMER] if lane is Lane.AGENT else None,
                jitter=lambda: self.jitter,
            )
            for lane in Lane
        }
        self.doors = {lane: CircuitDoor(keeper=keeper, clock=self.clock) for lane, keeper in self.keepers.items()}


class CircuitModel:
    def __init__(self, world: StoreWorld) -> None:
        self.world = world
        self.time = Time()
        self.under_way: list[Going] = []
        self.expected: dict[Place, Expected] = {}
        self.noted: Counter[tuple[Lane, str, Happening]] = Counter()
        self.trials: dict[Place, list[float]] = {}  # when those began that nobody has heard of since
        for lane in Lane:
            key = key_of(CIRCUITS, ONLY)
            world.clients.dynamodb.delete_item(TableName=world.ledger_of(lane), Key=key)
        profiles = [ExposureProfile.CUSTOMER_SAFE] * (PROVIDERS - 1) + [ExposureProfile.AGENT_ONLY]
        self.sources = [a_source(exposure_profile=profile) for profile in profiles]
        self.instances = [Instance(self, number) for number in range(INSTANCES)]
        self.stores = _stores_of(world)
        self.observer = OwnClock(self.time)
        self.put_back = PutBack(
            circuits=self.stores,
            journals={lane: world.journal(lane) for lane in Lane},
            clock=self.observer,
            logger=RecordedLog(),
        )
        self._listening = ExitStack()
        self._listening.enter_context(world.clients.heard.by(self._note_call))

    def close(self) -> None:
        self._listening.close()

    def _note_call(self, _service: str, operation: str, asked: Mapping[str, Any]) -> None:
        if self.under_way:
            self.under_way[-1].calls.append((operation, asked.get("TableName", "")))

    # --- a search ---
    async def search(self, search: Search) -> Going:
        """As the services do it: read, claim, ask, settle."""
        instance, sources = self.instances[search.instance], self._sources(search.lane)
        going = Going(search, {source.id: revision_of(source) for source in sources})
        self.under_way.append(going)
        keeper, door, now = instance.keepers[search.lane], instance.doors[search.lane], instance.clock.now()
        known = await keeper.known()
        self._read(going)
        for event in search.between:
            await self.happens(event)
        deadline = Deadline.after(1 if search.hurried else 60, now_s=instance.clock.monotonic())
        waiting = [source for source in sources if not is_well(source, known, now=now)]
        assert {source.id for source in waiting} == set(going.revisions) - going.free
        passes = Passes(known=known)
        if waiting:
            passes = await door.passes(waiting, own_limit_ms=lambda _: OWN_LIMIT_MS, known=known, deadline=deadline)
        self._begun(going, set(passes.asked), set(passes.held))
        for event in search.meanwhile:
            await self.happens(event)
        self.time.s += search.takes_s
        instance.jitter = search.jitter
        if not search.killed:
            outcomes = {each.id: self._outcome(going, each) for each in sources if each.id in going.asked}
            said = {
                each.id: door.incident(each, outcomes[each.id], known=known, passes=passes, own_limit_ms=OWN_LIMIT_MS)
                for each in sources
                if each.id in going.asked
            }
            incidents = {id_: incident for id_, incident in said.items() if incident is not None}
            version, before = (await self.known(search.lane)).version, self._snapshot()
            await keeper.settle(incidents, known=passes.known, within_s=60.0)
            self._settled(going)
            if self._snapshot() == before:
                assert (await self.known(search.lane)).version == version, "what changes nothing is not written"
        self.under_way.pop()
        self._check_calls(going)
        await self.check()
        return going

    async def happens(self, event: Search | Event) -> None:
        if isinstance(event, Search):
            await self.search(event)
        elif event.what == "rewritten":
            self.rewrite(event.provider)
        elif event.what == "time":
            self.advance(LEASE_S + 10.0)
        else:
            works = {"put_back": self.operator_puts_back, "probe": self.probe_finds_well, "mended": self.operator_mends}
            await works[event.what](event.provider)

    def _sources(self, lane: Lane) -> list[Source]:
        """As they are registered now."""
        return self.sources[:] if lane is Lane.AGENT else self.sources[:-1]

    def answer_of(self, search: Search, provider_id: str) -> str:
        return search.answers[[source.id for source in self.sources].index(provider_id)]

    def _outcome(self, going: Going, source: Source) -> Outcome:
        answer = self.answer_of(going.search, source.id)
        status, code, _ = ANSWERS[answer]
        now = self.instances[going.search.instance].clock.now()
        return Outcome(
            provider_id=source.id,
            name=source.name,
            status=status,
            error_code=code,
            duration_ms=200 if answer == "hurried" else OWN_LIMIT_MS,
            retry_at=now + HOLDS_S[answer] if answer in HOLDS_S else None,
        )

    # --- what the operator, the probe and the time do ---
    def advance(self, seconds: float) -> None:
        self.time.s += seconds

    def rewrite(self, provider: int) -> None:
        """The registration is written anew."""
        source = self.sources[provider]
        self.sources[provider] = replace(source, generation=source.generation + 1)

    async def operator_puts_back(self, provider: int) -> None:
        """Which takes a moment: nobody loses it twice at the same time."""
        self.advance(0.0137)
        self.rewrite(provider)
        id_, revision = self.sources[provider].id, revision_of(self.sources[provider])
        await self._apart(self.put_back(id_, revision=revision))
        for lane in Lane:
            before = self._of(lane, id_)
            if before == Expected():
                continue
            self._begin_anew(lane, id_, revision)
            if before.is_lost or before.until:
                self._note(lane, id_, Happening.PUT_BACK if before.is_lost else Happening.CIRCUIT_CLOSED)
            assert not (await self.known(lane)).circuits[id_].disabled_at
        await self.check()

    async def operator_mends(self, provider: int) -> None:
        """Which puts nothing back, and what was asked before says nothing of it."""
        self.rewrite(provider)
        id_, revision = self.sources[provider].id, revision_of(self.sources[provider])
        await self._apart(self.put_back.begin_anew(id_, revision=revision))
        for lane in Lane:
            before = self._of(lane, id_)
            if before != Expected() and not before.is_lost:
                self._begin_anew(lane, id_, revision)
        await self.check()

    def _begin_anew(self, lane: Lane, id_: str, revision: str) -> None:
        self.expected[lane, id_] = Expected(revision=revision)
        self.trials.pop((lane, id_), None)

    async def probe_finds_well(self, provider: int) -> None:
        id_, now = self.sources[provider].id, self.observer.now()

        def rule(circuits: Circuits) -> Circuits:
            circuit = circuits.get(id_, WELL)
            half_open = found_well(circuit, now=now)
            return {} if half_open is circuit else {id_: half_open}

        for lane in Lane:
            changed = await self._apart(self.stores[lane].change(rule, known=await self.known(lane)))
            entries = happenings(changed.before, changed.after, lane=lane, now=now)
            await self._apart(self.world.journal(lane).note(entries))
            expected = self._of(lane, id_)
            if expected.until > now and not expected.is_held and not expected.is_lost:
                expected.until = now
                self._note(lane, id_, Happening.CIRCUIT_HALF_OPENED)
        await self.check()

    async def _apart(self, work: Any) -> Any:
        """What is no search's is not counted as one's."""
        under_way, self.under_way = self.under_way, []
        try:
            return await work
        finally:
            self.under_way = under_way

    async def known(self, lane: Lane) -> KnownCircuits:
        return await self._apart(self.stores[lane].read())

    # --- what must come of it ---
    def _of(self, lane: Lane, id_: str) -> Expected:
        return self.expected.setdefault((lane, id_), Expected())

    def _note(self, lane: Lane, id_: str, happening: Happening) -> None:
        self.noted[lane, id_, happening] += 1

    def _read(self, going: Going) -> None:
        for id_, revision in going.revisions.items():
            expected = self._of(going.search.lane, id_)
            if not expected.is_well(revision):
                going.knew.add(id_)
            if expected.is_free(revision):
                going.free.add(id_)
            else:
                going.read[id_] = replace(expected)

    def _begun(self, going: Going, asked: set[str], held: set[str]) -> None:
        """Those that are due by what it read are asked on trial, unless another holds that by now."""
        lane, now = going.search.lane, self.instances[going.search.instance].clock.now()
        for id_ in going.revisions.keys() - going.free:
            expected = self._of(lane, id_)
            seems_due = going.read[id_].is_due(now, hurried=going.search.hurried)
            is_held = seems_due and expected.is_due(now, hurried=going.search.hurried)
            is_asked = is_held or (seems_due and expected.is_free(going.revisions[id_]))
            assert (id_ in held) == is_held, "on trial when it is due, and only then"
            assert (id_ in asked) == is_asked, "asked when it may be, and only then"
            if is_held:
                self._check_alone((lane, id_))
                expected.trial, expected.trial_until = going, now + LEASE_S
        going.asked, going.held = going.free | asked, held

    def _check_alone(self, place: Place) -> None:
        """By the true time, for all that the clocks differ."""
        differ_s = max(each.clock.off_s for each in self.instances) - min(each.clock.off_s for each in self.instances)
        trials = self.trials.setdefault(place, [])
        assert all(self.time.s - began >= LEASE_S - differ_s for began in trials), "one trial at a time"
        trials.append(self.time.s)

    def _snapshot(self) -> dict[Place, Expected]:
        return {place: replace(each) for place, each in self.expected.items() if each != Expected()}

    def _settled(self, going: Going) -> None:
        for id_ in going.asked:
            self._counted(going, id_, self._of(going.search.lane, id_))

    def _counted(self, going: Going, id_: str, expected: Expected) -> None:
        counts, revision = ANSWERS[self.answer_of(going.search, id_)][2], going.revisions[id_]
        is_newer, is_trial = expected.revision != revision, expected.trial is going
        is_older = bool(expected.revision) and int(revision) < int(expected.revision)
        is_late = bool(expected.until) and not is_newer and not is_trial
        if expected.is_lost or is_older or is_late:
            return
        if counts == "nothing":
            if is_trial and not is_newer:
                self._given_back((going.search.lane, id_), expected)
                expected.trial_until = self.instances[going.search.instance].clock.now()
        elif counts == "well":
            if id_ in going.knew and not is_newer:
                self._forget(going.search.lane, id_)
        else:
            self._failed(going, id_, counts)

    def _given_back(self, place: Place, expected: Expected) -> None:
        expected.trial, expected.trial_until = None, 0.0
        self.trials.pop(place, None)

    def _failed(self, going: Going, id_: str, counts: str) -> None:
        lane, revision = going.search.lane, going.revisions[id_]
        expected = self._of(lane, id_)
        was_open, is_newer = bool(expected.until), expected.revision != revision
        if is_newer:
            self._forget(lane, id_, quietly=True)
            expected = self._of(lane, id_)
        self._given_back((lane, id_), expected)
        expected.revision = revision
        if counts == "hold":
            held_s = min(HOLDS_S[self.answer_of(going.search, id_)], 3_600.0)
            expected.until, expected.is_held = self.instances[going.search.instance].clock.now() + held_s, True
            self._note(lane, id_, Happening.CIRCUIT_HELD)
            return
        setattr(expected, counts, getattr(expected, counts) + 1)
        self._open_or_lose(going, id_, expected, was_open=was_open, is_newer=is_newer)

    def _open_or_lose(self, going: Going, id_: str, expected: Expected, *, was_open: bool, is_newer: bool) -> None:
        search = going.search
        now = self.instances[search.instance].clock.now()
        is_too_much = expected.refusals >= 3 or expected.faults >= 5
        if is_too_much and search.lane is Lane.AGENT:
            expected.is_lost, expected.until, expected.is_held = True, 0.0, False
            self._note(Lane.AGENT, id_, Happening.AUTO_DISABLED)
            if id_.startswith("cs_"):
                self.expected[Lane.CUSTOMER, id_] = Expected(revision=expected.revision, is_lost=True)
                self.trials.pop((Lane.CUSTOMER, id_), None)
        elif is_too_much or expected.failures >= 3 or expected.until:
            wait_s = min(30.0 * 2**expected.openings, 900.0) * (1 + search.jitter / 10)
            expected.openings = min(expected.openings + 1, 16)  # the wait has been the longest for long
            expected.until, expected.is_held = now + wait_s, False
            self._note(search.lane, id_, Happening.CIRCUIT_OPENED)
        elif was_open and is_newer:
            self._note(search.lane, id_, Happening.CIRCUIT_CLOSED)

    def _forget(self, lane: Lane, id_: str, *, quietly: bool = False) -> None:
        before = self.expected.pop((lane, id_))
        self.trials.pop((lane, id_), None)
        if before.until and not quietly:
            self._note(lane, id_, Happening.CIRCUIT_CLOSED)

    # --- what must hold at any time ---
    async def check(self) -> None:
        both = await self._apart(asyncio.gather(*(self.stores[lane].read() for lane in Lane)))
        for lane, known in zip(Lane, both, strict=True):
            circuits = known.circuits
            expected = {id_: each for (of, id_), each in self.expected.items() if of is lane and each != Expected()}
            assert set(circuits) == set(expected)
            for id_, each in expected.items():
                self._check_circuit(circuits[id_], each)

    def _check_circuit(self, circuit: Circuit, expected: Expected) -> None:
        assert bool(circuit.disabled_at) == expected.is_lost
        if expected.is_lost:
            return
        counts = (circuit.failures, circuit.refusals, circuit.faults, circuit.openings)
        assert counts == (expected.failures, expected.refusals, expected.faults, expected.openings)
        assert (circuit.revision, circuit.is_held) == (expected.revision, expected.is_held)
        assert abs(circuit.open_until - expected.until) < 0.001
        assert circuit.trial_until == expected.trial_until
        assert bool(circuit.trial_id) == (expected.trial is not None)

    def _check_calls(self, going: Going) -> None:
        """Of the search itself; what others did meanwhile is theirs."""
        writes = [table for operation, table in going.calls if operation in WRITES]
        all_good = all(ANSWERS[answer][2] in {"well", "nothing"} for answer in going.search.answers)
        assert [operation for operation, _ in going.calls if operation not in WRITES] == ["BatchGetItem"]
        if not going.knew and all_good:
            assert writes == [], "where all are well nothing is written"
        if going.search.lane is Lane.CUSTOMER:
            assert self.world.internal_ledger not in writes, "customers write nothing of the agents'"

    async def check_journal(self) -> None:
        """Each change of state was noted once, on its lane."""
        found: Counter[tuple[Lane, str, Happening]] = Counter()
        for lane in Lane:
            for source in self.sources:
                entries = await self.world.journal_reader(lane).latest(source.id, limit=1_000)
                found.update((lane, source.id, entry.happening) for entry in entries)
        assert found == +self.noted


__all__ = ["ANSWERS", "INSTANCES", "NOW", "PROVIDERS", "CircuitModel", "Event", "Search"]
