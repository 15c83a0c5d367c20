"""What an outcome says about the provider that it is of, from a table."""

from __future__ import annotations

from typing import Final

from shared.domain.circuits import Effect
from shared.domain.outcomes import GOOD, Outcome, OutcomeCode, OutcomeStatus

# A provider that had less time than this, and less than its own limit, has not failed when it did not answer. Who waits
# for five seconds is in no hurry: half of one goes into being let in and into settling.
FAIR_WAIT_MS: Final = 4_500

# Whatever is not here says nothing about the provider: the request, the gateway or a pool was the reason.
EFFECTS: Final = {
    OutcomeCode.TIMEOUT: Effect.TRANSIENT,
    OutcomeCode.CONNECTION_FAILED: Effect.TRANSIENT,
    OutcomeCode.UPSTREAM_ERROR: Effect.TRANSIENT,
    OutcomeCode.RATE_LIMITED: Effect.TRANSIENT,
    OutcomeCode.BLOCKED_ADDRESS: Effect.TRANSIENT,
    OutcomeCode.UNAUTHORIZED: Effect.REFUSAL,
    OutcomeCode.FORBIDDEN: Effect.REFUSAL,
    OutcomeCode.INVALID_RESPONSE: Effect.FAULT,
    OutcomeCode.UNSUPPORTED_VERSION: Effect.FAULT,
    OutcomeCode.RESPONSE_TOO_LARGE: Effect.FAULT,
    OutcomeCode.NOT_FOUND: Effect.FAULT,
}
_SLACK_MS: Final = 100  # its own limit is measured a little shorter than it was set
_BESIDE_MS: Final = 300  # of a caller's time: for claiming a trial, and what an asker keeps to settle with
_MAY_BE_HOLDS: Final = frozenset({OutcomeCode.RATE_LIMITED, OutcomeCode.UPSTREAM_ERROR})


def effect_of(outcome: Outcome, *, own_limit_ms: int) -> Effect:
    """`own_limit_ms`: how long the provider may take by its own settings. A time-out counts when it had that long, or
    `FAIR_WAIT_MS`, of which nothing is taken off: a caller in a hurry must not open a circuit for all.
    """
    if outcome.status in GOOD:
        return Effect.SUCCESS
    if outcome.status is not OutcomeStatus.FAILED or outcome.error_code is None:
        return Effect.NOTHING
    if outcome.error_code in _MAY_BE_HOLDS and outcome.retry_at is not None:
        return Effect.HOLD
    if outcome.error_code is OutcomeCode.TIMEOUT and outcome.duration_ms < _fair_wait_ms(own_limit_ms):
        return Effect.NOTHING
    return EFFECTS.get(outcome.error_code, Effect.NOTHING)


def is_hurried(left_s: float, *, own_limit_ms: int) -> bool:
    """Whether a caller with this much time left cannot give the provider a wait that would count."""
    return left_s * 1000 < _fair_wait_ms(own_limit_ms) + _BESIDE_MS


def _fair_wait_ms(own_limit_ms: int) -> int:
    return min(FAIR_WAIT_MS, own_limit_ms - _SLACK_MS)
