"""Cards of either lane as text. The lane says how a card is headed; its keys and its body are shown alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

from shared.web.mcp.mirror import UNTRUSTED, Mirror, counted
from shared.web.mcp.quoting import Fences, named


class ShownCard(Protocol):
    @property
    def keys(self) -> tuple[str, ...]: ...

    @property
    def body(self) -> str: ...


C = TypeVar("C", bound=ShownCard)


def looked_up(results: Mapping[str, Sequence[C]], *, dropped: int, heading: Callable[[C], str]) -> Mirror:
    """Every term with its cards."""
    every = [card for cards in results.values() for card in cards]
    fences = Fences.around([card.body for card in every])
    blocks = [
        "\n\n".join([f"{named(term)}: {counted(len(cards), 'card')}", *card_texts(cards, fences, heading=heading)])
        for term, cards in results.items()
    ]
    return Mirror(head=_head(len(every), "under these terms", dropped=dropped), blocks=blocks)


def matched(cards: Sequence[C], *, dropped: int, heading: Callable[[C], str]) -> Mirror:
    fences = Fences.around([card.body for card in cards])
    head = _head(len(cards), "mentioned in the text", dropped=dropped)
    return Mirror(head=head, blocks=card_texts(cards, fences, heading=heading))


def card_texts(cards: Sequence[C], fences: Fences, *, heading: Callable[[C], str]) -> list[str]:
    return ["\n".join([heading(card), _keys(card), fences.put(card.body, name="the card")]) for card in cards]


def _keys(card: ShownCard) -> str:
    return "keys: " + ", ".join(named(key) for key in card.keys)


def _head(found: int, where: str, *, dropped: int) -> str:
    if not found and not dropped:
        return f"No glossary card is {where}."
    left_out = f" {counted(dropped, 'more card')} left out." if dropped else ""
    return f"Glossary cards {where}: {found}.{left_out} {UNTRUSTED}"
