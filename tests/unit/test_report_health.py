"""How a provider is, out of all that is known of it; how all are together; what is told where something is missing."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.circuits import WELL, Circuit, Lane, revision_of
from shared.domain.credentials import Principal
from shared.domain.exposure import CredentialClass
from shared.domain.health import HealthRecords, HealthState, Look, ProbeRun, ProviderHealth
from shared.domain.health_views import (
    STATES,
    Known,
    Looks,
    Overall,
    Part,
    PoolHealth,
    ProviderView,
    Sign,
    as_stored,
    by_urgency,
    in_use,
    looks_of,
    overall,
    view_of,
    worst,
)
from shared.domain.journal import Happening, JournalEntry
from shared.domain.outcomes import OutcomeCode
from shared.domain.pool_views import KeyView, PoolView
from shared.domain.pools import Pool
from shared.domain.registrations import Provider, ProviderKind, ProviderStatus
from shared.errors import NotFound, Unavailable
from shared.services import report_health
from shared.services.list_pools import ListPools
from shared.services.report_health import MOST_OF_HISTORY, ReportHealth
from tests.support.builders import NOW, a_provider, an_internal_provider
from tests.support.fakes import FakeClock, FakeRegistry
from tests.support.health_fakes import FakeCircuitStore, FakeHealthBook, FakeJournal
from tests.support.live_fakes import FakeAllowanceDesk, FakeAllowances, FakePoolKeys, FakePoolLedger

Code, State = OutcomeCode, HealthState
PROVIDER = a_provider()
REVISION = revision_of(PROVIDER.source)
OPEN = Circuit(revision=REVISION, failures=3, open_until=NOW + 30, openings=1, last_code=Code.TIMEOUT, last_at=NOW - 1)
HELD = Circuit(revision=REVISION, open_until=NOW + 60, is_held=True, last_code=Code.RATE_LIMITED, last_at=NOW - 1)
LOST = Circuit(revision=REVISION, refusals=3, disabled_at=NOW - 5, last_code=Code.UNAUTHORIZED, last_at=NOW - 5)
FAILED = Circuit(revision=REVISION, failures=1, last_code=Code.CONNECTION_FAILED, last_at=NOW - 1)
UNAUTHORIZED = Circuit(revision=REVISION, refusals=1, last_code=Code.UNAUTHORIZED, last_at=NOW - 1)
GARBLED = Circuit(revision=REVISION, faults=1, last_code=Code.INVALID_RESPONSE, last_at=NOW - 1)
ON_TRIAL = replace(OPEN, open_until=NOW - 1)
HELD_BEFORE = replace(HELD, open_until=NOW - 1)
CIRCUITS = {
    "well": WELL,
    "open": OPEN,
    "held": HELD,
    "lost": LOST,
    "failed": FAILED,
    "unauthorized": UNAUTHORIZED,
    "garbled": GARBLED,
    "on-trial": ON_TRIAL,
    "held-before": HELD_BEFORE,
    "of-an-older-registration": replace(OPEN, revision="0"),
}
CODES = {
    State.FAILING: Code.TIMEOUT,
    State.DOWN: Code.CONNECTION_FAILED,
    State.REFUSED: Code.FORBIDDEN,
    State.BROKEN: Code.INVALID_RESPONSE,
    State.LIMITED: Code.RATE_LIMITED,
    State.NOT_CONFIGURED: Code.NOT_CONFIGURED,
}
LOOKED = (*CODES, State.HEALTHY, State.UNCHECKED)
KEYS = (KeyView(name="EXA_API_KEY", state="active"),)
POOLS = {
    "none": None,
    "unread": PoolHealth(pool=Pool.EXA),
    "ready": PoolHealth(pool=Pool.EXA, view=PoolView(pool=Pool.EXA, keys=KEYS, unusable=())),
    "empty": PoolHealth(pool=Pool.EXA, view=PoolView(pool=Pool.EXA, keys=(), unusable=())),
    "resting": PoolHealth(pool=Pool.EXA, view=PoolView(pool=Pool.EXA, keys=KEYS, unusable=(), ready_again_at=NOW + 90)),
}


def a_look(state: HealthState, **over: Any) -> ProviderHealth:
    look = Look.NOTHING if state is State.UNCHECKED else Look.CAPABILITIES
    values: dict[str, Any] = {
        "provider_id": PROVIDER.id,
        "revision": REVISION,
        "look": look,
        "state": state,
        "since": NOW - 600,
        "code": CODES.get(state),
    }
    return ProviderHealth(**values | over)


def looks(look: ProviderHealth | None = None, *, began_at: float | None = NOW - 100, is_stale: bool = False) -> Looks:
    found = {} if look is None else {look.provider_id: look}
    return Looks(by_provider=found, began_at=began_at, is_stale=is_stale)


def known(circuit: Circuit = WELL, customer: Circuit = WELL, *, looked: Looks | None = None, **over: Any) -> Known:
    circuits = {Lane.AGENT: circuit, Lane.CUSTOMER: customer}
    return Known(**{"provider": PROVIDER, "circuits": circuits, "looks": looked or looks()} | over)


def seen(*args: Any, **over: Any) -> ProviderView:
    return view_of(known(*args, **over), now=NOW)


# --- one provider --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("circuit", "state", "code", "since", "retry_at"),
    [
        ("well", State.UNCHECKED, None, None, None),
        ("open", State.DOWN, Code.TIMEOUT, NOW - 1, NOW + 30),
        ("held", State.LIMITED, Code.RATE_LIMITED, NOW - 1, NOW + 60),
        ("lost", State.AUTO_DISABLED, Code.UNAUTHORIZED, NOW - 5, None),
        ("failed", State.FAILING, Code.CONNECTION_FAILED, NOW - 1, None),
        ("unauthorized", State.REFUSED, Code.UNAUTHORIZED, NOW - 1, None),
        ("garbled", State.BROKEN, Code.INVALID_RESPONSE, NOW - 1, None),
        ("on-trial", State.FAILING, Code.TIMEOUT, NOW - 1, None),
        ("held-before", State.UNCHECKED, None, None, None),
        ("of-an-older-registration", State.UNCHECKED, None, None, None),
    ],
)
def test_one_request_shows_at_once(
    circuit: str, state: HealthState, code: Code | None, since: float | None, retry_at: float | None
) -> None:
    on_either_lane = [seen(CIRCUITS[circuit]).sign, seen(customer=CIRCUITS[circuit]).sign]

    assert on_either_lane == [Sign(state=state, code=code, since=since, retry_at=retry_at)] * 2


@pytest.mark.parametrize("code", [Code.UNAUTHORIZED, Code.INVALID_RESPONSE])
def test_a_circuit_that_refusals_opened_on_the_customer_lane_says_why(code: Code) -> None:
    view = seen(customer=replace(OPEN, failures=0, refusals=3, last_code=code))

    assert view.state is (State.REFUSED if code is Code.UNAUTHORIZED else State.BROKEN)
    assert view.sign.retry_at == NOW + 30


@pytest.mark.parametrize("state", LOOKED)
def test_one_look_shows_at_once(state: HealthState) -> None:
    view = seen(looked=looks(a_look(state)))

    is_fine = state in (State.HEALTHY, State.UNCHECKED)
    assert (view.state, view.sign.code, view.sign.since) == (state, CODES.get(state), None if is_fine else NOW - 600)
    assert view.look is (Look.NOTHING if state is State.UNCHECKED else Look.CAPABILITIES)


def test_where_nobody_has_looked_that_is_said_and_nothing_is_claimed() -> None:
    view = seen()

    assert (view.state, view.look, view.last_well_at) == (State.UNCHECKED, None, None)


def test_what_a_look_found_of_an_older_registration_says_nothing_but_when_it_was_well() -> None:
    view = seen(looked=looks(a_look(State.DOWN, revision="0", last_well_at=NOW - 900)))

    assert (view.state, view.look, view.last_well_at) == (State.UNCHECKED, None, NOW - 900)


def test_nothing_to_look_at_and_an_open_circuit_is_down() -> None:
    view = seen(OPEN, looked=looks(a_look(State.UNCHECKED)))

    assert (view.state, view.look) == (State.DOWN, Look.NOTHING)


@pytest.mark.parametrize("circuit", ["failed", "unauthorized", "on-trial"])
def test_a_whole_run_that_began_later_and_found_it_well_is_believed(circuit: str) -> None:
    failed = replace(CIRCUITS[circuit], last_at=NOW - 101)

    assert seen(failed, looked=looks(a_look(State.HEALTHY))).state is State.HEALTHY


@pytest.mark.parametrize("state", [State.HEALTHY, State.UNCHECKED])
@pytest.mark.parametrize("circuit", ["well", "held-before", "of-an-older-registration"])
def test_since_when_all_is_well_is_not_claimed(circuit: str, state: State) -> None:
    """A circuit that is closed again is forgotten: an outage between two looks leaves nothing to tell it by."""
    view = seen(CIRCUITS[circuit], looked=looks(a_look(state, last_well_at=NOW - 600)))

    assert (view.state, view.sign.since, view.last_well_at) == (state, None, NOW - 600)


@pytest.mark.parametrize(
    "looked",
    [
        looks(a_look(State.HEALTHY), began_at=NOW - 102),
        looks(a_look(State.HEALTHY), began_at=None),
        looks(a_look(State.HEALTHY), is_stale=True),
        looks(a_look(State.HEALTHY, revision="0")),
        looks(a_look(State.UNCHECKED)),
    ],
    ids=["began-before", "left-some-out", "stale", "of-an-older-registration", "nothing-looked-at"],
)
def test_any_other_look_does_not_outweigh_what_a_request_met(looked: Looks) -> None:
    assert seen(replace(FAILED, last_at=NOW - 101), looked=looked).state is State.FAILING


def test_a_look_says_nothing_of_answers_to_searches() -> None:
    assert seen(replace(GARBLED, last_at=NOW - 101), looked=looks(a_look(State.HEALTHY))).state is State.BROKEN


def test_who_fails_its_trials_is_not_called_well_on_the_word_of_a_look() -> None:
    on_trial = replace(ON_TRIAL, last_at=NOW - 101)

    assert seen(replace(on_trial, openings=1), looked=looks(a_look(State.HEALTHY))).state is State.HEALTHY
    assert seen(replace(on_trial, openings=2), looked=looks(a_look(State.HEALTHY))).state is State.FAILING


def test_a_look_alone_does_not_close_a_circuit() -> None:
    assert seen(replace(OPEN, last_at=NOW - 101), looked=looks(a_look(State.HEALTHY))).state is State.DOWN


def test_nobody_is_called_well_on_the_word_of_a_look_that_is_old() -> None:
    assert seen(looked=looks(a_look(State.HEALTHY), is_stale=True)).state is State.UNCHECKED
    assert seen(looked=looks(a_look(State.DOWN), is_stale=True)).state is State.DOWN


def test_what_was_to_be_left_alone_until_now_is_unchecked() -> None:
    limited = a_look(State.LIMITED, retry_at=NOW)

    assert seen(looked=looks(limited)).state is State.UNCHECKED
    assert seen(looked=looks(replace(limited, retry_at=NOW + 1))).sign.retry_at == NOW + 1


@pytest.mark.parametrize(
    ("pool", "state", "code", "retry_at"),
    [
        ("empty", State.NOT_CONFIGURED, Code.NOT_CONFIGURED, None),
        ("resting", State.LIMITED, Code.KEYS_EXHAUSTED, NOW + 90),
        ("ready", State.UNCHECKED, None, None),
        ("unread", State.UNCHECKED, None, None),
    ],
)
def test_the_pool_of_a_live_service_counts(
    pool: str, state: HealthState, code: Code | None, retry_at: float | None
) -> None:
    assert seen(pool=POOLS[pool]).sign == Sign(state=state, code=code, retry_at=retry_at)


def test_a_service_without_keys_that_rests_is_limited() -> None:
    resting = PoolView(pool=Pool.DEEPWIKI, keys=(), unusable=(), ready_again_at=NOW + 5)

    assert seen(pool=PoolHealth(pool=Pool.DEEPWIKI, view=resting)).sign.code is Code.RATE_LIMITED
    assert seen(pool=PoolHealth(pool=Pool.DEEPWIKI, view=replace(resting, ready_again_at=None))).sign.code is None


def test_an_allowance_that_is_used_up_or_closed_is_limited() -> None:
    allowances = FakeAllowances(clock=FakeClock())
    allowances.set_limit(Pool.EXA, 0)
    closed = asyncio.run(FakeAllowanceDesk(allowances, FakeRegistry().store).read(Pool.EXA))

    view = seen(pool=replace(POOLS["ready"], allowance=closed))
    assert (view.state, view.sign.code) == (State.LIMITED, Code.ALLOWANCE_EXHAUSTED)


def test_what_is_switched_off_is_that_before_all_else() -> None:
    off = replace(PROVIDER, status=ProviderStatus.DISABLED)

    assert seen(LOST, LOST, looked=looks(a_look(State.DOWN)), provider=off).sign.state is State.DISABLED


# --- generated -----------------------------------------------------------------------------------

ANY_KNOWN = st.builds(
    lambda agent, customer, look, stale, pool, off: known(
        CIRCUITS[agent],
        CIRCUITS[customer],
        looked=looks(None if look is None else a_look(look), is_stale=stale),
        pool=POOLS[pool],
        provider=replace(PROVIDER, status=ProviderStatus.DISABLED) if off else PROVIDER,
    ),
    *(st.sampled_from(sorted(CIRCUITS)) for _ in range(2)),
    st.none() | st.sampled_from(LOOKED),
    st.booleans(),
    st.sampled_from(sorted(POOLS)),
    st.booleans(),
)


def expected(it: Known) -> HealthState:
    """The order, spelt out once more and otherwise."""
    circuits = [circuit.of(REVISION) for circuit in it.circuits.values()]
    look = it.looks.by_provider.get(PROVIDER.id)
    found = look.state if look and not (it.looks.is_stale and look.state is State.HEALTHY) else State.UNCHECKED
    is_open = [circuit for circuit in circuits if circuit.open_until > NOW]
    last = [circuit.last_code for circuit in circuits if not circuit.is_held]
    view = it.pool.view if it.pool else None
    cascade = (
        (State.DISABLED, it.provider.status is ProviderStatus.DISABLED),
        (State.AUTO_DISABLED, any(circuit.disabled_at for circuit in circuits)),
        (State.REFUSED, found is State.REFUSED or Code.UNAUTHORIZED in last),
        (State.BROKEN, found is State.BROKEN or Code.INVALID_RESPONSE in last),
        (State.DOWN, found is State.DOWN or any(not circuit.is_held for circuit in is_open)),
        (State.LIMITED, found is State.LIMITED or bool(is_open) or bool(view and view.ready_again_at)),
        (State.FAILING, found is State.FAILING or any(last)),
        (State.NOT_CONFIGURED, found is State.NOT_CONFIGURED or bool(view and not view.keys)),
        (State.UNCHECKED, found is State.UNCHECKED),
    )
    return next((state for state, holds in cascade if holds), State.HEALTHY)


@given(ANY_KNOWN)
def test_the_worst_that_is_known_is_told(it: Known) -> None:
    assert view_of(it, now=NOW).state is expected(it)


@given(ANY_KNOWN)
def test_nobody_is_called_well_of_whom_something_bad_is_known(it: Known) -> None:
    view = view_of(it, now=NOW)

    if view.state is State.HEALTHY:
        assert all(circuit.free_at(NOW) == NOW for circuit in view.circuits.values() if circuit is not HELD_BEFORE)
        assert not it.looks.is_stale
        assert it.looks.by_provider[PROVIDER.id].state is State.HEALTHY
        assert it.provider.status is ProviderStatus.ACTIVE


@given(ANY_KNOWN, st.sampled_from(sorted(CIRCUITS)))
def test_to_know_more_of_a_lane_never_makes_it_look_better(it: Known, circuit: str) -> None:
    less = replace(it, circuits={})
    more = replace(it, circuits={Lane.AGENT: CIRCUITS[circuit]})

    assert STATES.index(view_of(more, now=NOW).state) <= STATES.index(view_of(less, now=NOW).state)


@given(st.lists(st.sampled_from(STATES)), st.sampled_from(STATES))
def test_one_sign_more_never_makes_it_better(states: list[HealthState], state: HealthState) -> None:
    signs = [Sign(state=each) for each in states]

    assert STATES.index(worst([*signs, Sign(state=state)]).state) <= STATES.index(worst(signs).state) or not signs


def test_every_state_has_its_place() -> None:
    assert sorted(STATES) == sorted(HealthState)


# --- all together --------------------------------------------------------------------------------


def views_in(*states: HealthState) -> list[ProviderView]:
    return [ProviderView(provider=a_provider(), sign=Sign(state=state)) for state in states]


@pytest.mark.parametrize(
    ("states", "whole"),
    [
        ((), Overall.HEALTHY),
        ((State.HEALTHY, State.UNCHECKED), Overall.HEALTHY),
        ((State.HEALTHY, State.DISABLED), Overall.HEALTHY),
        ((State.DISABLED,), Overall.HEALTHY),
        ((State.HEALTHY, State.DOWN), Overall.DEGRADED),
        ((State.UNCHECKED, State.AUTO_DISABLED), Overall.DEGRADED),
        ((State.FAILING,), Overall.DEGRADED),
        ((State.DOWN, State.DISABLED), Overall.DOWN),
        ((State.REFUSED, State.BROKEN, State.DOWN, State.LIMITED, State.NOT_CONFIGURED), Overall.DOWN),
    ],
    ids=lambda value: "-".join(value) or "none" if isinstance(value, tuple) else value,
)
def test_all_together(states: tuple[HealthState, ...], whole: Overall) -> None:
    assert overall(views_in(*states), is_stale=False, is_partly_unknown=False) is whole


def test_what_is_not_known_is_not_called_well() -> None:
    assert overall(views_in(State.HEALTHY), is_stale=True, is_partly_unknown=False) is Overall.DEGRADED
    assert overall(views_in(State.HEALTHY), is_stale=False, is_partly_unknown=True) is Overall.DEGRADED
    assert overall([], is_stale=True, is_partly_unknown=False) is Overall.HEALTHY
    assert overall(views_in(State.DOWN), is_stale=True, is_partly_unknown=True) is Overall.DOWN


@given(st.lists(st.sampled_from(STATES), max_size=6), st.booleans(), st.booleans())
def test_what_is_switched_off_counts_for_nothing(states: list[HealthState], stale: bool, unknown: bool) -> None:
    counted = [state for state in states if state is not State.DISABLED]
    without, among = (overall(views_in(*each), is_stale=stale, is_partly_unknown=unknown) for each in (counted, states))

    assert without is among


def test_the_worst_comes_first_and_what_is_switched_off_last() -> None:
    views = views_in(State.DISABLED, State.HEALTHY, State.FAILING, State.REFUSED)

    states = [view.state for view in sorted(views, key=by_urgency)]
    assert states == [State.REFUSED, State.FAILING, State.HEALTHY, State.DISABLED]


# --- when somebody looked ------------------------------------------------------------------------


def a_run(ago_s: float, **over: Any) -> ProbeRun:
    return ProbeRun(**{"run_id": "r", "started_at": NOW - ago_s - 2, "finished_at": NOW - ago_s} | over)


@pytest.mark.parametrize(("ago_s", "is_stale"), [(0, False), (900, False), (901, True)])
def test_looks_are_stale_a_quarter_of_an_hour_after_the_last_run_that_finished(ago_s: float, is_stale: bool) -> None:
    goes_on = a_run(-2, finished_at=None)
    read = looks_of(HealthRecords(run=goes_on, finished=a_run(ago_s)), now=NOW)

    assert (read.is_stale, read.began_at) == (is_stale, NOW - ago_s - 2)


def test_without_a_run_looks_are_stale() -> None:
    assert looks_of(HealthRecords(run=a_run(0, finished_at=None)), now=NOW).is_stale
    assert looks_of(None, now=NOW) == Looks()


def test_a_run_that_left_some_out_says_of_nobody_that_it_was_looked_at() -> None:
    assert looks_of(HealthRecords(finished=a_run(5, left_out=1)), now=NOW).began_at is None


# --- the status that counts ----------------------------------------------------------------------


def test_the_agent_lane_alone_says_that_a_provider_is_out_of_use() -> None:
    lost = in_use(PROVIDER, {PROVIDER.id: LOST})

    assert lost.status is ProviderStatus.AUTO_DISABLED
    assert lost.status_reason is not None
    assert (lost.status_reason.code, lost.status_reason.at) == (Code.UNAUTHORIZED, NOW - 5)
    assert as_stored(lost) == PROVIDER
    assert in_use(PROVIDER, {PROVIDER.id: OPEN}) == PROVIDER == in_use(PROVIDER, {})


def test_what_an_operator_has_switched_off_stays_that() -> None:
    off = replace(PROVIDER, status=ProviderStatus.DISABLED)

    assert in_use(off, {off.id: LOST}) == off == as_stored(off)


# --- the report ----------------------------------------------------------------------------------

ADMIN = Principal(credential_id="root", credential_class=CredentialClass.ADMIN)


def an_agent(*allowed: str) -> Principal:
    return Principal(credential_id="a" * 16, credential_class=CredentialClass.AGENT, allowed_providers=allowed or None)


class Stage:
    def __init__(self, *providers: Provider) -> None:
        self.clock = FakeClock()
        self.registry = FakeRegistry()
        self.registry.store.registrations |= {each.id: each for each in providers}
        self.circuits = {lane: FakeCircuitStore() for lane in Lane}
        self.journals = {lane: FakeJournal(self.clock) for lane in Lane}
        self.book = FakeHealthBook(self.clock)
        self.book.run = self.book.finished = a_run(60)
        self.keys = FakePoolKeys({Pool.EXA: {"EXA_API_KEY": "k-demo"}})
        self.ledger = FakePoolLedger(clock=self.clock)
        self.desk = FakeAllowanceDesk(FakeAllowances(clock=self.clock), self.registry.store)
        self.report = ReportHealth(
            registry=self.registry,
            circuits=self.circuits,
            looks=self.book,
            histories=self.journals,
            pools=ListPools(keys=self.keys, ledger=self.ledger, clock=self.clock),
            allowances=self.desk,
            clock=self.clock,
        )

    def parts(self) -> Mapping[Part, Any]:
        return {
            Part.AGENT_CIRCUITS: self.circuits[Lane.AGENT],
            Part.CUSTOMER_CIRCUITS: self.circuits[Lane.CUSTOMER],
            Part.LOOKS: self.book,
            Part.KEYS: self.keys,
            Part.RESTS: self.ledger,
            Part.ALLOWANCES: self.desk,
        }


@pytest.mark.parametrize("part", list(Part)[:6])
async def test_a_part_that_cannot_be_read_is_named_and_the_rest_is_told(part: Part) -> None:
    stage = Stage(PROVIDER, an_internal_provider(kind=ProviderKind.EXA))
    stage.parts()[part].failure = Unavailable("Try again.")
    told = await stage.report(by=ADMIN)

    assert told.unavailable == (part,)
    assert (len(told.providers), len(told.pools)) == (2, len(Pool))
    assert told.status is Overall.DEGRADED


async def test_all_parts_at_once_may_be_missing() -> None:
    stage = Stage(PROVIDER)
    for part in stage.parts().values():
        part.failure = Unavailable("Try again.")
    told = await stage.report(by=ADMIN)

    assert set(told.unavailable) == set(stage.parts())
    assert [(view.state, dict(view.circuits)) for view in told.providers] == [(State.UNCHECKED, {})]
    assert (told.is_stale, told.run) == (True, None)


async def test_a_part_that_does_not_come_in_time_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage(PROVIDER)

    async def never(_pool: Pool) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(report_health, "_PART_TIMEOUT_S", 0.01)
    monkeypatch.setattr(stage.desk, "read", never)
    told = await stage.report(by=ADMIN)

    assert (told.unavailable, [pool.allowance for pool in told.pools]) == ((Part.ALLOWANCES,), [None] * len(Pool))


async def test_without_registrations_there_is_nothing_to_tell() -> None:
    stage = Stage(PROVIDER)
    stage.registry.failure = Unavailable("Try again.")

    with pytest.raises(Unavailable):
        await stage.report(by=ADMIN)


async def test_an_agent_is_told_of_what_it_may_reach_and_of_the_pools_behind_that() -> None:
    exa, other = an_internal_provider(kind=ProviderKind.EXA), an_internal_provider()
    stage = Stage(PROVIDER, exa, other)
    everything, narrow = await stage.report(by=an_agent()), await stage.report(by=an_agent(exa.id, "ao_" + "a" * 16))

    assert {view.provider.id for view in everything.providers} == {PROVIDER.id, exa.id, other.id}
    assert [view.provider.id for view in narrow.providers] == [exa.id]
    assert [pool.pool for pool in everything.pools] == [pool.pool for pool in narrow.pools] == [Pool.EXA]


async def test_how_others_are_does_not_shine_through_what_an_agent_is_told() -> None:
    stage = Stage(PROVIDER, other := an_internal_provider())
    stage.book.healths = {each.id: a_look(State.HEALTHY, provider_id=each.id) for each in (PROVIDER, other)}
    stage.circuits[Lane.AGENT].circuits[other.id] = LOST

    assert (await stage.report(by=an_agent(PROVIDER.id))).status is Overall.HEALTHY
    assert (await stage.report(by=ADMIN)).status is Overall.DEGRADED


async def test_an_unknown_one_and_a_forbidden_one_are_the_same_to_an_agent() -> None:
    stage = Stage(PROVIDER, other := an_internal_provider())

    assert (await stage.report.one(other.id, by=ADMIN)).providers[0].provider == other
    for provider_id in (other.id, "ao_" + "a" * 16, "../x"):
        with pytest.raises(NotFound):
            await stage.report.one(provider_id, by=an_agent(PROVIDER.id))


async def test_an_agent_only_provider_is_not_asked_on_the_customer_lane() -> None:
    stage = Stage(internal := an_internal_provider())
    stage.circuits[Lane.CUSTOMER].circuits[internal.id] = LOST
    (view,) = (await stage.report(by=ADMIN)).providers

    assert (set(view.circuits), view.state) == ({Lane.AGENT}, State.UNCHECKED)


def an_entry(ago_s: float, lane: Lane, provider_id: str = PROVIDER.id) -> JournalEntry:
    return JournalEntry(
        provider_id=provider_id, at=NOW - ago_s, happening=Happening.CIRCUIT_OPENED, state="open", lane=lane
    )


async def test_the_history_of_both_lanes_is_one_the_newest_first() -> None:
    stage = Stage(PROVIDER)
    stage.journals[Lane.AGENT].entries = [an_entry(9, Lane.AGENT), an_entry(1, Lane.AGENT)]
    stage.journals[Lane.CUSTOMER].entries = [an_entry(5, Lane.CUSTOMER), an_entry(40 * 86_400, Lane.CUSTOMER)]
    history = (await stage.report.one(PROVIDER.id, by=ADMIN)).history

    assert [(NOW - entry.at, entry.lane) for entry in history] == [
        (1, Lane.AGENT),
        (5, Lane.CUSTOMER),
        (9, Lane.AGENT),
    ]


async def test_a_long_history_is_cut_at_its_old_end() -> None:
    stage = Stage(PROVIDER)
    for lane in Lane:
        stage.journals[lane].entries = [an_entry(ago_s, lane) for ago_s in range(300, 0, -1)]
    history = (await stage.report.one(PROVIDER.id, by=ADMIN)).history

    assert len(history) == MOST_OF_HISTORY
    assert {NOW - entry.at for entry in history} == set(range(1, 101))


async def test_a_history_that_cannot_be_read_is_named() -> None:
    stage = Stage(PROVIDER)
    stage.journals[Lane.AGENT].entries = [an_entry(9, Lane.AGENT)]
    stage.journals[Lane.CUSTOMER].failure = Unavailable("Try again.")
    told = await stage.report.one(PROVIDER.id, by=ADMIN)

    assert (told.unavailable, len(told.history), told.status) == ((Part.CUSTOMER_HISTORY,), 1, Overall.DEGRADED)


async def test_to_tell_asks_no_more_than_reads() -> None:
    stage = Stage(PROVIDER, an_internal_provider(kind=ProviderKind.EXA))
    await stage.report(by=ADMIN)

    assert [each.writes for each in stage.circuits.values()] == [0, 0]
    assert (stage.book.writes, stage.ledger.writes) == (0, 0)
