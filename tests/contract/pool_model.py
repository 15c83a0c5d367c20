"""A model of several gateways that share one pool, and of the service they ask; `test_pool_model` lets it run.

Each instance has its own meter, its own adapters over the same table, and a clock of its own that may be wrong. What
the service answers, and what another instance does while somebody waits for an answer, is part of the plan of each
operation, so that every run can be repeated.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from shared.adapters.allowance_desk import DynamoAllowanceDesk
from shared.adapters.allowance_rows import SORT, allowance_of
from shared.adapters.allowances import DynamoAllowances
from shared.adapters.keys import key_of
from shared.adapters.pool_ledger import POOL, DynamoPoolLedger
from shared.domain.allowances import Allowance, Reservation, Review, has_left, slot_of
from shared.domain.answer_bodies import typed_object_in
from shared.domain.deadlines import Deadline
from shared.domain.key_pools import LONGEST_REST_S, PoolState, Rest, fingerprint_of_key
from shared.domain.pools import Pool
from shared.domain.refusals import Meaning, refusal
from shared.domain.registrations import ProviderKind
from shared.errors import Conflict, ConnectionFailed, ExchangeError, ExchangeTimeout, NeverConnected
from shared.ports.exchange import OutboundAnswer, OutboundRequest
from shared.ports.meter import Attempt
from shared.services.metering import Metering
from tests.contract.far_ahead import NOW, a_change
from tests.contract.worlds import StoreWorld
from tests.support.builders import a_source
from tests.support.live_fakes import FakePoolKeys
from tests.support.search_stage import RecordedLog

THE_POOL = Pool.EXA
URL = "https://api.exa.test"
INSTANCES = 3
KEYS = 3
SECONDS = 25.0

TABLE = (
    Meaning(status=402, tag="no_credit", key="quota"),
    Meaning(status=429, tag="limited", key="rate", scope="account"),
    Meaning(status=401, code="unauthorized"),
    Meaning(status=403, code="forbidden"),
    Meaning(status=408, code="timeout", unclear=True),
    Meaning(status=503),
)


class Killed(BaseException):
    """The process ends at this very moment."""


# What the service does: its status and body, or what becomes of the connection.
ANSWERS: dict[str, tuple[int, dict[str, Any] | None] | BaseException] = {
    "ok": (200, {"results": []}),
    "no credit": (402, {"error": "no_credit"}),
    "limited": (429, {"error": "limited"}),
    "refused but done": (402, {"error": "no_credit", "success": True}),
    "a page": (429, None),
    "unauthorized": (401, {"error": "x"}),
    "forbidden": (403, {"error": "x"}),
    "slow": (408, {"error": "x"}),
    "fault": (500, {"error": "x"}),
    "outage": (503, None),
    "timeout": ExchangeTimeout(),
    "dropped": ConnectionFailed(),
    "never connected": NeverConnected(),
    "killed": Killed(),
    "killed while settling": (200, {"results": []}),
}
CONCERN_THE_KEY = {"no credit", "limited"}
RELEASED = {*CONCERN_THE_KEY, "never connected"}
CONFIRMED = {"ok", "a page", "unauthorized", "forbidden", "outage"}


@dataclass(frozen=True)
class Step:
    """One attempt: the answer, the wait that the service states, how long it takes, and what another does meanwhile."""

    answer: str = "ok"
    wait: str | None = None
    takes_s: float = 0.0
    meanwhile: tuple[int, tuple[Step, ...]] | None = None


@dataclass
class Operation:
    """What happened in one operation."""

    instance: int
    plan: list[Step]
    keys: list[str] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    rests: int = 0
    reservation: Reservation | None = None
    error: BaseException | None = None

    @property
    def code(self) -> str | None:
        return getattr(self.error, "code", None)


@dataclass
class OwnClock:
    """The true time, and how far this instance is off."""

    time: Time
    off_s: float = 0.0

    def now(self) -> float:
        return self.time.s + self.off_s

    def monotonic(self) -> float:
        return self.time.s - NOW


@dataclass
class Time:
    s: float = NOW


class Instance:
    """One gateway. Its keys are as they were when it last read them."""

    def __init__(self, model: PoolModel, number: int) -> None:
        self.number = number
        self.clock = OwnClock(model.time)
        self.keys = FakePoolKeys({THE_POOL: dict(model.secret)})
        dynamodb, table = model.world.clients.dynamodb, model.world.internal_ledger
        self.metering = Metering(
            keys=self.keys,
            ledger=_WatchedLedger(model, DynamoPoolLedger(dynamodb, table=table, clock=self.clock)),
            allowances=_WatchedAllowances(model, self, DynamoAllowances(dynamodb, table=table, clock=self.clock)),
            exchanges=_Service(model, self),
            clock=self.clock,
            logger=RecordedLog(),
        )


class PoolModel:
    """`limit`, `open`, `slots` and `unknown` are what the allowance must be, `ends` what each rest is at least."""

    def __init__(self, world: StoreWorld) -> None:
        self.world = world
        self.time = Time()
        self.secret: dict[str, object] = {}
        for number in range(KEYS):
            self.set_key(number, f"k-demo-{number}")
        self.limit = 1_000
        self.open: set[str] = set()
        self.slots: dict[int, int] = {}
        self.unknown = 0
        self.ends: dict[str, float] = {}
        self.latest = NOW  # that any clock has shown
        self.under_way: list[Operation] = []
        for sort in ("KEYS", SORT):
            world.clients.dynamodb.delete_item(TableName=world.internal_ledger, Key=key_of(POOL + THE_POOL, sort))
        self.instances = [Instance(self, number) for number in range(INSTANCES)]
        self.observer = OwnClock(self.time)
        self.ledger = DynamoPoolLedger(world.clients.dynamodb, table=world.internal_ledger, clock=self.observer)
        self.desk = DynamoAllowanceDesk(
            world.clients.dynamodb,
            table=world.internal_ledger,
            audit_table=world.internal_table,
            clock=self.observer,
        )

    # --- what the operator and the time do ---
    def set_key(self, number: int, key: str) -> None:
        """The first two are of one account."""
        entry: object = {"key": key, "account": "acme"} if number < 2 else key
        self.secret[f"EXA_API_KEY_{number + 1}"] = entry

    def refresh(self, number: int) -> None:
        self.instances[number].keys.entries[THE_POOL] = dict(self.secret)

    def fingerprint(self, number: int) -> str:
        entry: Any = self.secret[f"EXA_API_KEY_{number + 1}"]
        return fingerprint_of_key(THE_POOL, entry if isinstance(entry, str) else entry["key"])

    def advance(self, seconds: float) -> None:
        self.time.s += seconds
        self.note_clocks()

    def note_clocks(self) -> None:
        self.latest = max(self.latest, self.time.s, *(each.clock.now() for each in self.instances))

    async def rest(self, number: int, seconds: float) -> None:
        until = self.time.s + seconds
        await self.ledger.rest(THE_POOL, [self.fingerprint(number)], Rest(until, "operator"), active=None)
        assert (await self.ledger.state(THE_POOL)).rests[self.fingerprint(number)].until >= until
        await self.check()

    async def wake(self, number: int) -> None:
        await self.ledger.wake(THE_POOL, [self.fingerprint(number)])
        self.ends.pop(self.fingerprint(number), None)
        assert self.fingerprint(number) not in (await self.ledger.state(THE_POOL)).rests

    # --- an operation ---
    async def operate(self, number: int, plan: tuple[Step, ...]) -> Operation:
        instance, operation = self.instances[number], Operation(number, list(plan))
        self.under_way.append(operation)
        source = a_source(kind=ProviderKind.EXA, base_url=URL)
        meter = instance.metering.open(source, THE_POOL, deadline=Deadline.after(SECONDS, now_s=self.time.s - NOW))
        try:
            await meter.perform(self._work(instance))
        except (ExchangeError, Killed) as error:
            operation.error = error
        finally:
            self.under_way.pop()
        self._check_operation(operation)
        self._settle(instance, operation)
        await self.check()
        return operation

    def _work(self, instance: Instance) -> Callable[[Attempt], Any]:
        async def work(attempt: Attempt) -> None:
            headers = (("x-api-key", attempt.key or ""),)
            answer = await attempt.exchange.send(lambda: OutboundRequest(method="POST", url=URL, headers=headers))
            if answer.status != 200:
                body = typed_object_in(answer.headers, answer.body)
                tag = str(body.get("error")) if body else None
                raise refusal(
                    TABLE, status=answer.status, headers=answer.headers, body=body, tag=tag, now=instance.clock.now()
                )

        return work

    async def answered(self, instance: Instance, key: str) -> OutboundAnswer:
        operation = self.under_way[-1]
        state = await self.ledger.state(THE_POOL)
        assert not state.is_resting(fingerprint_of_key(THE_POOL, key), now=instance.clock.now()), "it rests"
        operation.keys.append(key)
        step = operation.plan.pop(0) if operation.plan else Step()
        operation.steps.append(step)
        if step.meanwhile is not None:
            await self.operate(*step.meanwhile)
        self.advance(step.takes_s)
        answer = ANSWERS[step.answer]
        if isinstance(answer, BaseException):
            raise answer
        status, body = answer
        headers = {"content-type": "application/json" if body else "text/html"}
        if step.wait is not None:
            headers["retry-after"] = step.wait
        return OutboundAnswer(status=status, headers=headers, body=json.dumps(body).encode())

    def _check_operation(self, operation: Operation) -> None:
        assert len(set(operation.keys)) == len(operation.keys), "each key once"
        *before, last = [step.answer for step in operation.steps] or ["none"]
        assert set(before) <= CONCERN_THE_KEY, "nothing else is followed by another attempt"
        refusals = [step for step in operation.steps if step.answer in CONCERN_THE_KEY]
        assert operation.rests == len(refusals), "one write for each refusal of a key, none otherwise"
        if not operation.steps:
            assert operation.code in {"keys_exhausted", "allowance_exhausted"}
        if operation.code == "keys_exhausted":
            assert last in {"none", *CONCERN_THE_KEY}
        if last == "ok":
            assert operation.error is None

    def _settle(self, instance: Instance, operation: Operation) -> None:
        reservation = operation.reservation
        last = operation.steps[-1].answer if operation.steps else "none"
        if reservation is None:
            assert last == "none", "nothing is sent that was not reserved"
            return
        if last in RELEASED:
            self.open.remove(reservation.id)
        elif last in CONFIRMED:
            self.open.remove(reservation.id)
            slot = slot_of(instance.clock.now())
            self.slots[slot] = self.slots.get(slot, 0) + 1

    def reserved(self, instance: Instance, reservation: Reservation) -> None:
        self.under_way[-1].reservation = reservation
        self.open.add(reservation.id)
        now = instance.clock.now()
        confirmed = sum(units for slot, units in self.slots.items() if not has_left(slot, now=now))
        assert confirmed + len(self.open) + self.unknown <= self.limit, "more than is allowed"

    # --- what must hold at any time ---
    async def check(self) -> None:
        self._check_rests(await self.ledger.state(THE_POOL))
        self._check_allowance()

    def _check_rests(self, state: PoolState) -> None:
        for fingerprint, end in self.ends.items():
            assert state.rests[fingerprint].until >= end, "a rest ends earlier than it did"
        self.ends = {fingerprint: rest.until for fingerprint, rest in state.rests.items()}
        assert max(self.ends.values(), default=0.0) <= self.latest + LONGEST_REST_S

    def _check_allowance(self) -> None:
        answer = self.world.clients.dynamodb.get_item(
            TableName=self.world.internal_ledger, Key=key_of(POOL + THE_POOL, SORT), ConsistentRead=True
        )
        item = answer.get("Item", {})
        allowance = allowance_of(THE_POOL, item)
        assert int(item.get("total", {}).get("N", 0)) == _sum(allowance), "the total is the sum of its parts"
        assert set(allowance.open) == self.open, "every open unit is there, and no other"
        assert allowance.unknown == self.unknown
        for slot, units in self.slots.items():
            gone = slot not in allowance.slots and has_left(slot, now=self.latest)
            assert gone or allowance.slots.get(slot) == units, "a confirmed unit counts for its day"
        self.slots = dict(allowance.slots)

    # --- the allowance's operator ---
    async def change(self, limit: int, *, happened: int = 0, did_not_happen: int = 0) -> None:
        before = await self.desk.read(THE_POOL)
        reviewed = happened + did_not_happen
        if reviewed:
            expired = {each for each, lease_end in before.open.items() if lease_end <= self.time.s}
            self.open -= expired
            self.unknown += len(expired)
        review = Review(happened=happened, did_not_happen=did_not_happen)
        decision = self.desk.change(
            THE_POOL, limit=limit, review=review, expected_generation=before.generation, change=a_change()
        )
        if reviewed > self.unknown:
            with pytest.raises(Conflict):
                await decision
        else:
            after = await decision
            self.limit, self.unknown = limit, self.unknown - reviewed
            if happened:
                slot = slot_of(self.time.s)
                self.slots[slot] = self.slots.get(slot, 0) + happened
            assert after == await self.desk.read(THE_POOL)
        await self.check()


def _sum(allowance: Allowance) -> int:
    return sum(allowance.slots.values()) + len(allowance.open) + allowance.unknown


class _WatchedLedger:
    """Counts what is written for the operation under way."""

    def __init__(self, model: PoolModel, ledger: DynamoPoolLedger) -> None:
        self._model = model
        self._ledger = ledger

    async def state(self, pool: Pool) -> PoolState:
        return await self._ledger.state(pool)

    async def rest(self, pool: Pool, fingerprints: list[str], rest: Rest, *, active: str | None) -> PoolState:
        self._model.under_way[-1].rests += 1
        return await self._ledger.rest(pool, fingerprints, rest, active=active)


class _WatchedAllowances:
    """Tells the model what was reserved, and dies before it settles when that is the plan."""

    def __init__(self, model: PoolModel, instance: Instance, allowances: DynamoAllowances) -> None:
        self._model = model
        self._instance = instance
        self._allowances = allowances

    async def reserve(self, pool: Pool) -> Reservation:
        reservation = await self._allowances.reserve(pool)
        self._model.reserved(self._instance, reservation)
        return reservation

    async def confirm(self, reservation: Reservation) -> None:
        if self._model.under_way[-1].steps[-1].answer == "killed while settling":
            raise Killed
        await self._allowances.confirm(reservation)

    async def release(self, reservation: Reservation) -> None:
        await self._allowances.release(reservation)


class _Service:
    """Both the lines and the service at their end."""

    def __init__(self, model: PoolModel, instance: Instance) -> None:
        self._model = model
        self._instance = instance

    @asynccontextmanager
    async def open_once(self, source: Any, *, deadline: Deadline) -> AsyncIterator[_Service]:
        yield self

    async def send(self, build: Callable[[], OutboundRequest]) -> OutboundAnswer:
        [(_, key)] = build().headers
        return await self._model.answered(self._instance, key)
