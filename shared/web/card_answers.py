"""Answers to look-ups and matches, as agents see them."""

from __future__ import annotations

from shared.domain.cards import Card
from shared.domain.lookups import Found
from shared.domain.matching import Matched
from shared.web.answer_size import MAX_ANSWER_BYTES
from shared.web.fitting_cards import cut_list, cut_lists
from shared.web.shown_cards import CardOut, cards_out
from shared.web.wire import WireModel


class LookupOut(WireModel):
    """Every term as it was given, with its cards. `dropped` counts cards that the answer had no room for."""

    results: dict[str, tuple[CardOut, ...]]
    dropped: int


class MatchOut(WireModel):
    """By the first of a card's keys that occurs in the text, then by id. `dropped` counts the cards left out."""

    cards: tuple[CardOut, ...]
    dropped: int


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
