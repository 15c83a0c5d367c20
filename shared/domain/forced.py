"""What a search that insists on new text comes to at a live service."""

from __future__ import annotations

from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import FreshnessWish, Question
from shared.errors import NotAsked


def check_not_forced(question: Question) -> None:
    """No live service shows of what it found whether it was fetched for this search, so none is asked where that has
    to be certain: an acquisition can be. Raises `NotAsked` (`capability_unavailable`).
    """
    if question.freshness is FreshnessWish.FORCE:
        raise NotAsked(OutcomeCode.CAPABILITY_UNAVAILABLE)
