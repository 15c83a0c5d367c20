"""Deletes a card."""

from __future__ import annotations

from shared.domain.auditing import new_entry
from shared.domain.changes import Change
from shared.domain.credentials import Principal
from shared.domain.preconditions import check_generation
from shared.ports.card_store import CardStore
from shared.ports.clock import Clock
from shared.services.list_cards import ListCards


class DeleteCard:
    def __init__(self, *, store: CardStore, cards: ListCards, clock: Clock) -> None:
        self._store = store
        self._cards = cards
        self._clock = clock

    async def __call__(self, collection_id: str, card_id: str, *, expected_generation: int, by: Principal) -> None:
        """Raises `NotFound`, `PreconditionFailed`, `Unavailable`."""
        card = await self._cards.one(collection_id, card_id)
        check_generation(card.generation, expected_generation)
        entry = new_entry(
            at=self._clock.now(),
            actor=by.credential_id,
            action="card.deleted",
            resource=f"card/{collection_id}/{card_id}",
            generations=(card.generation, None),
        )
        await self._store.delete_card(card, expected_generation=card.generation, change=Change(audit=entry))
