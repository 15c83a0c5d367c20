"""Reading and writing collections and cards: the admin's view."""

from __future__ import annotations

from collections.abc import Collection as Several
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from shared.domain.cards import Card, Collection
from shared.domain.changes import Change
from shared.domain.pages import Page


class Upserted(StrEnum):
    """What became of one row of an import."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class ImportLease:
    """The right to import into one collection until `until` (Unix seconds)."""

    collection_id: str
    token: str
    until: float


class CardStore(Protocol):
    """Every write is one transaction: the card, its key rows, the collection's content generation and counts, the audit
    entry and the idempotency record are all written or none is. A collection that is being deleted is not there.

    Raises `NotFound` when the collection, or the card to change, is not there; `PreconditionFailed` when the stored
    generation is not `expected_generation`; `Conflict` `name_taken` (names are unique per exposure profile, compared
    by `domain.names.name_key`), `id_taken`, `key_full` (100 cards have this key already; `facts` name it),
    `collection_full` (cards, keys or bytes of keys), `import_running` (with `retry_after_s`), `import_ended` (the
    lease has ended or is another's), `idempotency_key_used`, `busy`; `Unavailable`.
    """

    async def collection(self, collection_id: str) -> Collection | None:
        """Strongly consistent. None for unknown and malformed ids and for what is being deleted."""
        ...

    async def collections(self, *, limit: int, after: str | None) -> Page[Collection]:
        """Ascending by id, over both exposure profiles, without those that are being deleted."""
        ...

    async def create_collection(self, collection: Collection, change: Change) -> None: ...

    async def replace_collection(self, collection: Collection, *, expected_generation: int, change: Change) -> None:
        """Writes name, generation and `updated_at`; nothing else of a collection is an admin's to set.
        `collection.generation` must be `expected_generation + 1`.
        """
        ...

    async def delete_collection(self, collection: Collection, *, expected_generation: int, change: Change) -> None:
        """Leaves a tombstone: the collection and its cards are gone for every reader and writer from now on, and its
        name is free. `deleting` and `sweep` clear them away.
        """
        ...

    async def card(self, collection_id: str, card_id: str) -> Card | None:
        """Strongly consistent. Says nothing about the collection."""
        ...

    async def cards(self, collection_id: str, *, limit: int, after: str | None) -> Page[Card]:
        """Ascending by id. Says nothing about the collection."""
        ...

    async def cards_with(self, collection_id: str, card_ids: Several[str]) -> dict[str, Card]:
        """Those of the given ids that exist, in one go: what an import compares with."""
        ...

    async def create_card(self, card: Card, change: Change) -> None: ...

    async def replace_card(self, card: Card, *, expected_generation: int, change: Change) -> None:
        """`card.generation` must be `expected_generation + 1`. id and collection never change."""
        ...

    async def delete_card(self, card: Card, *, expected_generation: int, change: Change) -> None: ...

    async def begin_import(self, collection_id: str, *, lease_s: float, change: Change) -> ImportLease:
        """Moves the content generation, once for the whole import, and keeps readers from keeping copies meanwhile.
        Writes the audit entry: whatever becomes of the import, it is known who began it.
        Raises `Conflict` `import_running` while another import's lease lasts.
        """
        ...

    async def upsert(self, lease: ImportLease, card: Card) -> Upserted:
        """One row, in a transaction of its own. Of `card` the id, keys, title, body and derived keys count; generation
        and timestamps are made here. Nothing is written where nothing differs.
        """
        ...

    async def end_import(self, lease: ImportLease, change: Change) -> None:
        """Gives the lease back, also when it has run out meanwhile, and writes the audit entry. An import that never
        gets here simply runs out.
        """
        ...

    async def deleting(self, *, limit: int) -> tuple[str, ...]:
        """Ids of collections that are to be cleared away."""
        ...

    async def sweep(self, collection_id: str, *, limit: int) -> bool:
        """Clears away up to about `limit` rows of a collection that is being deleted; True when nothing is left, the
        tombstone included. May be repeated and interrupted at any point. Touches no other collection.
        """
        ...
