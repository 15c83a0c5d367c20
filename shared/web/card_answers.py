"""Cards as agents see them: in a search, a look-up and a match."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from shared.domain.cards import Card
from shared.domain.lookups import Found
from shared.domain.matching import Matched
from shared.web.answer_size import MAX_ANSWER_BYTES
from shared.web.fitting_cards import cut_list, cut_lists
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


class LookupOut(WireModel):
    """Every term as it was given, with its cards. `dropped` counts cards that the answer had no room for."""

    results: dict[str, tuple[CardOut, ...]]
    dropped: int


class MatchOut(WireModel):
    """By the first of a card's keys that occurs in the text, then by id. `dropped` counts the cards left out."""

    cards: tuple[CardOut, ...]
    dropped: int


def cards_out(cards: Sequence[Card]) -> tuple[CardOut, ...]:
    return tuple(CardOut.of(card) for card in cards)


def encoded_lookup(found: Found[Card], *, cap: int = MAX_ANSWER_BYTES) -> str:
    """The JSON text; cards beyond `cap` bytes are dropped from the tail."""
    return lookup_out(found, cap=cap).model_dump_json(by_alias=True)


def lookup_out(found: Found[Card], *, cap: int) -> LookupOut:
    results = {term: cards_out(cards) for term, cards in found.results.items()}
    kept, dropped = cut_lists(results, cap=cap)
    return LookupOut(results=kept, dropped=found.dropped + dropped)


def encoded_match(matched: Matched[Card], *, cap: int = MAX_ANSWER_BYTES) -> str:
    """The JSON text; cards beyond `cap` bytes are dropped from the tail."""
    return match_out(matched, cap=cap).model_dump_json(by_alias=True)


def match_out(matched: Matched[Card], *, cap: int) -> MatchOut:
    kept, dropped = cut_list(cards_out(matched.cards), cap=cap)
    return MatchOut(cards=kept, dropped=matched.dropped + dropped)
