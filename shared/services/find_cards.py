"""Finds, beside a search, the cards of its collections that the query mentions. Costs the passages nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, Self, TypeVar

from aws_lambda_powertools import Logger

from shared.domain.card_answers import CardsStatus, FoundCards
from shared.domain.cards import Card, CustomerCard, norm
from shared.domain.deadlines import Deadline
from shared.domain.matching import DEFAULT_CAP, in_order, matched
from shared.errors import Problem
from shared.observability import CARDS_FAULT, place_of
from shared.ports.clock import Clock
from shared.services.match import Occurs, ReadsCards

C = TypeVar("C", bound=Card | CustomerCard)

# How long a search may wait for cards once its passages are there. The usual look is over sooner than they are. Keys
# that take longer to make ready are ready for a later search: what was begun for this one goes on in its thread.
GRACE_S = 0.25


@dataclass(frozen=True, slots=True)
class _Hits(Generic[C]):
    """Of one collection: (card id, key) in order, and the cards."""

    collection_id: str
    ranked: list[tuple[str, str]]
    cards: Mapping[str, C]


class FindCards(Generic[C]):
    """Collections that are unknown, or not to be seen, have no cards here; that is no error."""

    def __init__(self, *, vocabularies: Occurs, cards: ReadsCards[C], clock: Clock, logger: Logger) -> None:
        self._vocabularies = vocabularies
        self._cards = cards
        self._clock = clock
        self._logger = logger

    def beside(self, collections: Sequence[str], query: str, *, deadline: Deadline, request_id: str) -> Finding[C]:
        """Nothing is read before the `start` of what this returns."""

        normal = cache(lambda: norm(query))  # once for all of them, and only if it comes to a look

        async def look(collection_id: str, turn: asyncio.Future[Deadline]) -> _Hits[C] | None:
            try:
                return await self._hits(collection_id, normal(), turn)
            except Problem:
                return None
            except Exception as error:  # noqa: BLE001  # a fault at the cards must not cost the passages
                self._logger.error(CARDS_FAULT, fault=place_of(error), request_id=request_id)
                return None

        return Finding(tuple(dict.fromkeys(collections)), look, deadline=deadline, clock=self._clock)

    async def _hits(self, collection_id: str, text: str, turn: asyncio.Future[Deadline]) -> _Hits[C]:
        occurrences = await self._vocabularies.occurring(collection_id, text, turn=turn)
        ranked = in_order(occurrences or ())[:DEFAULT_CAP]
        return _Hits(collection_id, ranked, await self._cards.cards(collection_id, [card_id for card_id, _ in ranked]))


class Finding(Generic[C]):
    """One look, under way between `start` and the end of the `async with`: nothing stays behind."""

    def __init__(
        self,
        collections: tuple[str, ...],
        look: Callable[[str, asyncio.Future[Deadline]], Coroutine[Any, Any, _Hits[C] | None]],
        *,
        deadline: Deadline,
        clock: Clock,
    ) -> None:
        self._collections = collections
        self._look = look
        self._deadline = deadline
        self._clock = clock
        self._turn: asyncio.Future[Deadline] = asyncio.get_running_loop().create_future()
        self._tasks: list[asyncio.Task[_Hits[C] | None]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def start(self) -> None:
        self._tasks = [asyncio.create_task(self._look(one, self._turn)) for one in self._collections]

    async def found(self) -> FoundCards[C] | None:
        """Call it when everything else of the search is done: from then on the process may be held up. None where no
        collection was named. Comes by the deadline, and no later than `GRACE_S` from now.
        """
        if not self._tasks:
            return None
        now_s = self._clock.monotonic()
        by = self._deadline.capped(GRACE_S, now_s=now_s)
        self._turn.set_result(by)
        in_time, _ = await asyncio.wait(self._tasks, timeout=by.remaining_s(now_s))
        return _merged([task.result() for task in self._tasks if task in in_time], of=len(self._tasks))


def _merged(looks: list[_Hits[C] | None], *, of: int) -> FoundCards[C]:
    """By key, card and collection, whatever order the collections were named in. Two collections may have a card of the
    same id: an import keeps the ids of its rows.
    """
    hits = [one for one in looks if one is not None]
    ranked = [((card_id, one.collection_id), key) for one in hits for card_id, key in one.ranked]
    cards = {(card_id, one.collection_id): card for one in hits for card_id, card in one.cards.items()}
    shown = matched(sorted(ranked, key=lambda pair: (pair[1], pair[0])), cards, cap=DEFAULT_CAP).cards
    if len(hits) == of:
        return FoundCards(shown, CardsStatus.COMPLETE)
    return FoundCards(shown, CardsStatus.PARTIAL if hits else CardsStatus.UNAVAILABLE)
