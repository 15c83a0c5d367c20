"""A card as agents see it, wherever one is in an answer."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from shared.domain.cards import Card
from shared.web.moments import moment
from shared.web.wire import WireModel


class CardOut(WireModel):
    """`title` is the first key where the card has none. `body` is Markdown. `normKeys` are the keys as compared."""

    id: str
    collection_id: str
    keys: tuple[str, ...]
    title: str
    body: str
    norm_keys: tuple[str, ...]
    generation: int
    created_at: str = Field(json_schema_extra={"format": "date-time"})
    updated_at: str = Field(json_schema_extra={"format": "date-time"})

    @classmethod
    def of(cls, card: Card) -> CardOut:
        return cls(
            id=card.id,
            collection_id=card.collection_id,
            keys=card.keys,
            title=card.shown_title,
            body=card.body,
            norm_keys=card.norm_keys,
            generation=card.generation,
            created_at=moment(card.created_at),
            updated_at=moment(card.updated_at),
        )


def cards_out(cards: Sequence[Card]) -> tuple[CardOut, ...]:
    return tuple(CardOut.of(card) for card in cards)
