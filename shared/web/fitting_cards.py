"""Lists of cards, cut so that the platform can deliver them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from shared.web.answer_size import delivered_bytes, how_many_fit
from shared.web.wire import WireModel

Out = TypeVar("Out", bound=WireModel)

_FRAME_BYTES = 100
_TERM_BYTES = 20  # quotes, colon, brackets and comma around a term and its list


def cut_list(cards: tuple[Out, ...], *, cap: int) -> tuple[tuple[Out, ...], int]:
    """The first cards that fit into `cap` bytes together, and how many are left out."""
    fitting = how_many_fit([_size(card) for card in cards], room=cap - _FRAME_BYTES)
    return cards[:fitting], len(cards) - fitting


def cut_lists(results: Mapping[str, tuple[Out, ...]], *, cap: int) -> tuple[dict[str, tuple[Out, ...]], int]:
    """The same over many lists, one after the other. Each keeps its place, also when it is left empty."""
    flat = [card for cards in results.values() for card in cards]
    terms_bytes = sum(2 * delivered_bytes(term) + _TERM_BYTES for term in results)
    fitting = how_many_fit([_size(card) for card in flat], room=cap - _FRAME_BYTES - terms_bytes)
    left = fitting
    kept: dict[str, tuple[Out, ...]] = {}
    for term, cards in results.items():
        kept[term] = cards[:left]
        left -= len(kept[term])
    return kept, len(flat) - fitting


def _size(card: WireModel) -> int:
    return delivered_bytes(card.model_dump_json(by_alias=True)) + 1
