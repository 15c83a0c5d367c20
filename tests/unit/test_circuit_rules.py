"""The pure rules of circuits: what any order of outcomes, trials, probes and clocks comes to."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from shared.domain.circuits import (
    CLOCKS_DIFFER_S,
    HURRIED_AFTER_S,
    LONGEST_HOLD_S,
    MAX_FAULTS,
    MAX_REFUSALS,
    TRIAL_LEASE_S,
    WELL,
    Circuit,
    CircuitState,
    Effect,
    Incident,
    after,
    begun_anew,
    circuit_of,
    claimed,
    disabled,
    found_well,
    revision_of,
)
from shared.domain.outcomes import OutcomeCode
from tests.support.builders import NOW, a_binding, a_source, an_instance

CODES = {
    Effect.TRANSIENT: OutcomeCode.TIMEOUT,
    Effect.REFUSAL: OutcomeCode.UNAUTHORIZED,
    Effect.FAULT: OutcomeCode.INVALID_RESPONSE,
    Effect.HOLD: OutcomeCode.RATE_LIMITED,
}
TEN_MINUTES_S = 600.0
NO_LONGER_THAN_S = LONGEST_HOLD_S + TRIAL_LEASE_S + 2 * CLOCKS_DIFFER_S
JITTER = st.floats(-1, 1)
BAD = st.sampled_from([Effect.TRANSIENT, Effect.REFUSAL, Effect.FAULT, Effect.HOLD])


def an_incident(effect: Effect, *, revision: str = "1", **over) -> Incident:
    held_until = NOW + 120 if effect is Effect.HOLD else None
    return Incident(
        **{"revision": revision, "effect": effect, "code": CODES.get(effect), "held_until": held_until} | over
    )


def after_all(circuit: Circuit, *effects: Effect, now: float = NOW, **over) -> Circuit:
    for effect in effects:
        circuit = after(circuit, an_incident(effect, **over), now=now)
    return circuit


def tried(circuit: Circuit, effect: Effect, *, now: float, trial_id: str = "trial", **over) -> Circuit:
    """By the one request that may."""
    claim = claimed(circuit, trial_id, now=now)
    assert claim is not None
    return after(claim, an_incident(effect, trial_id=trial_id, **over), now=now)


OPEN = after_all(WELL, *[Effect.TRANSIENT] * 3)
HELD = after_all(WELL, Effect.HOLD)
TRYING = claimed(OPEN, "mine", now=OPEN.open_until)


# Any life of a circuit: what happened, by whose trial, how much later, and how far off the writer's clock was.
_EVENTS = st.tuples(
    st.sampled_from([*Effect, "claim", "probe"]),
    st.sampled_from(["", "one", "two"]),
    st.sampled_from([0.0, 1.0, 29.0, 31.0, 70.0, 1_000.0, 4_000.0]),
    st.sampled_from([0.0, 0.0, 5.0, -TEN_MINUTES_S, TEN_MINUTES_S]),
    JITTER,
    st.sampled_from([-10.0, 5.0, 120.0, 1e9]),
)
LIVES = st.lists(_EVENTS, max_size=10)


def lived(events, *, may_disable: bool = True, revision: str = "1", off: bool = False) -> tuple[Circuit, float]:
    """The circuit, and the time that it is."""
    circuit, now = WELL, NOW
    for what, trial_id, seconds, off_s, jitter, held_s in events:
        now += seconds
        writes_at = now + off_s if off else now
        if what == "claim":
            circuit = claimed(circuit, trial_id or "one", now=writes_at) or circuit
        elif what == "probe":
            circuit = found_well(circuit, now=writes_at)
        else:
            incident = Incident(
                revision=revision,
                effect=what,
                code=CODES.get(what),
                held_until=writes_at + held_s if what is Effect.HOLD else None,
                trial_id=trial_id,
                jitter=jitter,
                may_disable=may_disable,
            )
            circuit = after(circuit, incident, now=writes_at)
    return circuit, now


# --- opening and closing ---
@given(st.lists(JITTER, min_size=9, max_size=9))
def test_the_waits_grow_and_lie_within_their_jitter(jitters: list[float]) -> None:
    circuit, now, waits = after_all(WELL, *[Effect.TRANSIENT] * 2), NOW, []
    for jitter in jitters:
        if circuit.open_until:
            circuit = tried(circuit, Effect.TRANSIENT, now=now, jitter=jitter)
        else:
            circuit = after(circuit, an_incident(Effect.TRANSIENT, jitter=jitter), now=now)
        waits.append(circuit.open_until - now)
        now = circuit.open_until
    for wait_s, expected_s in zip(waits, [30, 60, 120, 240, 480, 900, 900, 900, 900], strict=True):
        assert expected_s * 0.899 < wait_s < expected_s * 1.101
    assert all(later > earlier for earlier, later in pairwise(waits[:6]))


def test_two_failures_open_nothing() -> None:
    circuit = after_all(WELL, Effect.TRANSIENT, Effect.TRANSIENT)
    assert circuit.state_at(NOW) is CircuitState.CLOSED
    assert circuit.free_at(NOW) == NOW


def test_a_success_in_between_starts_the_count_anew() -> None:
    circuit = after_all(WELL, Effect.TRANSIENT, Effect.TRANSIENT, Effect.SUCCESS, Effect.TRANSIENT, Effect.TRANSIENT)
    assert circuit.state_at(NOW) is CircuitState.CLOSED
    assert circuit.failures == 2


def test_an_open_circuit_is_half_open_when_the_wait_is_over() -> None:
    assert OPEN.open_until == NOW + 30
    assert OPEN.state_at(NOW + 29.999) is CircuitState.OPEN
    assert OPEN.state_at(NOW + 30) is CircuitState.HALF_OPEN


@given(LIVES)
def test_a_success_clears_everything(events) -> None:
    circuit, now = lived(events)
    assume(not circuit.disabled_at)
    if circuit.open_until:
        circuit = claimed(circuit, "last", now=now + 10_000) or circuit
    assert after(circuit, an_incident(Effect.SUCCESS, trial_id="last"), now=now + 10_000) is WELL


def test_a_provider_that_is_well_stays_the_very_same() -> None:
    assert after(WELL, an_incident(Effect.SUCCESS), now=NOW) is WELL
    assert after(WELL, an_incident(Effect.NOTHING), now=NOW) is WELL


# --- held ---
@given(st.floats(-1e6, 1e12), st.integers(0, 2))
def test_a_hold_lasts_an_hour_at_most_and_counts_for_nothing(asked_s: float, failures: int) -> None:
    before = after_all(WELL, *[Effect.TRANSIENT] * failures)
    held = after(before, an_incident(Effect.HOLD, held_until=NOW + asked_s), now=NOW)
    assert held.open_until == NOW + min(asked_s, LONGEST_HOLD_S)
    assert held.free_at(NOW) <= NOW + LONGEST_HOLD_S
    assert (held.failures, held.refusals, held.faults, held.openings) == (failures, 0, 0, 0)


@given(st.integers(1, 40))
def test_no_number_of_holds_lengthens_a_wait(holds: int) -> None:
    circuit, now = WELL, NOW
    for _ in range(holds):
        incident = an_incident(Effect.HOLD, trial_id="trial", held_until=now + 60)
        circuit = after(claimed(circuit, "trial", now=now) or circuit, incident, now=now)
        now = circuit.open_until
    failed = tried(circuit, Effect.TRANSIENT, now=now)
    assert failed.open_until == now + 30


# --- trials ---
@given(LIVES, st.sampled_from(list(Effect)))
def test_what_was_asked_before_it_opened_changes_nothing(events, effect: Effect) -> None:
    circuit, now = lived(events)
    assume(circuit.open_until)
    for seconds in (0.0, 40.0, 4_000.0):
        assert after(circuit, an_incident(effect, may_disable=True), now=now + seconds) is circuit


@given(LIVES, st.sampled_from(list(Effect)))
def test_a_trial_that_another_took_over_changes_nothing(events, effect: Effect) -> None:
    circuit, now = lived(events)
    assume(circuit.open_until and circuit.trial_id != "stale")
    assert after(circuit, an_incident(effect, trial_id="stale", may_disable=True), now=now) is circuit


def test_one_request_at_a_time_is_the_trial() -> None:
    assert TRYING is not None
    assert claimed(TRYING, "another", now=TRYING.trial_until - 0.001) is None
    taken_over = claimed(TRYING, "another", now=TRYING.trial_until)
    assert taken_over is not None
    assert taken_over.trial_id == "another"
    assert TRYING.free_at(OPEN.open_until) == OPEN.open_until + TRIAL_LEASE_S


@pytest.mark.parametrize(
    "circuit",
    [WELL, OPEN, HELD, Circuit(revision="1", disabled_at=NOW), after_all(WELL, Effect.TRANSIENT)],
    ids=["well", "open", "held", "disabled", "counted"],
)
def test_there_is_no_trial_but_of_one_that_is_half_open(circuit: Circuit) -> None:
    assert claimed(circuit, "one", now=NOW) is None


def test_a_trial_that_showed_nothing_gives_way_to_the_next() -> None:
    at = OPEN.open_until
    given_back = tried(OPEN, Effect.NOTHING, now=at)
    assert replace(given_back, trial_until=OPEN.trial_until) == OPEN
    assert given_back.free_at(at - 1) == OPEN.free_at(at - 1), "also by a clock that is behind"
    assert claimed(given_back, "next", now=at) is not None


@given(st.lists(st.tuples(st.floats(0, 40), st.booleans()), max_size=40))
def test_callers_in_a_hurry_try_once_in_thirty_seconds_and_patient_ones_at_once(callers) -> None:
    """All of them find out nothing."""
    circuit, now, free_for_hurried_at = OPEN, OPEN.open_until, OPEN.open_until + HURRIED_AFTER_S
    for later_s, is_hurried in callers:
        now += later_s
        claim = claimed(circuit, "trial", now=now, is_hurried=is_hurried)
        assert (claim is not None) == (not is_hurried or now >= free_for_hurried_at)
        if claim is not None:
            now += 1
            circuit = after(claim, an_incident(Effect.NOTHING, trial_id="trial"), now=now)
            free_for_hurried_at = now + HURRIED_AFTER_S


@given(LIVES)
def test_whoever_is_in_a_hurry_gets_its_trial_when_nobody_patient_comes(events) -> None:
    circuit, now = lived(events)
    assume(not circuit.disabled_at and circuit.open_until)
    at = max(now, circuit.free_at(now)) + HURRIED_AFTER_S + 0.001
    assert claimed(circuit, "hurried", now=at, is_hurried=True) is not None


@given(LIVES)
def test_whoever_is_in_a_hurry_may_do_nothing_that_a_patient_one_may_not(events) -> None:
    circuit, now = lived(events, off=True)
    if claimed(circuit, "trial", now=now) is None:
        assert claimed(circuit, "trial", now=now, is_hurried=True) is None


def test_a_failed_trial_opens_it_for_longer() -> None:
    at = OPEN.open_until
    failed = tried(OPEN, Effect.TRANSIENT, now=at)
    assert failed.open_until == at + 60
    assert (failed.trial_id, failed.trial_until) == ("", 0.0)


@given(LIVES, st.floats(0, 5_000))
def test_who_waits_as_long_as_it_is_told_may_ask(events, later_s: float) -> None:
    circuit, now = lived(events)
    assume(not circuit.disabled_at and circuit.open_until)
    now += later_s
    free_at = circuit.free_at(now)
    assert (claimed(circuit, "next", now=now) is None) == (free_at > now)
    assert claimed(circuit, "next", now=max(now, free_at)) is not None


# --- out of use ---
@pytest.mark.parametrize(
    ("effect", "most"), [(Effect.REFUSAL, MAX_REFUSALS), (Effect.FAULT, MAX_FAULTS)], ids=["refusal", "fault"]
)
def test_refusals_and_faults_in_a_row_take_it_out_of_use(effect: Effect, most: int) -> None:
    almost = after_all(WELL, *[effect] * (most - 1), may_disable=True)
    assert almost.state_at(NOW) is CircuitState.CLOSED
    lost = after_all(almost, effect, may_disable=True)
    assert (lost.state_at(NOW), lost.free_at(NOW), lost.last_code) == (CircuitState.AUTO_DISABLED, None, CODES[effect])
    assert lost.state_at(NOW + 1e9) is CircuitState.AUTO_DISABLED


@pytest.mark.parametrize(
    ("effect", "most"), [(Effect.REFUSAL, MAX_REFUSALS), (Effect.FAULT, MAX_FAULTS)], ids=["refusal", "fault"]
)
def test_on_the_customer_lane_they_open_the_circuit(effect: Effect, most: int) -> None:
    opened = after_all(WELL, *[effect] * most, may_disable=False)
    assert opened.open_until == NOW + 30
    failed = tried(opened, effect, now=opened.open_until, may_disable=False)
    assert failed.open_until == opened.open_until + 60


def test_a_trial_can_be_the_refusal_that_takes_it_out_of_use() -> None:
    circuit = after_all(WELL, Effect.REFUSAL, Effect.REFUSAL, *[Effect.TRANSIENT] * 3, may_disable=True)
    lost = tried(circuit, Effect.REFUSAL, now=circuit.open_until, may_disable=True)
    assert lost.state_at(NOW) is CircuitState.AUTO_DISABLED


@given(LIVES)
def test_a_lane_that_may_not_never_takes_a_provider_out_of_use(events) -> None:
    circuit, _ = lived(events, may_disable=False)
    assert not circuit.disabled_at


@given(LIVES, LIVES)
def test_one_that_is_out_of_use_stays_so_whatever_happens(before, then) -> None:
    lost = after_all(lived(before)[0].of("2"), *[Effect.REFUSAL] * 3, revision="2", may_disable=True)
    assume(lost.disabled_at)
    for what, trial_id, seconds, *_ in then:
        now = NOW + seconds
        assert claimed(lost, trial_id, now=now) is None
        assert found_well(lost, now=now) is lost
        if isinstance(what, Effect):
            assert after(lost, an_incident(what, revision="3", trial_id=trial_id), now=now) is lost


def test_what_another_lane_took_out_of_use_keeps_its_time() -> None:
    incident = an_incident(Effect.REFUSAL, revision="4")
    lost = disabled(OPEN, incident, now=NOW + 5)
    assert lost == Circuit(revision="4", disabled_at=NOW + 5, last_code=OutcomeCode.UNAUTHORIZED, last_at=NOW + 5)
    assert disabled(lost, incident, now=NOW + 9).disabled_at == NOW + 5


# --- revisions ---
@given(LIVES)
def test_another_revision_forgets_everything_but_being_out_of_use(events) -> None:
    circuit, now = lived(events)
    renewed = circuit.of("2")
    if circuit.disabled_at:
        expected = (circuit.disabled_at, circuit.last_code, circuit.last_at)
        assert (renewed.disabled_at, renewed.last_code, renewed.last_at) == expected
        assert renewed.state_at(now) is CircuitState.AUTO_DISABLED
    else:
        assert renewed is WELL
    counted = after(circuit, an_incident(Effect.TRANSIENT, revision="2"), now=now)
    if not circuit.disabled_at:
        assert counted == Circuit(revision="2", failures=1, last_code=OutcomeCode.TIMEOUT, last_at=now)


@pytest.mark.parametrize(("older", "newer"), [("1", "2"), ("9", "10"), ("3.4", "3.5"), ("2.9", "3.1")])
@pytest.mark.parametrize("effect", list(Effect))
def test_what_came_of_an_older_revision_changes_nothing(older: str, newer: str, effect: Effect) -> None:
    for circuit in (
        after_all(WELL, Effect.TRANSIENT, revision=newer),
        after_all(WELL, *[Effect.FAULT] * 5, revision=newer),
    ):
        assert after(circuit, an_incident(effect, revision=older, may_disable=True), now=NOW + 60) is circuit


@given(LIVES, st.lists(st.sampled_from(list(Effect)), max_size=9))
def test_nothing_that_was_asked_before_a_registration_was_written_counts_for_the_new_one(events, late) -> None:
    circuit, now = lived(events)
    assume(circuit is not WELL)
    anew = begun_anew(circuit, "2")
    if circuit.disabled_at:
        assert anew is circuit, "whatever is written but that it is to be used again"
        return
    assert anew.state_at(now) is CircuitState.CLOSED
    for effect in late:
        for trial_id in ("", "one", "two"):
            assert after(anew, an_incident(effect, trial_id=trial_id, may_disable=True), now=now) is anew
    assert after(anew, an_incident(Effect.SUCCESS, revision="2"), now=now) is WELL
    assert after_all(anew, *[Effect.REFUSAL] * 3, revision="2", may_disable=True).disabled_at


@pytest.mark.parametrize("revision", ["2", "3"])
def test_what_is_known_of_a_registration_as_it_is_or_a_newer_one_is_not_begun_anew(revision: str) -> None:
    counted = after_all(WELL, Effect.REFUSAL, revision=revision)
    assert begun_anew(counted, "2") is counted


def test_the_revision_changes_with_the_registration_and_with_its_instance() -> None:
    instance = an_instance(generation=3)
    bound = a_binding(instance, generation=7).source
    assert revision_of(a_source(generation=5)) == "5"
    assert revision_of(bound) == "7.3"
    assert circuit_of(bound, {bound.id: replace(OPEN, revision="7.3")}).open_until == OPEN.open_until
    assert circuit_of(bound, {bound.id: replace(OPEN, revision="7.2")}) is WELL
    assert circuit_of(bound, {}) is WELL


# --- the probe ---
def test_a_probe_that_found_it_well_makes_the_next_request_the_trial() -> None:
    half = found_well(OPEN, now=NOW + 5)
    assert half.state_at(NOW + 5) is CircuitState.HALF_OPEN
    assert claimed(half, "one", now=NOW + 5) is not None
    assert tried(half, Effect.TRANSIENT, now=NOW + 5).open_until == NOW + 65, "what it found counts for no success"


@pytest.mark.parametrize(
    "circuit",
    [WELL, HELD, TRYING, Circuit(revision="1", disabled_at=NOW)],
    ids=["well", "held", "half_open", "disabled"],
)
def test_a_probe_changes_no_other(circuit: Circuit) -> None:
    at = max(NOW, OPEN.open_until if circuit is TRYING else NOW)
    assert found_well(circuit, now=at) is circuit


# --- many providers, many clocks ---
@given(LIVES, LIVES, st.randoms(use_true_random=False))
def test_the_order_of_unrelated_providers_incidents_does_not_matter(one, two, random) -> None:
    def applied(order: list[str]) -> dict[str, Circuit]:
        circuits, left = {"one": WELL, "two": WELL}, {"one": list(one), "two": list(two)}
        for id_ in order:
            what, trial_id, _, _, jitter, _ = left[id_].pop(0)
            if isinstance(what, Effect):
                incident = an_incident(what, trial_id=trial_id, jitter=jitter, may_disable=True)
                circuits[id_] = after(circuits[id_], incident, now=NOW)
        return circuits

    order = ["one"] * len(one) + ["two"] * len(two)
    mixed = list(order)
    random.shuffle(mixed)
    assert applied(order) == applied(mixed)


@given(LIVES, st.sampled_from([-TEN_MINUTES_S, 0.0, TEN_MINUTES_S]), st.sampled_from([0.0, 0.0, 1e5, 1e9]))
def test_wrong_clocks_keep_nobody_out_for_long(events, reader_off_s: float, far_ahead_s: float) -> None:
    """Whoever comes back when it is told to gets its trial, within an hour and some: also where a writer was days
    ahead, and where the reader itself is wrong.
    """
    circuit, now = lived(events, off=True)
    assume(circuit.open_until and not circuit.disabled_at)
    ahead = far_ahead_s and {"open_until": circuit.open_until + far_ahead_s, "trial_until": now + far_ahead_s}
    circuit = replace(circuit, **(ahead or {}))
    began = now = now + reader_off_s
    for _ in range(4):
        free_at = circuit.free_at(now)
        if free_at <= now:
            break
        now = free_at
    assert now - began <= NO_LONGER_THAN_S + TEN_MINUTES_S
    assert claimed(circuit, "next", now=now) is not None


@pytest.mark.parametrize("off_s", [-TEN_MINUTES_S, TEN_MINUTES_S], ids=["behind", "ahead"])
def test_a_writer_ten_minutes_off_opens_it_for_the_wait_and_ten_minutes_at_most(off_s: float) -> None:
    opened = after_all(WELL, *[Effect.TRANSIENT] * 3, now=NOW + off_s)
    assert opened.free_at(NOW) <= NOW + TEN_MINUTES_S + 30
    assert claimed(opened, "one", now=NOW + TEN_MINUTES_S + 30) is not None


def test_a_trial_that_a_clock_ahead_claimed_keeps_nobody_out() -> None:
    ahead = claimed(OPEN, "ahead", now=NOW + TEN_MINUTES_S)
    assert ahead is not None
    assert claimed(ahead, "next", now=NOW + 31) is not None


def test_a_clock_that_is_a_little_ahead_keeps_its_trial() -> None:
    ahead = claimed(OPEN, "ahead", now=OPEN.open_until + CLOCKS_DIFFER_S - 1)
    assert ahead is not None
    assert claimed(ahead, "next", now=OPEN.open_until) is None


@given(LIVES, BAD)
def test_the_last_code_is_that_of_the_last_that_counted(events, effect: Effect) -> None:
    circuit, now = lived(events)
    changed = after(circuit, an_incident(effect), now=now)
    if changed is not circuit:
        assert (changed.last_code, changed.last_at) == (CODES[effect], now)
