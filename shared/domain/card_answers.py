"""The cards of a search: what was found beside the passages."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from shared.domain.cards import Card, CustomerCard

C = TypeVar("C", bound=Card | CustomerCard)


class CardsStatus(StrEnum):
    """`partial`: not every named collection could be looked through in time."""

    COMPLETE = "complete"
    PARTIAL = "partial"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class FoundCards(Generic[C]):
    """At most ten, by the key that the query mentions, then by id."""

    cards: tuple[C, ...]
    status: CardsStatus
