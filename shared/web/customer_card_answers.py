"""Answers to look-ups and matches, as customers see them: title, body and keys of cards, and nothing else."""

from __future__ import annotations

from shared.domain.cards import CustomerCard
from shared.domain.lookups import Found
from shared.domain.matching import Matched
from shared.web.answer_size import MAX_ANSWER_BYTES
from shared.web.customer_answers import CustomerCardOut
from shared.web.customer_shown_cards import customer_cards_out
from shared.web.fitting_cards import cut_list, cut_lists
from shared.web.wire import WireModel


class CustomerLookupOut(WireModel):
    """Every term as it was given, with its cards. `dropped` counts cards that the answer had no room for."""

    results: dict[str, tuple[CustomerCardOut, ...]]
    dropped: int


class CustomerMatchOut(WireModel):
    """By the first of a card's keys that occurs in the text. `dropped` counts the cards left out."""

    cards: tuple[CustomerCardOut, ...]
    dropped: int


def encoded_lookup(found: Found[CustomerCard], *, cap: int = MAX_ANSWER_BYTES) -> str:
    """The JSON text; cards beyond `cap` bytes are dropped from the tail."""
    return lookup_out(found, cap=cap).model_dump_json(by_alias=True)


def lookup_out(found: Found[CustomerCard], *, cap: int) -> CustomerLookupOut:
    results = {term: customer_cards_out(cards) for term, cards in found.results.items()}
    kept, dropped = cut_lists(results, cap=cap)
    return CustomerLookupOut(results=kept, dropped=found.dropped + dropped)


def encoded_match(matched: Matched[CustomerCard], *, cap: int = MAX_ANSWER_BYTES) -> str:
    """The JSON text; cards beyond `cap` bytes are dropped from the tail."""
    return match_out(matched, cap=cap).model_dump_json(by_alias=True)


def match_out(matched: Matched[CustomerCard], *, cap: int) -> CustomerMatchOut:
    kept, dropped = cut_list(customer_cards_out(matched.cards), cap=cap)
    return CustomerMatchOut(cards=kept, dropped=matched.dropped + dropped)
