"""Stand-ins for the adapters of the live kinds, in memory: keys, the pool ledger, allowances, and a live service.

    keys = FakePoolKeys({Pool.EXA: {"EXA_API_KEY": "k-demo-one", "EXA_API_KEY_1": "k-demo-two"}})
    ledger = FakePoolLedger(clock=clock)
    allowances = FakeAllowances(clock=clock)
    allowances.set_limit(Pool.EXA, 3)
    desk = FakeAllowanceDesk(allowances, store)

Like the other fakes each has `failure`. The suites in `tests/contract` hold them to the ports.
"""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from shared.domain.acquisitions import Acquired, Wanted
from shared.domain.allowances import DEFAULT_LIMIT, LEASE_S, Allowance, Reservation, Review, has_left, slot_of
from shared.domain.changes import Change
from shared.domain.deadlines import Deadline
from shared.domain.key_pools import ConfiguredKeys, PoolState, Rest, configured_keys
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import Question, Retrieval
from shared.domain.pools import KEYED_POOLS, Pool
from shared.domain.registrations import Source
from shared.errors import Conflict, PreconditionFailed, Refused
from shared.ports.clock import Clock
from shared.ports.meter import Meter
from shared.ports.retriever import RetrieverLimits
from shared.ports.secret_box import Unsealer
from tests.support.fake_exchanges import FakeExchanges
from tests.support.fakes import Failing, FakeStore
from tests.support.meters import ScriptedMeter


class FakePoolKeys(Failing):
    """`entries` are the pools' secrets, read anew each time; `reads` counts."""

    def __init__(self, configured: Mapping[Pool, Mapping[str, object]] | None = None) -> None:
        self.entries = dict(configured or {})
        self.reads = 0

    async def configured(self, pool: Pool) -> ConfiguredKeys:
        self.reads += 1
        self._may_fail()
        return configured_keys(pool, self.entries.get(pool, {})) if pool in KEYED_POOLS else ConfiguredKeys()


class FakePoolLedger(Failing):
    """`states` by pool; `reads` and `writes` count."""

    def __init__(self, *, clock: Clock) -> None:
        self.states: dict[Pool, PoolState] = {}
        self.reads = 0
        self.writes = 0
        self._clock = clock

    async def state(self, pool: Pool) -> PoolState:
        self.reads += 1
        self._may_fail()
        return self._state(pool)

    async def rest(self, pool: Pool, fingerprints: Sequence[str], rest: Rest, *, active: str | None) -> PoolState:
        self._may_fail()
        state = self._state(pool)
        moving = [each for each in fingerprints if _ends(state, each) < rest.until]
        if moving:
            self.writes += 1
            given = active if len(moving) == len(fingerprints) else self._freer(state, active)
            rests = {**state.rests, **dict.fromkeys(moving, rest)}
            self.states[pool] = PoolState(active=given or state.active, rests=rests)
        return self._state(pool)

    async def wake(self, pool: Pool, fingerprints: Sequence[str]) -> PoolState:
        self._may_fail()
        self.writes += 1
        state = self._state(pool)
        rests = {each: rest for each, rest in state.rests.items() if each not in fingerprints}
        self.states[pool] = replace(state, rests=rests)
        return self.states[pool]

    def _state(self, pool: Pool) -> PoolState:
        return self.states.get(pool, PoolState())

    def _freer(self, state: PoolState, active: str | None) -> str | None:
        """Another wrote first: the given key is in use unless it rests by now."""
        rests = active is not None and state.is_resting(active, now=self._clock.now())
        return state.active if rests else active


class FakeAllowances(Failing):
    """`all` by pool. `confirmed` and `released` hold the ids of what was settled, oldest first."""

    def __init__(self, *, clock: Clock) -> None:
        self.all: dict[Pool, Allowance] = {}
        self.confirmed: list[str] = []
        self.released: list[str] = []
        self.clock = clock
        self._ids = itertools.count(1)

    def of(self, pool: Pool) -> Allowance:
        return self.all.get(pool) or Allowance(pool=pool, limit=DEFAULT_LIMIT[pool])

    def set_limit(self, pool: Pool, limit: int) -> None:
        self.all[pool] = replace(self.of(pool), limit=limit)

    async def reserve(self, pool: Pool) -> Reservation:
        self._may_fail()
        now, allowance = self.clock.now(), self.of(pool)
        if allowance.used_at(now) >= allowance.limit:
            raise Refused(OutcomeCode.ALLOWANCE_EXHAUSTED, retry_at=allowance.free_again_at(now))
        reservation = Reservation(pool=pool, id=f"{next(self._ids):016x}")
        kept = {slot: units for slot, units in allowance.slots.items() if not has_left(slot, now=now)}
        opened = {**allowance.open, reservation.id: now + LEASE_S}
        self.all[pool] = replace(allowance, slots=kept, open=opened)
        return reservation

    async def confirm(self, reservation: Reservation) -> None:
        self._may_fail()
        if self._close(reservation):
            self.confirmed.append(reservation.id)
            self._count(reservation.pool, 1)

    async def release(self, reservation: Reservation) -> None:
        self._may_fail()
        if self._close(reservation):
            self.released.append(reservation.id)

    def settle_reviewed(self, pool: Pool, review: Review) -> None:
        """Takes units out of what is unknown, the oldest first."""
        now, allowance = self.clock.now(), self.of(pool)
        units = review.happened + review.did_not_happen
        gathered = min(units, allowance.unknown)
        expired = sorted((end, each) for each, end in allowance.open.items() if end <= now)
        gone = {each for _, each in expired[: units - gathered]}
        opened = {each: end for each, end in allowance.open.items() if each not in gone}
        self.all[pool] = replace(allowance, unknown=allowance.unknown - gathered, open=opened)
        if review.happened:
            self._count(pool, review.happened)

    def _close(self, reservation: Reservation) -> bool:
        allowance = self.of(reservation.pool)
        opened = dict(allowance.open)
        was_open = opened.pop(reservation.id, None) is not None
        self.all[reservation.pool] = replace(allowance, open=opened)
        return was_open

    def _count(self, pool: Pool, units: int) -> None:
        allowance, slot = self.of(pool), slot_of(self.clock.now())
        self.all[pool] = replace(allowance, slots={**allowance.slots, slot: allowance.slots.get(slot, 0) + units})


