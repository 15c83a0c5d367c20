"""What `ports.meter` promises: reserved before, keyed in between, settled after; and what each path costs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from shared.domain.allowances import WINDOW_S
from shared.domain.deadlines import Deadline
from shared.domain.key_pools import LONGEST_REST_S, PoolState, Rest, fingerprint_of_key, nameless_key
from shared.domain.pools import Pool
from shared.domain.registrations import ProviderKind
from shared.errors import (
    BlockedAddress,
    ConnectionDropped,
    ConnectionFailed,
    ExchangeError,
    ExchangeTimeout,
    KeyRefused,
    NeverConnected,
    Refused,
    ResponseTooLarge,
    Unavailable,
    Unclear,
)
from shared.ports.exchange import OutboundRequest
from shared.ports.meter import Attempt
from shared.services.metering import ATTEMPT_S, LEAST_TIME_S, Metering
from tests.support.builders import NOW, a_source
from tests.support.fake_exchanges import FakeExchanges, json_answer
from tests.support.fakes import FakeClock
from tests.support.live_fakes import FakeAllowances, FakePoolKeys, FakePoolLedger, ScriptedMeters
from tests.support.meters import ScriptedMeter
from tests.support.search_stage import RecordedLog

URL = "https://api.exa.test"
SECRET = {"EXA_API_KEY": "k-demo-zero", "EXA_API_KEY_1": "k-demo-one", "EXA_API_KEY_2": "k-demo-two"}
ZERO, ONE, TWO = (fingerprint_of_key(Pool.EXA, key) for key in SECRET.values())


class Stage:
    def __init__(self, *, pool: Pool = Pool.EXA, secret: dict[str, object] | None = None) -> None:
        self.pool = pool
        self.clock = FakeClock()
        self.log: Any = RecordedLog()
        self.keys = FakePoolKeys({Pool.EXA: SECRET if secret is None else secret})
        self.ledger = FakePoolLedger(clock=self.clock)
        self.allowances = FakeAllowances(clock=self.clock)
        self.exchanges = FakeExchanges(clock=self.clock, answer=json_answer({}))
        self.source = a_source(kind=ProviderKind.EXA, base_url=URL)
        self.used: list[str | None] = []
        self.deadlines: list[int] = []
        self.metering = Metering(
            keys=self.keys,
            ledger=self.ledger,
            allowances=self.allowances,
            exchanges=self.exchanges,
            clock=self.clock,
            logger=self.log,
        )

    async def perform(self, *script: Any, seconds: float = 25.0) -> Any:
        """One operation whose attempts play `script`: an error is raised, a function called, all else returned."""
        steps = list(script)

        async def work(attempt: Attempt) -> Any:
            self.used.append(attempt.key)
            self.deadlines.append(attempt.exchange.remaining_ms())
            await attempt.exchange.send(lambda: OutboundRequest(method="GET", url=URL))
            step = steps.pop(0) if steps else "done"
            if callable(step):
                step = step()
            if isinstance(step, BaseException):
                raise step
            return step

        deadline = Deadline.after(seconds, now_s=self.clock.monotonic())
        return await self.metering.open(self.source, self.pool, deadline=deadline).perform(work)

    async def failing(self, *script: Any, **how: Any) -> ExchangeError:
        with pytest.raises(ExchangeError) as error:
            await self.perform(*script, **how)
        return error.value

    def quota(self, seconds: float = 600, *, scope: str = "key") -> KeyRefused:
        return KeyRefused("quota", until=self.clock.now() + seconds, scope=scope)

    @property
    def counted(self) -> tuple[int, int, int]:
        """Confirmed, released, still open."""
        allowances = self.allowances
        return len(allowances.confirmed), len(allowances.released), len(allowances.of(self.pool).open)

    @property
    def rests(self) -> dict[str, Rest]:
        return dict(self.ledger.states[Pool.EXA].rests) if Pool.EXA in self.ledger.states else {}


@pytest.fixture
def stage() -> Stage:
    return Stage()


# --- the happy path ---
async def test_the_work_is_done_with_the_first_key_and_confirmed(stage: Stage) -> None:
    assert await stage.perform({"found": 1}) == {"found": 1}
    assert stage.used == ["k-demo-zero"]
    assert stage.counted == (1, 0, 0)


async def test_the_happy_path_writes_nothing_for_keys(stage: Stage) -> None:
    for _ in range(5):
        await stage.perform()
    assert (stage.ledger.reads, stage.ledger.writes) == (5, 0)
    assert stage.log.lines == []


async def test_a_service_without_keys_is_asked_without_one() -> None:
    stage = Stage(pool=Pool.DEEPWIKI)
    await stage.perform()
    assert stage.used == [None]
    assert (stage.keys.reads, stage.ledger.reads, stage.ledger.writes) == (0, 1, 0)
    assert stage.counted == (1, 0, 0)


async def test_a_line_leads_to_the_service_and_lasts_one_attempt(stage: Stage) -> None:
    await stage.perform(seconds=25)
    await stage.perform(seconds=10)
    assert stage.deadlines == [ATTEMPT_S * 1000, 10_000]
    assert {sent.source.base_url for sent in stage.exchanges.sent} == {URL}


async def test_operations_that_take_longer_can_be_given_longer(stage: Stage) -> None:
    stage.metering = stage.metering.with_attempts_of(20.0)
    await stage.perform(seconds=25)
    assert stage.deadlines == [20_000]


def test_a_key_is_in_no_representation() -> None:
    attempt = Attempt(exchange=FakeExchanges(clock=FakeClock()).open(a_source(), deadline=Deadline(0)), key="k-demo")
    assert "k-demo" not in repr(attempt)


async def test_the_remaining_time_is_the_operations(stage: Stage) -> None:
    meter = stage.metering.open(stage.source, Pool.EXA, deadline=Deadline.after(4, now_s=stage.clock.monotonic()))
    assert meter.remaining_ms() == 4_000
    stage.clock.advance(5)
    assert meter.remaining_ms() == 0


# --- a key is refused ---
async def test_a_refused_key_rests_and_the_next_one_does_the_work(stage: Stage) -> None:
    assert await stage.perform(stage.quota(), "done") == "done"
    assert stage.used == ["k-demo-zero", "k-demo-one"]
    assert stage.rests == {ZERO: Rest(stage.clock.now() + 600, "quota")}
    assert stage.ledger.states[Pool.EXA].active == ONE
    assert stage.counted == (1, 0, 0)


async def test_a_failover_costs_one_write(stage: Stage) -> None:
    await stage.perform(stage.quota(), "done")
    assert (stage.ledger.reads, stage.ledger.writes) == (1, 1)


async def test_a_refused_key_is_not_sent_again_while_it_rests(stage: Stage) -> None:
    await stage.perform(stage.quota(600), "done")
    for _ in range(10):
        await stage.perform()
    assert stage.used[1:] == ["k-demo-one"] * 11
    assert stage.ledger.writes == 1


async def test_the_next_key_stays_in_use_when_the_first_one_recovers(stage: Stage) -> None:
    await stage.perform(stage.quota(60), "done")
    stage.clock.advance(61)
    await stage.perform()
    assert stage.used[-1] == "k-demo-one"
    await stage.perform(stage.quota(60), "done")
    assert stage.used[-2:] == ["k-demo-one", "k-demo-zero"]


async def test_a_new_instance_does_not_try_a_key_that_rests(stage: Stage) -> None:
    stage.ledger.states = (await _rested_elsewhere(stage)).states
    await stage.perform()
    assert stage.used == ["k-demo-one"]


async def _rested_elsewhere(stage: Stage) -> FakePoolLedger:
    other = FakePoolLedger(clock=stage.clock)
    await other.rest(Pool.EXA, [ZERO], Rest(stage.clock.now() + 600, "quota"), active=ONE)
    return other


async def test_each_distinct_key_is_tried_once_and_then_all_are_exhausted(stage: Stage) -> None:
    error = await stage.failing(stage.quota(300), stage.quota(40), stage.quota(90))
    assert (type(error).__mro__[1], error.code, error.retry_at) == (Refused, "keys_exhausted", stage.clock.now() + 40)
    assert stage.used == list(SECRET.values())
    assert stage.counted == (0, 1, 0)
    assert stage.ledger.writes == 3


async def test_with_every_key_resting_nothing_is_reserved_written_or_sent(stage: Stage) -> None:
    await stage.failing(stage.quota(300), stage.quota(40), stage.quota(90))
    writes, reservations = stage.ledger.writes, stage.counted
    error = await stage.failing()
    assert (error.code, error.retry_at) == ("keys_exhausted", stage.clock.now() + 40)
    assert len(stage.used) == 3
    assert (stage.ledger.writes, stage.counted) == (writes, reservations)


async def test_an_exhausted_pool_recovers_by_itself(stage: Stage) -> None:
    await stage.failing(stage.quota(300), stage.quota(40), stage.quota(90))
    stage.clock.advance(40)
    assert await stage.perform() == "done"
    assert stage.used[-1] == "k-demo-one"
    stage.clock.advance(300)
    await stage.perform()
    assert stage.used[-1] == "k-demo-one", "the one in use stays"


async def test_an_accounts_limit_rests_all_keys_of_that_account() -> None:
    acme = [{"key": f"k-demo-{number}", "account": "acme"} for number in range(2)]
    stage = Stage(secret={"EXA_API_KEY": acme[0], "EXA_API_KEY_1": acme[1], "EXA_API_KEY_2": "k-demo-two"})
    await stage.perform(KeyRefused("rate", until=stage.clock.now() + 60, scope="account"), "done")
    assert stage.used == ["k-demo-0", "k-demo-two"]
    assert len(stage.rests) == 2
    assert stage.ledger.writes == 1


async def test_a_keys_own_limit_rests_no_other_of_its_account() -> None:
    acme = [{"key": f"k-demo-{number}", "account": "acme"} for number in range(2)]
    stage = Stage(secret={"EXA_API_KEY": acme[0], "EXA_API_KEY_1": acme[1]})
    await stage.perform(stage.quota(), "done")
    assert stage.used == ["k-demo-0", "k-demo-1"]


async def test_a_replaced_key_starts_fresh(stage: Stage) -> None:
    await stage.failing(stage.quota(), stage.quota(), stage.quota())
    stage.keys.entries[Pool.EXA] = {**SECRET, "EXA_API_KEY_1": "k-demo-new"}
    await stage.perform()
    assert stage.used[-1] == "k-demo-new"


async def test_a_key_that_an_operator_wakes_is_used_at_once(stage: Stage) -> None:
    await stage.failing(stage.quota(), stage.quota(), stage.quota())
    await stage.ledger.wake(Pool.EXA, [TWO])
    await stage.perform()
    assert stage.used[-1] == "k-demo-two"


@pytest.mark.parametrize(("stated_s", "rests_s"), [(-30, 1), (0, 1), (1e12, LONGEST_REST_S)])
async def test_a_rest_is_neither_nothing_nor_for_ever(stage: Stage, stated_s: float, rests_s: float) -> None:
    await stage.perform(stage.quota(stated_s), "done")
    assert stage.rests[ZERO].until == stage.clock.now() + rests_s


async def test_another_instances_longer_rest_is_respected_in_the_same_operation(stage: Stage) -> None:
    """While ZERO was asked, another instance found ONE used up."""

    def refused_meanwhile() -> KeyRefused:
        rests = {ONE: Rest(stage.clock.now() + 900, "quota")}
        stage.ledger.states[Pool.EXA] = PoolState(active=TWO, rests=rests)
        return stage.quota()

    await stage.perform(refused_meanwhile, "done")
    assert stage.used == ["k-demo-zero", "k-demo-two"]


async def test_a_rest_that_cannot_be_written_is_known_to_this_operation(stage: Stage) -> None:
    def fails_from_now_on() -> KeyRefused:
        stage.ledger.failure = Unavailable(retry_after_s=5)
        return stage.quota()

    assert await stage.perform(fails_from_now_on, "done") == "done"
    assert stage.used == ["k-demo-zero", "k-demo-one"]
    assert stage.counted == (1, 0, 0)


async def test_a_rest_that_cannot_be_written_is_known_to_the_meters_later_operations(stage: Stage) -> None:
    """A search of two operations must not ask twice with a key that was refused in the first."""
    meter = stage.metering.open(stage.source, Pool.EXA, deadline=Deadline.after(25, now_s=stage.clock.monotonic()))
    used: list[str | None] = []

    async def refused_once(attempt: Attempt) -> str:
        used.append(attempt.key)
        if len(used) > 1:
            return "done"
        stage.ledger.rest = fails  # type: ignore[method-assign]
        raise stage.quota()

    async def fails(*_args: object, **_named: object) -> PoolState:
        raise Unavailable(retry_after_s=5)

    assert [await meter.perform(refused_once) for _ in range(3)] == ["done"] * 3
    assert used == ["k-demo-zero", "k-demo-one", "k-demo-one", "k-demo-one"]
    assert await stage.perform("done") == "done"
    assert stage.used == ["k-demo-zero"]  # another meter cannot know


# --- what others write while a unit is reserved ---
def reserving_takes(stage: Stage, seconds: float, *, meanwhile: PoolState) -> None:
    reserve = stage.allowances.reserve

    async def slowly(pool: Pool) -> Any:
        stage.clock.advance(seconds)
        stage.ledger.states[pool] = meanwhile
        return await reserve(pool)

    stage.allowances.reserve = slowly  # type: ignore[method-assign]


async def test_a_rest_that_was_written_during_a_slow_reservation_is_seen(stage: Stage) -> None:
    reserving_takes(stage, 0.2, meanwhile=PoolState(active=ONE, rests={ZERO: Rest(stage.clock.now() + 900, "quota")}))
    await stage.perform()
    assert (stage.used, stage.ledger.reads, stage.counted) == (["k-demo-one"], 2, (1, 0, 0))


@pytest.mark.parametrize("pool", [Pool.EXA, Pool.DEEPWIKI])
async def test_when_everything_came_to_rest_meanwhile_nothing_is_sent_and_the_unit_is_free_again(pool: Pool) -> None:
    stage = Stage(pool=pool)
    nameless, until = nameless_key(Pool.DEEPWIKI).fingerprint, stage.clock.now() + 900
    rests = dict.fromkeys((ZERO, ONE, TWO, nameless), Rest(until, "rate"))
    reserving_takes(stage, 0.2, meanwhile=PoolState(rests=rests))
    error = await stage.failing()
    assert error.code == ("keys_exhausted" if pool is Pool.EXA else "rate_limited")
    assert (error.retry_at, stage.used, stage.counted) == (until, [], (0, 1, 0))


async def test_a_state_that_cannot_be_read_again_is_taken_as_it_was(stage: Stage) -> None:
    reserving_takes(stage, 0.2, meanwhile=PoolState())
    reserve = stage.allowances.reserve

    async def and_the_ledger_is_gone(pool: Pool) -> Any:
        reservation = await reserve(pool)
        stage.ledger.failure = Unavailable()
        return reservation

    stage.allowances.reserve = and_the_ledger_is_gone  # type: ignore[method-assign]
    assert await stage.perform("done") == "done"
    assert stage.counted == (1, 0, 0)


async def test_a_refusal_by_a_service_without_keys_is_the_operations_end() -> None:
    stage = Stage(pool=Pool.MINTLIFY)
    error = await stage.failing(KeyRefused("rate", until=stage.clock.now() + 60))
    assert (error.code, error.retry_at) == ("rate_limited", stage.clock.now() + 60)
    assert stage.counted == (0, 1, 0)
    assert stage.log.of("pool.key_rests") == [
        {"pool": Pool.MINTLIFY, "key": None, "reason": "rate", "until": round(stage.clock.now() + 60)}
    ]


@pytest.mark.parametrize(
    ("refusal", "wait_s", "counted"),
    [
        (KeyRefused("rate", until=NOW + 300), 300, (0, 1, 0)),
        (KeyRefused("quota", until=NOW + 7_200), 7_200, (0, 1, 0)),
        (Refused("rate_limited", retry_at=NOW + 90), 90, (1, 0, 0)),
        (Refused("rate_limited"), 60, (1, 0, 0)),
        (Unclear("rate_limited"), 60, (0, 0, 1)),
    ],
    ids=["in its form", "quota", "a page that says when", "a page", "with a sign of work"],
)
@pytest.mark.parametrize("pool", [Pool.MINTLIFY, Pool.DEEPWIKI])
async def test_a_service_without_keys_is_left_alone_while_it_said_so(
    pool: Pool, refusal: ExchangeError, wait_s: int, counted: tuple[int, int, int]
) -> None:
    """By all instances: they share the ledger, and nothing else."""
    stage = Stage(pool=pool)
    assert (await stage.failing(refusal)).code == "rate_limited"
    other = Stage(pool=pool)
    other.ledger, other.metering.ledger = stage.ledger, stage.ledger
    for each in (stage, other, stage):
        each.clock.advance(wait_s - 1 if each is other else 0)
        error = await each.failing()
        assert (error.code, error.retry_at) == ("rate_limited", NOW + wait_s)
    assert (stage.used, other.used, stage.counted) == ([None], [], counted)
    other.clock.advance(1)
    assert await other.perform("done") == "done"


async def test_another_failure_of_a_service_without_keys_leaves_it_open() -> None:
    stage = Stage(pool=Pool.MINTLIFY)
    for error in (Refused("upstream_error", retry_at=stage.clock.now() + 60), Refused("forbidden"), ExchangeTimeout()):
        assert await stage.failing(error) is error
    assert await stage.perform("done") == "done"
    assert stage.ledger.writes == 0


async def test_a_rest_of_a_service_without_keys_never_moves_earlier() -> None:
    """Another instance heard of a longer wait while this one was asking."""
    stage = Stage(pool=Pool.DEEPWIKI)
    fingerprint = nameless_key(Pool.DEEPWIKI).fingerprint

    def refused_meanwhile() -> KeyRefused:
        stage.ledger.states[Pool.DEEPWIKI] = PoolState(rests={fingerprint: Rest(stage.clock.now() + 900, "rate")})
        return stage.quota(60)

    assert (await stage.failing(refused_meanwhile)).retry_at == stage.clock.now() + 900


# --- what never switches keys, and what becomes of the unit ---
@pytest.mark.parametrize(
    ("error", "counted"),
    [
        (Refused("unauthorized"), (1, 0, 0)),
        (Refused("forbidden"), (1, 0, 0)),
        (Refused("rate_limited"), (1, 0, 0)),
        (Refused("invalid_response"), (1, 0, 0)),
        (ResponseTooLarge(), (1, 0, 0)),
        (ExchangeError(), (1, 0, 0)),
        (NeverConnected(), (0, 1, 0)),
        (BlockedAddress(), (0, 1, 0)),
        (ExchangeTimeout(), (0, 0, 1)),
        (ConnectionFailed(), (0, 0, 1)),
        (ConnectionDropped(), (0, 0, 1)),
        (Unclear("upstream_error"), (0, 0, 1)),
    ],
    ids=lambda value: f"{type(value).__name__}-{value.code}" if isinstance(value, ExchangeError) else "",
)
@pytest.mark.parametrize("refused_before", [0, 1], ids=["first key", "second key"])
async def test_any_other_failure_ends_the_operation(
    stage: Stage, error: ExchangeError, counted: tuple[int, int, int], refused_before: int
) -> None:
    assert await stage.failing(*[stage.quota()] * refused_before, error) is error
    assert len(stage.used) == 1 + refused_before
    assert stage.counted == counted
    assert stage.ledger.writes == refused_before


async def test_a_unit_that_stays_unknown_is_noted_and_counts(stage: Stage) -> None:
    await stage.failing(ExchangeTimeout())
    assert stage.log.of("pool.unit_unsettled") == [{"pool": Pool.EXA}]
    stage.clock.advance(10 * WINDOW_S)
    assert stage.allowances.of(Pool.EXA).unknown_at(stage.clock.now()) == 1


@pytest.mark.parametrize("fault", [KeyError("k-demo"), asyncio.CancelledError()], ids=["fault", "cancelled"])
async def test_a_fault_or_a_cancellation_leaves_the_unit_counted(stage: Stage, fault: BaseException) -> None:
    with pytest.raises(type(fault)):
        await stage.perform(fault)
    assert stage.counted == (0, 0, 1)


# --- before anything is sent ---
@pytest.mark.parametrize("secret", [{}, {"EXA_API_KEY": " "}, {"EXA_API_KEY": "k-demo\nX"}, {"OTHER": "k"}])
async def test_without_a_key_nothing_is_reserved_or_sent(secret: dict[str, object]) -> None:
    stage = Stage(secret=secret)
    error = await stage.failing()
    assert (type(error), error.code) == (Refused, "not_configured")
    assert (stage.used, stage.counted, stage.ledger.reads) == ([], (0, 0, 0), 0)


async def test_a_used_up_day_is_refused_before_anything_is_sent(stage: Stage) -> None:
    stage.allowances.set_limit(Pool.EXA, 1)
    await stage.perform()
    error = await stage.failing()
    assert error.code == "allowance_exhausted"
    assert error.retry_at is not None
    assert stage.clock.now() + WINDOW_S <= error.retry_at <= stage.clock.now() + WINDOW_S + 1_800
    assert len(stage.used) == 1


async def test_a_closed_pool_is_never_asked(stage: Stage) -> None:
    stage.allowances.set_limit(Pool.EXA, 0)
    assert (await stage.failing()).retry_at is None
    assert stage.used == []


@pytest.mark.parametrize("part", ["keys", "ledger", "allowances"])
async def test_a_store_that_cannot_be_used_means_nothing_was_sent(stage: Stage, part: str) -> None:
    getattr(stage, part).failure = Unavailable(retry_after_s=5)
    error = await stage.failing()
    assert (type(error), error.code, error.retry_at) == (Refused, "not_configured", stage.clock.now() + 5)
    assert (stage.used, stage.counted) == ([], (0, 0, 0))


async def test_a_store_that_does_not_say_when_promises_no_time(stage: Stage) -> None:
    stage.keys.failure = Unavailable(code="secrets_unavailable")
    assert (await stage.failing()).retry_at is None


# --- time ---
async def test_no_attempt_starts_with_too_little_time_left(stage: Stage) -> None:
    assert isinstance(await stage.failing(seconds=LEAST_TIME_S - 0.01), ExchangeTimeout)
    assert (stage.used, stage.counted) == ([], (0, 0, 0))
    await stage.perform(seconds=LEAST_TIME_S)
    assert stage.counted == (1, 0, 0)


async def test_a_second_attempt_without_time_for_it_is_a_timeout_that_costs_nothing(stage: Stage) -> None:
    def refused_late() -> KeyRefused:
        stage.clock.advance(8)
        return stage.quota()

    assert isinstance(await stage.failing(refused_late, seconds=10), ExchangeTimeout)
    assert stage.used == ["k-demo-zero"]
    assert stage.counted == (0, 1, 0)
    assert list(stage.rests) == [ZERO]


async def test_a_reservation_that_took_too_long_is_given_back_unsent(stage: Stage) -> None:
    reserve = stage.allowances.reserve

    async def slowly(pool: Pool) -> Any:
        stage.clock.advance(3)
        return await reserve(pool)

    stage.allowances.reserve = slowly  # type: ignore[method-assign]
    assert isinstance(await stage.failing(seconds=5), ExchangeTimeout)
    assert (stage.used, stage.counted) == ([], (0, 1, 0))


# --- settling ---
@pytest.mark.parametrize("outcome", ["done", NeverConnected(), Refused("forbidden")], ids=["done", "never", "refused"])
async def test_an_answer_does_not_depend_on_the_settling(stage: Stage, outcome: Any) -> None:
    def fails_from_now_on() -> Any:
        stage.allowances.failure = Unavailable()
        return outcome

    if isinstance(outcome, ExchangeError):
        assert await stage.failing(fails_from_now_on) is outcome
    else:
        assert await stage.perform(fails_from_now_on) == outcome
    assert stage.counted == (0, 0, 1)
    assert stage.log.of("pool.unit_unsettled") == [{"pool": Pool.EXA}]


async def test_settling_that_hangs_is_given_up(stage: Stage) -> None:
    async def hangs(_reservation: object) -> None:
        await asyncio.Event().wait()

    stage.allowances.confirm = hangs  # type: ignore[method-assign]
    assert await stage.perform("done") == "done"
    assert stage.counted == (0, 0, 1)


# --- what is said of it ---
async def test_a_rest_is_logged_by_the_keys_name_alone(stage: Stage) -> None:
    await stage.perform(stage.quota(), "done")
    until = round(stage.clock.now() + 600)
    assert stage.log.of("pool.key_rests") == [
        {"pool": Pool.EXA, "key": "EXA_API_KEY", "reason": "quota", "until": until}
    ]
    await stage.failing(ExchangeTimeout())
    assert "k-demo" not in repr(stage.log.lines)


# --- the meter of the kinds' own tests ---
async def test_the_scripted_meter_goes_through_its_keys_like_the_real_one() -> None:
    clock = FakeClock()
    exchanges = FakeExchanges(clock=clock)
    meters = ScriptedMeters(exchanges, clock=clock, keys=("k-one", "k-two"))
    meter = meters.open(a_source(), Pool.EXA, deadline=Deadline.after(9, now_s=clock.monotonic()))
    assert isinstance(meter, ScriptedMeter)
    assert meter.remaining_ms() == 9_000
    refusals = [KeyRefused("rate", until=90.0), KeyRefused("rate", until=60.0)]

    async def work(attempt: Attempt) -> str:
        raise refusals[meter.used.index(attempt.key)]

    with pytest.raises(Refused) as error:
        await meter.perform(work)
    assert (error.value.code, error.value.retry_at) == ("keys_exhausted", 60.0)
    assert meter.used == ["k-one", "k-two"]


async def test_the_scripted_meter_lets_every_other_failure_through() -> None:
    clock = FakeClock()
    meter = ScriptedMeter(FakeExchanges(clock=clock), a_source(), clock=clock, keys=(None,))

    async def work(attempt: Attempt) -> str:
        raise KeyRefused("rate", until=60.0)

    with pytest.raises(KeyRefused):
        await meter.perform(work)
    assert meter.operations == 1
