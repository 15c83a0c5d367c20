"""Looks terms up in one collection."""

from __future__ import annotations

from collections.abc import Collection as Several
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from aws_lambda_powertools import Logger

from shared.domain.cards import Card, CustomerCard
from shared.domain.deadlines import Deadline
from shared.domain.lookups import Found, found, normal_forms, possible_keys, wanted
from shared.domain.preconditions import existing
from shared.errors import Problem
from shared.observability import CARDS_LOOKED_UP
from shared.ports.clock import Clock
from shared.services.at_once import in_time

C = TypeVar("C", bound=Card | CustomerCard)
Seen_co = TypeVar("Seen_co", bound=Card | CustomerCard, covariant=True)


class Reads(Protocol[Seen_co]):
    """The part that the readers of both lanes have in common. Which one is behind it decides what can be seen."""

    async def ids_by_key(self, collection_id: str, norm_keys: Several[str]) -> Mapping[str, tuple[str, ...]] | None: ...

    async def cards(self, collection_id: str, card_ids: Several[str]) -> Mapping[str, Seen_co]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LookUpRequest:
    """`terms` is a Problem where the body could not be read: told to admitted callers alone."""

    collection_id: str
    terms: Sequence[str] | Problem
    deadline: Deadline
    request_id: str


class LookUp(Generic[C]):
    """At most two batched reads, and none before the caller is admitted.

    Raises what the admission raises, then the body's Problem, `Invalid` for a term of white space,
    `NotFound`, `Unavailable`.
    """

    def __init__(self, *, cards: Reads[C], clock: Clock, logger: Logger) -> None:
        self._cards = cards
        self._clock = clock
        self._logger = logger

    async def __call__(self, request: LookUpRequest, *, admission: Coroutine[Any, Any, object]) -> Found[C]:
        started_s = self._clock.monotonic()
        answer = await in_time(self._found(request, admission), deadline=request.deadline, clock=self._clock)
        self._logger.info(
            CARDS_LOOKED_UP,
            request_id=request.request_id,
            terms=len(answer.results),
            hits=sum(map(bool, answer.results.values())),
            dropped=answer.dropped,
            duration_ms=round((self._clock.monotonic() - started_s) * 1000),
        )
        return answer

    async def _found(self, request: LookUpRequest, admission: Coroutine[Any, Any, object]) -> Found[C]:
        await admission
        if isinstance(request.terms, Problem):
            raise request.terms
        forms = normal_forms(request.terms)
        ids_by_key = existing(await self._cards.ids_by_key(request.collection_id, possible_keys(forms)))
        read = wanted(forms, ids_by_key)
        cards = await self._cards.cards(request.collection_id, read)
        return found(forms, ids_by_key, cards, read=read)