class FakeAllowanceDesk(Failing):
    def __init__(self, allowances: FakeAllowances, store: FakeStore) -> None:
        self.allowances = allowances
        self.store = store

    async def read(self, pool: Pool) -> Allowance:
        self._may_fail()
        return self.allowances.of(pool)

    async def change(
        self, pool: Pool, *, limit: int, review: Review, expected_generation: int, change: Change
    ) -> Allowance:
        self._may_fail()
        before = self.allowances.of(pool)
        if before.generation != expected_generation:
            raise PreconditionFailed("Read it again, then decide.")
        if review.happened + review.did_not_happen > before.unknown_at(self.allowances.clock.now()):
            raise Conflict("Fewer units are unknown than were reviewed.", code="nothing_unknown")
        self.allowances.settle_reviewed(pool, review)
        changed = replace(self.allowances.of(pool), limit=limit, generation=expected_generation + 1)
        self.allowances.all[pool] = changed
        self.store.note(change)
        return changed


class ScriptedLiveRetriever:
    """Plays `acts[source id]`, an async function of what is wanted and the meter; without one, it finds nothing."""

    def __init__(self, *, query_characters: int = 1024, results: int = 10, timeout_s: float = 25.0) -> None:
        self.limits = RetrieverLimits(query_characters=query_characters, results=results, timeout_s=timeout_s)
        self.acts: dict[str, Callable[[Question, Meter], Awaitable[Retrieval]]] = {}
        self.fetches: dict[str, Callable[[Wanted, Meter], Awaitable[Acquired]]] = {}
        self.asked: list[tuple[Source, Question | Wanted]] = []

    async def retrieve(self, source: Source, question: Question, *, meter: Meter) -> Retrieval:
        self.asked.append((source, question))
        act = self.acts.get(source.id)
        return await act(question, meter) if act else Retrieval()

    async def acquire(self, source: Source, wanted: Wanted, *, meter: Meter) -> Acquired:
        """Raises `Refused` (`not_found`) for a source without a script."""
        self.asked.append((source, wanted))
        fetch = self.fetches.get(source.id)
        if fetch is None:
            raise Refused(OutcomeCode.NOT_FOUND)
        return await fetch(wanted, meter)


class ScriptedMeters:
    """Opens meters that let everything through, each with `keys`. `opened` holds what was opened, oldest first."""

    def __init__(self, exchanges: FakeExchanges, *, clock: Clock, keys: Sequence[str | None] = ("k-demo",)) -> None:
        self.opened: list[tuple[Source, Pool, Deadline]] = []
        self.meters: list[ScriptedMeter] = []
        self._exchanges = exchanges
        self._clock = clock
        self._keys = keys

    def open(self, source: Source, pool: Pool, *, deadline: Deadline) -> ScriptedMeter:
        self.opened.append((source, pool, deadline))
        left_s = deadline.remaining_s(self._clock.monotonic())
        meter = ScriptedMeter(self._exchanges, source, clock=self._clock, keys=self._keys, timeout_s=left_s)
        self.meters.append(meter)
        return meter


class ScriptedAsker:
    """Plays `acts[source id]`, an async function of the question; without one, it finds nothing."""

    def __init__(self, *, query_characters: int = 1024, results: int = 10, timeout_s: float = 25.0) -> None:
        self.limits = RetrieverLimits(query_characters=query_characters, results=results, timeout_s=timeout_s)
        self.acts: dict[str, Callable[[Question], Awaitable[Retrieval]]] = {}
        self.asked: list[tuple[Source, Question, Deadline]] = []

    async def ask(self, source: Source, question: Question, *, unsealer: Unsealer, deadline: Deadline) -> Retrieval:
        self.asked.append((source, question, deadline))
        act = self.acts.get(source.id)
        return await act(question) if act else Retrieval()


def _ends(state: PoolState, fingerprint: str) -> float:
    rest = state.rests.get(fingerprint)
    return float("-inf") if rest is None else rest.until
