"""Finds the cards of one collection that a text mentions."""

from __future__ import annotations

import asyncio
from collections.abc import Collection as Several
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from aws_lambda_powertools import Logger

from shared.domain.cards import Card, CustomerCard
from shared.domain.deadlines import Deadline
from shared.domain.matching import Matched, MatchWish, Occurrence, in_order, matched, normal_text
from shared.domain.preconditions import existing
from shared.errors import Problem
from shared.observability import CARDS_MATCHED
from shared.ports.clock import Clock
from shared.services.at_once import in_time

C = TypeVar("C", bound=Card | CustomerCard)
Seen_co = TypeVar("Seen_co", bound=Card | CustomerCard, covariant=True)


class Occurs(Protocol):
    """The part that the vocabularies of both lanes have in common. Which one is behind it decides what can be seen."""

    async def occurring(
        self, collection_id: str, text: str, *, turn: asyncio.Future[Deadline]
    ) -> tuple[Occurrence, ...] | None: ...


class ReadsCards(Protocol[Seen_co]):
    """The same for the cards themselves."""

    async def cards(self, collection_id: str, card_ids: Several[str]) -> Mapping[str, Seen_co]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchRequest:
    """`wish` is a Problem where the body could not be read: told to admitted callers alone."""

    collection_id: str
    wish: MatchWish | Problem
    deadline: Deadline
    request_id: str


class Match(Generic[C]):
    """The text is looked through once, and nothing is read before the caller is admitted. What a card says is never
    looked through.

    Raises what the admission raises, then the body's Problem, `Invalid` for a text that grows too much, `NotFound`,
    `Unavailable` (also when the collection's keys could not be made ready in time: a copy that is not the current one
    is never used instead).
    """

    def __init__(self, *, vocabularies: Occurs, cards: ReadsCards[C], clock: Clock, logger: Logger) -> None:
        self._vocabularies = vocabularies
        self._cards = cards
        self._clock = clock
        self._logger = logger

    async def __call__(self, request: MatchRequest, *, admission: Coroutine[Any, Any, object]) -> Matched[C]:
        started_s = self._clock.monotonic()
        answer = await in_time(self._matched(request, admission), deadline=request.deadline, clock=self._clock)
        self._logger.info(
            CARDS_MATCHED,
            request_id=request.request_id,
            cards=len(answer.cards),
            dropped=answer.dropped,
            duration_ms=round((self._clock.monotonic() - started_s) * 1000),
        )
        return answer

    async def _matched(self, request: MatchRequest, admission: Coroutine[Any, Any, object]) -> Matched[C]:
        await admission
        if isinstance(request.wish, Problem):
            raise request.wish
        id_, cap = request.collection_id, request.wish.cap
        text = await asyncio.to_thread(normal_text, request.wish.text)
        turn: asyncio.Future[Deadline] = asyncio.get_running_loop().create_future()
        turn.set_result(request.deadline)
        ranked = in_order(existing(await self._vocabularies.occurring(id_, text, turn=turn)))
        cards = await self._cards.cards(id_, [card_id for card_id, _ in ranked[:cap]])
        return matched(ranked, cards, cap=cap)
