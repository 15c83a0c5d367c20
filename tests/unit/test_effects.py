"""What each outcome says about the provider that it is of."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from shared.domain.circuits import Effect
from shared.domain.effects import EFFECTS, FAIR_WAIT_MS, effect_of, is_hurried
from shared.domain.outcomes import SKIPPED_CODES, Outcome, OutcomeCode, OutcomeStatus
from tests.support.builders import NOW

OWN_LIMIT_MS = 8_000
# Written down for each: a new code has to be considered here.
CONSIDERED = {
    OutcomeCode.TIMEOUT: Effect.TRANSIENT,
    OutcomeCode.CONNECTION_FAILED: Effect.TRANSIENT,
    OutcomeCode.BLOCKED_ADDRESS: Effect.TRANSIENT,
    OutcomeCode.RATE_LIMITED: Effect.TRANSIENT,
    OutcomeCode.UNAUTHORIZED: Effect.REFUSAL,
    OutcomeCode.FORBIDDEN: Effect.REFUSAL,
    OutcomeCode.NOT_FOUND: Effect.FAULT,
    OutcomeCode.INVALID_RESPONSE: Effect.FAULT,
    OutcomeCode.UNSUPPORTED_VERSION: Effect.FAULT,
    OutcomeCode.RESPONSE_TOO_LARGE: Effect.FAULT,
    OutcomeCode.UPSTREAM_ERROR: Effect.TRANSIENT,
    OutcomeCode.QUERY_TOO_LONG: Effect.NOTHING,
    OutcomeCode.MISSING_INPUT: Effect.NOTHING,
    OutcomeCode.NOT_CONFIGURED: Effect.NOTHING,
    OutcomeCode.KEYS_EXHAUSTED: Effect.NOTHING,
    OutcomeCode.ALLOWANCE_EXHAUSTED: Effect.NOTHING,
    OutcomeCode.CAPABILITY_UNAVAILABLE: Effect.NOTHING,
    OutcomeCode.CIRCUIT_OPEN: Effect.NOTHING,
    OutcomeCode.TERMS_REQUIRED: Effect.NOTHING,
    OutcomeCode.DISABLED: Effect.NOTHING,
    OutcomeCode.CONFIG_CHANGED: Effect.NOTHING,
    OutcomeCode.CANCELLED: Effect.NOTHING,
    OutcomeCode.INTERNAL_ERROR: Effect.NOTHING,
}
MAY_BE_HOLDS = {OutcomeCode.RATE_LIMITED, OutcomeCode.UPSTREAM_ERROR}


def an_outcome(code: OutcomeCode | None, *, status: OutcomeStatus = OutcomeStatus.FAILED, **over) -> Outcome:
    values = {"provider_id": "cs_a", "name": "One", "status": status, "error_code": code, "duration_ms": OWN_LIMIT_MS}
    return Outcome(**values | over)


def effect(outcome: Outcome) -> Effect:
    return effect_of(outcome, own_limit_ms=OWN_LIMIT_MS)


def test_every_code_has_been_considered() -> None:
    assert set(CONSIDERED) == set(OutcomeCode)


@pytest.mark.parametrize("code", list(OutcomeCode))
def test_a_failure_says_what_was_considered(code: OutcomeCode) -> None:
    assert effect(an_outcome(code)) is CONSIDERED[code]


@pytest.mark.parametrize("code", list(OutcomeCode))
def test_only_a_full_provider_can_ask_to_be_left_alone(code: OutcomeCode) -> None:
    expected = Effect.HOLD if code in MAY_BE_HOLDS else CONSIDERED[code]
    assert effect(an_outcome(code, retry_at=NOW + 60)) is expected


@pytest.mark.parametrize("code", list(OutcomeCode))
@pytest.mark.parametrize("status", [OutcomeStatus.SKIPPED, OutcomeStatus.CANCELLED])
def test_what_was_not_asked_or_not_waited_for_says_nothing(status: OutcomeStatus, code: OutcomeCode) -> None:
    assert effect(an_outcome(code, status=status, retry_at=NOW + 60)) is Effect.NOTHING


@pytest.mark.parametrize("status", [OutcomeStatus.SUCCESS, OutcomeStatus.EMPTY])
def test_an_answer_is_a_success_also_without_a_result(status: OutcomeStatus) -> None:
    assert effect(an_outcome(None, status=status)) is Effect.SUCCESS


def test_what_was_decided_before_asking_says_nothing() -> None:
    assert not SKIPPED_CODES & set(EFFECTS)


@pytest.mark.parametrize(
    ("waited_ms", "own_limit_ms", "expected"),
    [
        (500, 8_000, Effect.NOTHING),
        (4_950, 8_000, Effect.TRANSIENT),
        (FAIR_WAIT_MS - 1, 8_000, Effect.NOTHING),
        (FAIR_WAIT_MS, 8_000, Effect.TRANSIENT),
        (FAIR_WAIT_MS - 1, FAIR_WAIT_MS, Effect.TRANSIENT),
        (1_899, 2_000, Effect.NOTHING),
        (1_900, 2_000, Effect.TRANSIENT),
        (2_000, 2_000, Effect.TRANSIENT),
    ],
)
def test_a_time_out_counts_when_the_provider_had_a_fair_wait(
    waited_ms: int, own_limit_ms: int, expected: Effect
) -> None:
    outcome = an_outcome(OutcomeCode.TIMEOUT, duration_ms=waited_ms)
    assert effect_of(outcome, own_limit_ms=own_limit_ms) is expected


def test_a_failure_of_another_kind_counts_however_quick_it_was() -> None:
    assert effect(an_outcome(OutcomeCode.CONNECTION_FAILED, duration_ms=1)) is Effect.TRANSIENT


@pytest.mark.parametrize(
    ("left_s", "own_limit_ms", "expected"),
    [
        (0.5, 8_000, True),
        (4.7, 8_000, True),
        (5.0, 8_000, False),
        (12.0, 25_000, False),
        (1.0, 2_000, True),
        (2.5, 2_000, False),
    ],
)
def test_who_has_less_than_a_fair_wait_is_in_a_hurry(left_s: float, own_limit_ms: int, expected: bool) -> None:
    assert is_hurried(left_s, own_limit_ms=own_limit_ms) is expected


@given(st.floats(0, 30), st.integers(500, 30_000))
def test_the_time_out_of_whoever_is_in_no_hurry_counts(left_s: float, own_limit_ms: int) -> None:
    """Also where claiming the trial and settling took some of the time."""
    assume(not is_hurried(left_s, own_limit_ms=own_limit_ms))
    waited_ms = min(own_limit_ms, round((left_s - 0.25) * 1000))
    outcome = an_outcome(OutcomeCode.TIMEOUT, duration_ms=waited_ms)
    assert effect_of(outcome, own_limit_ms=own_limit_ms) is Effect.TRANSIENT
