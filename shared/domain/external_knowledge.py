"""The gateway as external knowledge for others: what can be asked for, and when there is no answer."""

from __future__ import annotations

from typing import Final

from shared.domain.agent_answers import AgentAnswer
from shared.domain.identifiers import exposure_of
from shared.domain.outcomes import AnswerStatus, OutcomeCode, OutcomeStatus
from shared.errors import NotFound, ProviderFailed

PUBLIC: Final = "public"  # all that a customer may see
ALL: Final = "all"  # all that the agent's credential may reach
_NOT_ASKED: Final = frozenset({OutcomeCode.NOT_FOUND, OutcomeCode.DISABLED, OutcomeCode.CAPABILITY_UNAVAILABLE})


def check_customer_knowledge(knowledge_id: str) -> None:
    """Raises `NotFound`."""
    if knowledge_id != PUBLIC:
        raise NotFound


def agent_knowledge(knowledge_id: str) -> tuple[str, ...] | None:
    """The providers that it names; None = all. Raises `NotFound` for what cannot be the id of one."""
    if knowledge_id == ALL:
        return None
    if exposure_of(knowledge_id) is None:
        raise NotFound
    return (knowledge_id,)


def check_agent_answer(answer: AgentAnswer) -> None:
    """Records cannot say that a source failed: an empty list would mean that nothing was found.

    Raises `NotFound` when the one provider that was named may not be asked, in the same way for an unknown, a
    forbidden and a disabled one; `ProviderFailed` when of those that were asked not one answered.
    """
    if any(o.status is OutcomeStatus.SKIPPED and o.error_code in _NOT_ASKED for o in answer.outcomes):
        raise NotFound
    if answer.status is AnswerStatus.FAILED:
        raise ProviderFailed("None of the sources that were asked gave an answer.")


def score_at(rank: int) -> float:
    """1 for the first record, 1/2 for the second, and so on: scores of different sources cannot be compared, so only
    the order is told.
    """
    return 1 / rank
