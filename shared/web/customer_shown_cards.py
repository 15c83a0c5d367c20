"""Cards as customers see them, wherever they are in an answer."""

from __future__ import annotations

from collections.abc import Sequence

from shared.domain.cards import CustomerCard
from shared.web.customer_answers import CustomerCardOut


def customer_cards_out(cards: Sequence[CustomerCard]) -> tuple[CustomerCardOut, ...]:
    return tuple(CustomerCardOut(title=one.card.shown_title, body=one.card.body, keys=one.card.keys) for one in cards)
