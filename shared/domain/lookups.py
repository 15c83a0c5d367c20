"""Exact look-ups of terms in a collection of cards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from shared.domain.cards import MAX_DERIVED_KEY_BYTES, Card, CustomerCard, norm
from shared.errors import Invalid, Violation

MAX_TERMS = 100
MAX_TERM_CHARACTERS = 200
MAX_CARDS = 500  # of one answer: five batches of the store

C = TypeVar("C", bound=Card | CustomerCard)


@dataclass(frozen=True, slots=True)
class Found(Generic[C]):
    """The cards of each term, as it was given, by ascending id. `dropped` counts what is missing from the lists."""

    results: Mapping[str, tuple[C, ...]] = field(default_factory=dict)
    dropped: int = 0


def normal_forms(terms: Sequence[str]) -> dict[str, str]:
    """By term as given, each once, in their order. Raises `Invalid` for terms of which nothing is left."""
    forms = {term: norm(term) for term in terms}
    detail = "A term has at least one character that is not white space."
    violations = tuple(Violation(f"/terms/{at}", detail) for at, term in enumerate(terms) if not forms[term])
    if violations:
        raise Invalid("Correct the fields named in `errors`.", violations=violations)
    return forms


def possible_keys(forms: Mapping[str, str]) -> set[str]:
    """Without those that are too long for any card's key: there is nothing to read for them."""
    return {form for form in forms.values() if len(form.encode()) <= MAX_DERIVED_KEY_BYTES}


def wanted(forms: Mapping[str, str], ids_by_key: Mapping[str, Sequence[str]]) -> list[str]:
    """The ids of the cards to read, each once: as many as an answer may hold, those of the first terms first."""
    every = dict.fromkeys(card_id for form in forms.values() for card_id in ids_by_key.get(form, ()))
    return list(every)[:MAX_CARDS]


def found(
    forms: Mapping[str, str], ids_by_key: Mapping[str, Sequence[str]], cards: Mapping[str, C], *, read: Sequence[str]
) -> Found[C]:
    """`cards` are those of the `read` ids, as they are now: one that is gone, or no longer has the key, is left out and
    not counted as dropped.
    """
    was_read = frozenset(read)
    results: dict[str, tuple[C, ...]] = {}
    dropped = 0
    for term, form in forms.items():
        ids = ids_by_key.get(form, ())
        dropped += sum(card_id not in was_read for card_id in ids)
        results[term] = tuple(cards[card_id] for card_id in ids if card_id in cards and _has(cards[card_id], form))
    return Found(results, dropped)


def _has(one: Card | CustomerCard, norm_key: str) -> bool:
    card = one.card if isinstance(one, CustomerCard) else one
    return norm_key in card.norm_keys
