"""Which cards a text mentions: where a key may begin and end, and the order of what was found."""

from __future__ import annotations

import string
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from shared.domain.cards import Card, CustomerCard, norm
from shared.errors import Invalid, Violation

MAX_TEXT_CHARACTERS = 20_000
MAX_NORMAL_CHARACTERS = 4 * MAX_TEXT_CHARACTERS  # a character can become eighteen, a text in a language hardly grows
MAX_CAP = 50
DEFAULT_CAP = 10

C = TypeVar("C", bound=Card | CustomerCard)
Id = TypeVar("Id", bound=Hashable)

WORD_CHARACTERS = frozenset(string.ascii_letters + string.digits + "_")


@dataclass(frozen=True, slots=True)
class MatchWish:
    """A text as it is, and how many cards to answer with at most."""

    text: str
    cap: int = DEFAULT_CAP


class Occurrence(NamedTuple):
    """A normalised key that occurs in a text, not glued to its neighbours, and the cards that have it, ascending."""

    norm_key: str
    card_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Matched(Generic[C]):
    """`dropped` counts the cards beyond the cap."""

    cards: tuple[C, ...] = ()
    dropped: int = 0


def normal_text(text: str) -> str:
    """As it is looked through. Raises `Invalid` for one that grows too much."""
    normal = norm(text)
    if len(normal) > MAX_NORMAL_CHARACTERS:
        detail = f"Its normal form has more than {MAX_NORMAL_CHARACTERS} characters."
        raise Invalid("Correct the fields named in `errors`.", violations=(Violation("/text", detail),))
    return normal


def is_glued(text: str, position: int) -> bool:
    """Whether an edge of a key at `position` of `text` is glued: ASCII word characters on both sides of it. An edge
    anywhere else is free, so a key of ideographs is found inside a sentence, and beside ASCII.
    """
    inside = 0 < position < len(text)
    return inside and text[position] in WORD_CHARACTERS and text[position - 1] in WORD_CHARACTERS


def in_order(occurrences: Iterable[Occurrence]) -> list[tuple[str, str]]:
    """(card id, key) of each mentioned card once, by the first of its keys that occurs, then by id. The occurrences are
    in that order already.
    """
    first: dict[str, str] = {}
    for norm_key, card_ids in occurrences:
        for card_id in card_ids:
            first.setdefault(card_id, norm_key)
    return list(first.items())


def matched(ranked: Sequence[tuple[Id, str]], cards: Mapping[Id, C], *, cap: int) -> Matched[C]:
    """The first `cap` of `ranked`, (id, key), as they were read just now. One that is gone, or no longer has its key,
    is left out and not counted. The ids tell all of these cards apart: a card's own does so within its collection.
    """
    shown = tuple(cards[id_] for id_, key in ranked[:cap] if id_ in cards and key in _card(cards[id_]).norm_keys)
    return Matched(shown, dropped=max(0, len(ranked) - cap))


def _card(one: Card | CustomerCard) -> Card:
    return one.card if isinstance(one, CustomerCard) else one
