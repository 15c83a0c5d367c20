"""Searches for an assistant: what a customer is answered with, and the cards of the collections that it names."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from shared.domain.card_answers import FoundCards
from shared.domain.cards import CustomerCard
from shared.domain.customer_answers import CustomerAnswer
from shared.errors import Problem
from shared.services.find_cards import FindCards, Finding
from shared.services.search_for_customer import CustomerRequest, SearchForCustomer

T = TypeVar("T")


class SearchForAssistant:
    """Raises like `SearchForCustomer`. The cards are None where no collection was named."""

    def __init__(self, *, search: SearchForCustomer, find_cards: FindCards[CustomerCard]) -> None:
        self._search = search
        self._find_cards = find_cards

    async def __call__(
        self, request: CustomerRequest, *, collections: Sequence[str], admission: Coroutine[Any, Any, object]
    ) -> tuple[CustomerAnswer, FoundCards[CustomerCard] | None]:
        query = "" if isinstance(request.question, Problem) else request.question.query
        async with self._find_cards.beside(
            collections, query, deadline=request.deadline, request_id=request.request_id
        ) as finding:
            answer = await self._search(request, admission=_then_start(admission, finding))
            return answer, await finding.found()


async def _then_start(admission: Coroutine[Any, Any, T], finding: Finding[CustomerCard]) -> T:
    """No card is read for anybody who is not admitted."""
    admitted = await admission
    finding.start()
    return admitted
