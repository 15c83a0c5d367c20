"""Writes the one log line of a search, and its measures: counts, statuses, codes, durations. Never what was asked or
found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from aws_lambda_powertools import Logger

from shared.domain.outcomes import AnswerStatus, Outcome, OutcomeStatus, status_of_answer
from shared.domain.replies import Reply
from shared.measures import Asked, Searched, measure_search
from shared.observability import SEARCH_ANSWERED, correlation


def report_search(
    logger: Logger,
    *,
    request_id: str,
    lane: Literal["agent", "customer"],
    replies: Sequence[Reply],
    results: int,
    duration_s: float,
    agent_id: str | None = None,
) -> None:
    """`agent_id` is the attribution of an agent's request, already held to a safe alphabet."""
    outcomes = [reply.outcome for reply in replies]
    status, duration_ms = status_of_answer(tuple(outcomes)), round(duration_s * 1000)
    logger.info(
        SEARCH_ANSWERED,
        request_id=request_id,
        lane=lane,
        agent_id=agent_id,
        status=status,
        result_count=results,
        found_nothing=found_nothing(outcomes),
        duration_ms=duration_ms,
        providers=[_line(outcome) for outcome in outcomes],
    )
    searched = Searched(
        lane=lane,
        duration_ms=duration_ms,
        is_partial=status is AnswerStatus.PARTIAL,
        is_failed=status is AnswerStatus.FAILED,
        found_nothing=found_nothing(outcomes),
    )
    measure_search(searched, [_asked(reply) for reply in replies], about=correlation())


def found_nothing(outcomes: Sequence[Outcome]) -> bool:
    """Everybody answered, and had nothing: a gap in what is known. A failure among them says nothing of that sort."""
    return bool(outcomes) and all(outcome.status is OutcomeStatus.EMPTY for outcome in outcomes)


def _asked(reply: Reply) -> Asked:
    outcome = reply.outcome
    was_asked = outcome.status is not OutcomeStatus.SKIPPED
    return Asked(kind=reply.source.kind, status=outcome.status, duration_ms=outcome.duration_ms if was_asked else None)


def _line(outcome: Outcome) -> dict[str, object]:
    return {
        "id": outcome.provider_id,
        "status": outcome.status,
        "code": outcome.error_code,
        "duration_ms": outcome.duration_ms,
        "result_count": outcome.result_count,
        "warnings": list(outcome.warnings),
    }
