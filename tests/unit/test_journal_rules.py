"""What a change of circuits amounts to in the journal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shared.domain.circuits import WELL, Circuit, CircuitState, Effect, Incident, Lane, after, claimed, found_well
from shared.domain.journal import Happening, happenings
from shared.domain.outcomes import OutcomeCode
from tests.support.builders import NOW

ID = "cs_aaaaaaaaaaaaaaaa"
FAILED = Incident(revision="1", effect=Effect.TRANSIENT, code=OutcomeCode.TIMEOUT)
COUNTED = Circuit(revision="1", failures=2, last_code=OutcomeCode.TIMEOUT, last_at=NOW - 9)
OPEN = after(COUNTED, FAILED, now=NOW)
LATER = OPEN.open_until
TRYING = claimed(OPEN, "t", now=LATER)
LOST = Circuit(revision="1", refusals=3, disabled_at=NOW, last_code=OutcomeCode.FORBIDDEN, last_at=NOW)
ASKED_TO_WAIT = replace(FAILED, effect=Effect.HOLD, code=OutcomeCode.RATE_LIMITED, held_until=NOW + 90)


def entries(before: Circuit, changed: Circuit, *, now: float = NOW):
    return happenings({} if before is WELL else {ID: before}, {ID: changed}, lane=Lane.AGENT, now=now)


@pytest.mark.parametrize(
    ("before", "changed", "happening", "state", "code"),
    [
        (COUNTED, OPEN, Happening.CIRCUIT_OPENED, CircuitState.OPEN, OutcomeCode.TIMEOUT),
        (
            WELL,
            after(WELL, ASKED_TO_WAIT, now=NOW),
            Happening.CIRCUIT_HELD,
            CircuitState.OPEN,
            OutcomeCode.RATE_LIMITED,
        ),
        (
            OPEN,
            found_well(OPEN, now=NOW),
            Happening.CIRCUIT_HALF_OPENED,
            CircuitState.HALF_OPEN,
            OutcomeCode.TIMEOUT,
        ),
        (OPEN, WELL, Happening.CIRCUIT_CLOSED, CircuitState.CLOSED, OutcomeCode.TIMEOUT),
        (
            replace(LOST, disabled_at=0.0),
            LOST,
            Happening.AUTO_DISABLED,
            CircuitState.AUTO_DISABLED,
            OutcomeCode.FORBIDDEN,
        ),
        (OPEN, LOST, Happening.AUTO_DISABLED, CircuitState.AUTO_DISABLED, OutcomeCode.FORBIDDEN),
        (LOST, WELL, Happening.PUT_BACK, CircuitState.CLOSED, OutcomeCode.FORBIDDEN),
    ],
    ids=["opened", "held", "half_opened", "closed", "disabled", "open_disabled", "put_back"],
)
def test_each_change_of_state_is_an_entry(before, changed, happening, state, code) -> None:
    [entry] = entries(before, changed)
    assert (entry.provider_id, entry.at, entry.lane) == (ID, NOW, Lane.AGENT)
    assert (entry.happening, entry.state, entry.code) == (happening, state, code)
    assert entry.until == (changed.open_until or None)


@pytest.mark.parametrize("off_s", [-600.0, 0.0, 600.0], ids=["behind", "right", "ahead"])
def test_a_trial_that_fails_opens_it_again_whatever_the_clock_says(off_s: float) -> None:
    failed = after(TRYING, replace(FAILED, trial_id="t"), now=LATER + off_s)
    [entry] = entries(TRYING, failed, now=LATER + off_s)
    assert (entry.happening, entry.until) == (Happening.CIRCUIT_OPENED, LATER + off_s + 60)


def test_a_trial_that_is_told_to_wait_is_held() -> None:
    held = after(TRYING, replace(ASKED_TO_WAIT, trial_id="t", held_until=LATER + 90), now=LATER)
    assert [entry.happening for entry in entries(TRYING, held, now=LATER)] == [Happening.CIRCUIT_HELD]


@pytest.mark.parametrize(
    ("before", "changed"),
    [
        (WELL, Circuit(revision="1", failures=1, last_code=OutcomeCode.TIMEOUT, last_at=NOW)),
        (COUNTED, WELL),
        (OPEN, TRYING),
        (TRYING, OPEN),
        (LOST, replace(LOST, last_at=NOW + 5)),
    ],
    ids=["counted", "recovered", "claimed", "given_back", "still_lost"],
)
def test_counts_and_trials_amount_to_nothing(before: Circuit, changed: Circuit) -> None:
    assert entries(before, changed) == ()


def test_of_several_each_is_told() -> None:
    found = happenings(
        {"one": OPEN, "two": COUNTED}, {"one": WELL, "two": OPEN, "three": COUNTED}, lane=Lane.CUSTOMER, now=NOW
    )
    assert [(entry.provider_id, entry.happening) for entry in found] == [
        ("one", Happening.CIRCUIT_CLOSED),
        ("two", Happening.CIRCUIT_OPENED),
    ]
    assert {entry.lane for entry in found} == {Lane.CUSTOMER}
