"""Writes the one log line of a search: counts, statuses, codes, durations. Never what was asked or found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from aws_lambda_powertools import Logger

from shared.domain.outcomes import Outcome, status_of_answer
from shared.observability import SEARCH_ANSWERED


def report_search(
    logger: Logger,
    *,
    request_id: str,
    lane: Literal["agent", "customer"],
    outcomes: Sequence[Outcome],
    results: int,
    duration_s: float,
    agent_id: str | None = None,
) -> None:
    """`agent_id` is the attribution of an agent's request, already held to a safe alphabet."""
    logger.info(
        SEARCH_ANSWERED,
        request_id=request_id,
        lane=lane,
        agent_id=agent_id,
        status=status_of_answer(tuple(outcomes)),
        result_count=results,
        duration_ms=round(duration_s * 1000),
        providers=[_line(outcome) for outcome in outcomes],
    )


def _line(outcome: Outcome) -> dict[str, object]:
    return {
        "id": outcome.provider_id,
        "status": outcome.status,
        "code": outcome.error_code,
        "duration_ms": outcome.duration_ms,
        "result_count": outcome.result_count,
        "warnings": list(outcome.warnings),
    }
