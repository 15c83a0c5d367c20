"""Deletes a collection with all its cards: gone for everybody at once, cleared away by `clear_collections`."""

from __future__ import annotations

from shared.domain.auditing import new_entry
from shared.domain.changes import Change
from shared.domain.credentials import Principal
from shared.domain.preconditions import check_generation, existing
from shared.ports.card_store import CardStore
from shared.ports.clock import Clock


class DeleteCollection:
    def __init__(self, *, store: CardStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def __call__(self, collection_id: str, *, expected_generation: int, by: Principal) -> None:
        """Raises `NotFound`, `PreconditionFailed`, `Unavailable`."""
        collection = existing(await self._store.collection(collection_id))
        check_generation(collection.generation, expected_generation)
        entry = new_entry(
            at=self._clock.now(),
            actor=by.credential_id,
            action="collection.deleted",
            resource=f"collection/{collection.id}",
            generations=(collection.generation, None),
        )
        await self._store.delete_collection(
            collection, expected_generation=collection.generation, change=Change(audit=entry)
        )
