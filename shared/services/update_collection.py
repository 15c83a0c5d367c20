"""Renames a collection."""

from __future__ import annotations

from dataclasses import replace
from typing import TypedDict

from shared.domain.auditing import new_entry
from shared.domain.cards import Collection
from shared.domain.changes import Change
from shared.domain.credentials import Principal
from shared.domain.preconditions import check_generation, existing
from shared.ports.card_store import CardStore
from shared.ports.clock import Clock


class CollectionChanges(TypedDict, total=False):
    """Only what is to change. The exposure profile is not among it: it is fixed when the collection is made."""

    name: str


class UpdateCollection:
    def __init__(self, *, store: CardStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def __call__(
        self, collection_id: str, changes: CollectionChanges, *, expected_generation: int, by: Principal
    ) -> Collection:
        """The collection as it is now; nothing is written where nothing differs.

        Raises `NotFound`, `PreconditionFailed`, `Conflict`, `Unavailable`.
        """
        before = existing(await self._store.collection(collection_id))
        check_generation(before.generation, expected_generation)
        name = changes.get("name", before.name)
        if name == before.name:
            return before
        now = self._clock.now()
        after = replace(before, name=name, generation=before.generation + 1, updated_at=now)
        entry = new_entry(
            at=now,
            actor=by.credential_id,
            action="collection.updated",
            resource=f"collection/{before.id}",
            generations=(before.generation, after.generation),
        )
        await self._store.replace_collection(after, expected_generation=before.generation, change=Change(audit=entry))
        return after
