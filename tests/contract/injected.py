"""Searches with faults on every side: providers in a mood of their own with each, a store that has bad moments, and a
clock that goes seven seconds forward from one search to the next, so that circuits open, are tried and close.

What each search may and may not come to is known beforehand, from the seed. `violations` is what went against that.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

from functions.search.wiring import wired as wired_search
from functions.widget.wiring import wired as wired_widget
from shared.domain.agent_answers import AgentAnswer
from shared.domain.agent_searches import AgentSearch
from shared.domain.circuits import CLOCKS_DIFFER_S, LONGEST_HOLD_S, TRIAL_LEASE_S, WELL, Circuits, CircuitState, Lane
from shared.domain.customer_answers import CustomerAnswer
from shared.domain.deadlines import Deadline
from shared.domain.exposure import ExposureProfile
from shared.domain.outcomes import GOOD as GOOD_STATUSES
from shared.domain.outcomes import Outcome, OutcomeCode
from shared.domain.passages import Question
from shared.errors import Problem, Unavailable
from shared.services.admit_widget import WidgetVisit
from shared.services.search import AgentRequest
from shared.services.search_for_customer import CustomerRequest
from tests.contract.degraded import ORIGIN, World
from tests.support.fault_proxy import (
    CONFLICTS,
    DENIES,
    FAILS,
    THROTTLES,
    Breaks,
    Garbles,
    Hangs,
    Late,
    LeavesForLater,
    Rule,
    Says,
)
from tests.support.moody_provider import GOOD, mood_of, query_of, title_of

SAFE, INTERNAL = (1, 2, 3), (4, 5, 6)  # the providers' numbers
STEP_S: Final = 7.0
LANES: Final = {"agent": 6, "assistant": 2, "visitor": 2}
PATIENT_S: Final = 3.0
HURRIED_S: Final = 0.3  # where somebody hangs
HANGING: Final = frozenset({"hang", "drip", "drip_headers"})
_SLACK_S: Final = 0.1  # an answer that went out later than this before the deadline may be too late

_HELD: Final = {OutcomeCode.CIRCUIT_OPEN, OutcomeCode.DISABLED}
# What a mood may come to; whatever takes long may be cut off.
COMES_TO: Final[dict[str, set[OutcomeCode]]] = {
    "hang": set(),
    "drip": set(),
    "drip_headers": set(),
    "reset": {OutcomeCode.CONNECTION_FAILED},
    "close": {OutcomeCode.CONNECTION_FAILED},
    "close_in_headers": {OutcomeCode.CONNECTION_FAILED, OutcomeCode.INVALID_RESPONSE},
    "close_in_body": {OutcomeCode.CONNECTION_FAILED, OutcomeCode.INVALID_RESPONSE},
    "error": {OutcomeCode.UPSTREAM_ERROR},
    "rate_limited": {OutcomeCode.RATE_LIMITED},
    "rate_limited_silently": {OutcomeCode.RATE_LIMITED},
    "unavailable": {OutcomeCode.UPSTREAM_ERROR},
    "unauthorized": {OutcomeCode.UNAUTHORIZED},
    "redirect": {OutcomeCode.UPSTREAM_ERROR, OutcomeCode.INVALID_RESPONSE},
    "not_json": {OutcomeCode.INVALID_RESPONSE},
    "not_http": {OutcomeCode.INVALID_RESPONSE},
    "html": {OutcomeCode.INVALID_RESPONSE},
    "wrong_type": {OutcomeCode.INVALID_RESPONSE},
    "too_large": {OutcomeCode.RESPONSE_TOO_LARGE},
    "lie_about_size": {OutcomeCode.INVALID_RESPONSE, OutcomeCode.RESPONSE_TOO_LARGE, OutcomeCode.CONNECTION_FAILED},
    "gzip_bomb": {OutcomeCode.RESPONSE_TOO_LARGE},
    "huge_headers": {OutcomeCode.INVALID_RESPONSE, OutcomeCode.RESPONSE_TOO_LARGE},
}


@dataclass(frozen=True)
class StoreFault:
    """`weight` of a hundred. Whether the store can be read meanwhile, and whether secrets can be opened."""

    weight: int
    rules: Callable[[], list[Rule]] = list
    is_read: bool = True
    is_opened: bool = True


def _one(fault: Any, **about: Any) -> Callable[[], list[Rule]]:
    return lambda: [Rule(fault=fault, **about)]


CIRCUITS: Final = {"partition": "CIRCUITS"}
STORE_FAULTS: Final[dict[str, StoreFault]] = {
    "nothing": StoreFault(60),
    "throttles once": StoreFault(4, _one(THROTTLES, service="dynamodb", times=1)),
    "breaks once": StoreFault(3, _one(Breaks(), service="dynamodb", times=1)),
    "loses an answer": StoreFault(3, _one(Breaks(is_done=True), operation="UpdateItem", times=1)),
    "is late": StoreFault(4, _one(Late(0.01), service="dynamodb")),
    "takes no circuits": StoreFault(3, _one(DENIES, operation="UpdateItem", **CIRCUITS)),
    "hangs over circuits": StoreFault(3, _one(Hangs(), operation="UpdateItem", **CIRCUITS)),
    "has others at the circuits": StoreFault(3, _one(CONFLICTS, operation="UpdateItem", **CIRCUITS)),
    "gives no circuits": StoreFault(2, _one(DENIES, operation="BatchGetItem", **CIRCUITS)),
    "leaves circuits for later": StoreFault(2, _one(LeavesForLater(**CIRCUITS), operation="BatchGetItem", **CIRCUITS)),
    "keeps no journal": StoreFault(2, _one(FAILS, partition="HISTORY#")),
    "opens nothing": StoreFault(2, _one(Says("ThrottlingException"), service="kms"), is_opened=False),
    "opens late": StoreFault(1, _one(Late(0.02), service="kms")),
    "counts nothing": StoreFault(2, _one(FAILS, operation="UpdateItem", partition="RATE#"), is_read=False),
    "throttles": StoreFault(2, _one(THROTTLES, service="dynamodb"), is_read=False),
    "garbles": StoreFault(1, _one(Garbles(), service="dynamodb"), is_read=False),
    "hangs": StoreFault(1, _one(Hangs(), service="dynamodb"), is_read=False),
    "is away": StoreFault(2, is_read=False, is_opened=False),
}


@dataclass
class SkippingClock:
    """To be put in the place of `SystemClock.now`."""

    ahead_s: float = 0.0

    def now(self, _clock: object = None) -> float:
        return time.time() + self.ahead_s


@dataclass(frozen=True)
class Plan:
    """One search."""

    number: int
    lane: str
    fault: str
    deadline_s: float

    @property
    def store(self) -> StoreFault:
        return STORE_FAULTS[self.fault]


def plans(seed: int, *, how_many: int, deadlines_s: tuple[float, ...] = ()) -> list[Plan]:
    """Without deadlines: all the time that it takes, but where somebody hangs."""
    chance = random.Random(seed)
    weights = [fault.weight for fault in STORE_FAULTS.values()]
    made = []
    for number in range(1, how_many + 1):
        lane = chance.choices(list(LANES), list(LANES.values()))[0]
        asked = (*SAFE, *INTERNAL) if lane == "agent" else SAFE
        hangs = any(mood_of(seed, provider, number) in HANGING for provider in asked)
        deadline_s = chance.choice(deadlines_s) if deadlines_s else HURRIED_S if hangs else PATIENT_S
        made.append(Plan(number, lane, chance.choices(list(STORE_FAULTS), weights)[0], deadline_s))
    return made


def good_plans(seed: int, *, after: int) -> Iterator[Plan]:
    """Searches of every lane in which nothing goes wrong, with numbers of their own."""
    numbers = (
        n for n in count(after + 1) if all(mood_of(seed, provider, n) in GOOD for provider in (*SAFE, *INTERNAL))
    )
    for lane in LANES:
        yield Plan(next(numbers), lane, "nothing", PATIENT_S)


@dataclass
class Injected:
    """The search and widget functions as they are wired. `answered_at` is the moody provider's, where it is known."""

    world: World
    clock: SkippingClock
    seed: int
    url: Callable[[int], str]
    answered_at: dict[tuple[int, int], float] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)
    late_ms: list[float] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)
    ids: dict[str, int] = field(default_factory=dict)
    _deadline_at_s: float = 0.0

    def __post_init__(self) -> None:
        for provider_id in (self.world.public, self.world.internal, self.world.live):
            self.world.remove(provider_id)
        for number in (*SAFE, *INTERNAL):
            exposure = ExposureProfile.CUSTOMER_SAFE if number in SAFE else ExposureProfile.AGENT_ONLY
            self.ids[self.world.provider(self.url(number), exposure=exposure)] = number
        environment = self.world.environment | {"KG_ALLOW_LOOPBACK_HTTP": "true"}
        self.search, self.widget = wired_search(environment), wired_widget(environment)
        self.loops = (self.search.loop, self.widget.loop)

    def run(self, plan: Plan) -> None:
        with self._bad_moment(plan):
            answer, late_s = self._asked(plan)
        self.late_ms.append(late_s * 1000)
        self._judge(plan, answer)
        left = sum(len(asyncio.all_tasks(loop._loop)) for loop in self.loops)
        self._hold(left == 0 or self._let_go(), plan, f"{left} tasks are left")
        self.clock.ahead_s += STEP_S

    def _bad_moment(self, plan: Plan) -> AbstractContextManager[object]:
        if plan.fault == "is away":
            return self.world.proxy.refusing()
        rules = plan.store.rules()
        return self.world.proxy.doing(*rules) if rules else nullcontext()

    def _let_go(self) -> bool:
        """What was cancelled may need another turn to end."""
        for loop in self.loops:
            loop.run(asyncio.sleep(0.05))
        return not any(asyncio.all_tasks(loop._loop) for loop in self.loops)

    def _asked(self, plan: Plan) -> tuple[AgentAnswer | CustomerAnswer | Problem, float]:
        deadline = Deadline.after(plan.deadline_s, now_s=time.monotonic())
        self._deadline_at_s = deadline.at_s
        loop = self.widget.loop if plan.lane == "visitor" else self.search.loop
        try:
            answer: Any = loop.run(self._search(plan, deadline))
        except Problem as problem:
            answer = problem
        return (answer[0] if isinstance(answer, tuple) else answer), max(0.0, time.monotonic() - deadline.at_s)

    def _search(self, plan: Plan, deadline: Deadline) -> Any:
        query, request_id = query_of(plan.number), f"search-{plan.number}"
        if plan.lane == "agent":
            search = AgentSearch(query=query)
            request = AgentRequest(
                token=self.world.agent, agent_id=None, search=search, deadline=deadline, request_id=request_id
            )
            return self.search.search(request)
        asks = CustomerRequest(question=Question(query=query), deadline=deadline, request_id=request_id)
        if plan.lane == "assistant":
            admission = self.search.admit_assistant(self.world.assistant)
            return self.search.search_for_assistant(asks, collections=(), admission=admission)
        visit = WidgetVisit(token=self.world.widget, origin=ORIGIN, address="203.0.113.7")
        return self.widget.search_for_customer(asks, admission=self.widget.admit_widget(visit))

    # --- what may be ---------------------------------------------------------------------------------
    def _judge(self, plan: Plan, answer: AgentAnswer | CustomerAnswer | Problem) -> None:
        if isinstance(answer, Problem):
            self.seen[f"refused {answer.code}"] += 1
            self._hold(isinstance(answer, Unavailable) and (answer.retry_after_s or 0) >= 1, plan, repr(answer))
            self._hold(not plan.store.is_read or self._had_no_time(plan), plan, "refused, and the store could be read")
        elif isinstance(answer, CustomerAnswer):
            self._hold(plan.store.is_read, plan, "a customer was answered without the store")
            titles = {result.title for result in answer.results}
            self._hold(titles <= {title_of(number) for number in SAFE}, plan, f"{titles} for a customer")
        else:
            self._hold(answer.is_from_memory or plan.store.is_read, plan, "answered without the store or a memory")
            self._hold(not answer.is_from_memory or not plan.store.is_read or self._had_no_time(plan), plan, "memory")
            self._hold({one.provider_id for one in answer.outcomes} == set(self.ids), plan, "not all are told of")
            self.seen["from memory"] += answer.is_from_memory
            for outcome in answer.outcomes:
                self._judge_outcome(plan, outcome)

    def _judge_outcome(self, plan: Plan, outcome: Outcome) -> None:
        number, code = self.ids[outcome.provider_id], outcome.error_code
        mood = mood_of(self.seed, number, plan.number)
        self.seen[code or outcome.status] += 1
        if code in _HELD:
            bound = self.clock.now() + LONGEST_HOLD_S + CLOCKS_DIFFER_S
            self._hold(code is OutcomeCode.DISABLED or 0 < (outcome.retry_at or 0) <= bound, plan, "no end to it")
        elif code is OutcomeCode.NOT_CONFIGURED:
            self._hold(not plan.store.is_opened and bool(outcome.retry_at), plan, "not configured")
        elif code is None:
            self._hold(outcome.status in GOOD_STATUSES and mood in GOOD, plan, f"{mood} was {outcome.status}")
        elif mood in GOOD:
            self._hold(code is OutcomeCode.TIMEOUT and self._was_late(plan, number), plan, f"{mood} was lost: {code}")
        else:
            self._hold(code in COMES_TO[mood] | {OutcomeCode.TIMEOUT}, plan, f"{mood} came to {code}")

    def _was_late(self, plan: Plan, number: int) -> bool:
        """A machine that is too slow loses nobody's results by a fault."""
        at = self.answered_at.get((number, plan.number))
        return self._had_no_time(plan) and (at is None or at > self._deadline_at_s - _SLACK_S)

    def _had_no_time(self, plan: Plan) -> bool:
        return plan.deadline_s < PATIENT_S

    def _hold(self, is_so: bool, plan: Plan, what: str) -> None:
        if not is_so:
            self.violations.append(f"{plan}: {what}")

    # --- circuits ------------------------------------------------------------------------------------
    def circuits(self) -> dict[Lane, Circuits]:
        return {lane: asyncio.run(self.world.store.circuits(lane).read()).circuits for lane in Lane}

    def check_circuits(self, plan: Plan) -> None:
        """None is open or on trial beyond what is allowed, and on the customers' lane none is out of use by itself."""
        now = self.clock.now()
        for lane, circuits in self.circuits().items():
            for circuit in circuits.values():
                self.seen[f"{lane} {circuit.state_at(now)}"] += 1
                self._hold(circuit.open_until <= now + LONGEST_HOLD_S, plan, f"open until {circuit.open_until}")
                self._hold(circuit.trial_until <= now + TRIAL_LEASE_S, plan, f"on trial until {circuit.trial_until}")

    def put_back(self) -> None:
        """As an operator does from time to time."""
        for lane, circuits in self.circuits().items():
            lost = {id_: WELL for id_, each in circuits.items() if each.state_at(0) is CircuitState.AUTO_DISABLED}
            store = self.world.store.circuits(lane)
            asyncio.run(store.change(lambda _, lost=lost: lost, known=asyncio.run(store.read())))
