"""Trying a provider out for an operator: what is wanted of it, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from shared.domain.acquisitions import LEFT_APPROVED_HOSTS, Acquired, Wanted
from shared.domain.outcomes import OutcomeCode, outcome_code_of
from shared.domain.passages import Question, Retrieval
from shared.errors import ExchangeError, Invalid, Violation

TRIAL_LIMIT = 10

# A question for what answers searches, a source for what only fetches. `Wanted.url` may be of any host yet.
Wish: TypeAlias = Question | Wanted
# Why a trial failed: as an outcome says it, or in the one way that only a fetched source can.
TrialCode: TypeAlias = OutcomeCode | Literal["source_not_approved"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What the provider was asked under: the effective configuration of this one call."""

    timeout_ms: int
    limit: int = 1
    signatures: int = 0  # 2 inside a rotation window, 0 for a kind that signs nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """`retry_at` is Unix seconds."""

    trial: Trial
    retrieval: Retrieval = field(default_factory=Retrieval)
    acquired: Acquired | None = None
    error_code: TrialCode | None = None
    retry_at: float | None = None
    duration_ms: int = 0


def trial_code_of(error: ExchangeError) -> TrialCode:
    return LEFT_APPROVED_HOSTS if error.code == LEFT_APPROVED_HOSTS else outcome_code_of(error)


def question_of(wish: Wish) -> Question:
    """Raises `Invalid` for a source: this provider answers questions."""
    if not isinstance(wish, Question):
        raise _wrong("/query", "This provider is tested with a `query`.")
    return wish


def source_of(wish: Wish) -> Wanted:
    """Raises `Invalid` for a question: this provider only fetches."""
    if not isinstance(wish, Wanted):
        raise _wrong("/url", "This provider is tested with the `url` of an approved source.")
    return wish


def _wrong(pointer: str, detail: str) -> Invalid:
    return Invalid("Correct the fields named in `errors`.", violations=(Violation(pointer, detail),))
