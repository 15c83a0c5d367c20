"""What happened at one provider in one search."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from shared.domain.passages import Warning_
from shared.errors import ExchangeError, Refused, Unavailable


class OutcomeStatus(StrEnum):
    SUCCESS = "success"
    EMPTY = "empty"
    FAILED = "failed"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"


GOOD: Final = frozenset({OutcomeStatus.SUCCESS, OutcomeStatus.EMPTY})


class OutcomeCode(StrEnum):
    """Why a provider gave nothing. Stable; `docs/errors.md` explains each."""

    TIMEOUT = "timeout"
    CONNECTION_FAILED = "connection_failed"
    BLOCKED_ADDRESS = "blocked_address"
    RATE_LIMITED = "rate_limited"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    INVALID_RESPONSE = "invalid_response"
    UNSUPPORTED_VERSION = "unsupported_version"
    RESPONSE_TOO_LARGE = "response_too_large"
    UPSTREAM_ERROR = "upstream_error"
    QUERY_TOO_LONG = "query_too_long"
    MISSING_INPUT = "missing_input"
    NOT_CONFIGURED = "not_configured"
    KEYS_EXHAUSTED = "keys_exhausted"
    ALLOWANCE_EXHAUSTED = "allowance_exhausted"
    CAPABILITY_UNAVAILABLE = "capability_unavailable"
    CIRCUIT_OPEN = "circuit_open"
    TERMS_REQUIRED = "terms_required"
    DISABLED = "disabled"
    CONFIG_CHANGED = "config_changed"
    CANCELLED = "cancelled"
    INTERNAL_ERROR = "internal_error"  # a fault of the gateway itself, kept to this one provider


_CODES: Final = frozenset(OutcomeCode)


def outcome_code_of(error: ExchangeError) -> OutcomeCode:
    """Errors carry their codes as plain text. One that is nowhere documented is an upstream's failure."""
    return OutcomeCode(error.code) if error.code in _CODES else OutcomeCode.UPSTREAM_ERROR


# Refusals decided before anything is sent: the provider was not asked.
SKIPPED_CODES = frozenset(
    {
        OutcomeCode.CIRCUIT_OPEN,
        OutcomeCode.KEYS_EXHAUSTED,
        OutcomeCode.ALLOWANCE_EXHAUSTED,
        OutcomeCode.MISSING_INPUT,
        OutcomeCode.CONFIG_CHANGED,
        OutcomeCode.NOT_CONFIGURED,
        OutcomeCode.DISABLED,
        OutcomeCode.TERMS_REQUIRED,
        OutcomeCode.QUERY_TOO_LONG,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """`retry_at` is Unix seconds. `name` is None for ids that the caller named and may not know about."""

    provider_id: str
    name: str | None
    status: OutcomeStatus
    error_code: OutcomeCode | None = None
    duration_ms: int = 0
    result_count: int = 0
    truncated: bool = False
    retry_at: float | None = None
    warnings: tuple[Warning_, ...] = ()


class AnswerStatus(StrEnum):
    COMPLETE = "complete"
    PARTIAL = "partial"
    FAILED = "failed"


def status_of_answer(outcomes: tuple[Outcome, ...]) -> AnswerStatus:
    """Complete: each asked provider was a success or empty, also when none was eligible. Failed: none was."""
    good = sum(o.status in (OutcomeStatus.SUCCESS, OutcomeStatus.EMPTY) for o in outcomes)
    if good == len(outcomes):
        return AnswerStatus.COMPLETE
    return AnswerStatus.PARTIAL if good else AnswerStatus.FAILED


def not_configured_until(error: Unavailable, *, now: float) -> Refused:
    """For a source whose secret, or whose row in the store, cannot be had now: nothing was sent."""
    retry_at = None if error.retry_after_s is None else now + error.retry_after_s
    return Refused(OutcomeCode.NOT_CONFIGURED, retry_at=retry_at)
