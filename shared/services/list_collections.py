"""Shows collections, one or a page of them."""

from __future__ import annotations

from shared.domain.cards import Collection
from shared.domain.pages import Page
from shared.domain.preconditions import existing
from shared.ports.card_store import CardStore


class ListCollections:
    def __init__(self, *, store: CardStore) -> None:
        self._store = store

    async def one(self, collection_id: str) -> Collection:
        """Raises `NotFound`, `Unavailable`."""
        return existing(await self._store.collection(collection_id))

    async def page(self, *, limit: int, after: str | None) -> Page[Collection]:
        """Ascending by id. Raises `Unavailable`."""
        return await self._store.collections(limit=limit, after=after)
