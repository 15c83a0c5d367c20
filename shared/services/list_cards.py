"""Shows cards of a collection, one or a page of them."""

from __future__ import annotations

from shared.domain.cards import Card, is_card_id
from shared.domain.pages import Page
from shared.domain.preconditions import existing
from shared.ports.card_store import CardStore


class ListCards:
    def __init__(self, *, store: CardStore) -> None:
        self._store = store

    async def one(self, collection_id: str, card_id: str) -> Card:
        """Raises `NotFound`, `Unavailable`."""
        existing(await self._store.collection(collection_id))
        return existing(await self._store.card(collection_id, card_id) if is_card_id(card_id) else None)

    async def page(self, collection_id: str, *, limit: int, after: str | None) -> Page[Card]:
        """Ascending by id. Raises `NotFound`, `Unavailable`."""
        existing(await self._store.collection(collection_id))
        return await self._store.cards(collection_id, limit=limit, after=after)
