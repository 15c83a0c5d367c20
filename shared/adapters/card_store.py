"""Reading and writing collections and cards. Every write is one transaction."""

from __future__ import annotations

import secrets
from collections.abc import Collection as Several
from dataclasses import replace

from shared.adapters import card_items, card_parts, card_sweep, collection_parts
from shared.adapters.attributes import Item
from shared.adapters.card_items import CARDS, COLLECTIONS
from shared.adapters.card_parts import CardWrite
from shared.adapters.card_rows import card_items as rows_of_cards
from shared.adapters.card_rows import holders_of
from shared.adapters.company import audited, once
from shared.adapters.pages import page_over
from shared.adapters.rows import row
from shared.adapters.services import DynamoDBClient
from shared.adapters.threads import in_thread
from shared.adapters.transactions import Moved, Part, busy, commit, moved, refused_as
from shared.adapters.unreadable import readable
from shared.domain.cards import Card, Collection, CollectionStatus, collection_exposure
from shared.domain.changes import Change
from shared.domain.pages import Page
from shared.errors import NotFound, PreconditionFailed
from shared.ports.card_store import ImportLease, Upserted
from shared.ports.clock import Clock

_PLANS = 8

_any_collection = readable(card_items.collection_of)
_card = readable(card_items.card_of)


class DynamoCardStore:
    """Implements `ports.card_store.CardStore`."""

    def __init__(
        self, client: DynamoDBClient, *, table: str, audit_table: str, idempotency_table: str, clock: Clock
    ) -> None:
        self._client = client
        self._table = table
        self._audit_table = audit_table
        self._idempotency_table = idempotency_table
        self._clock = clock

    # --- collections -----------------------------------------------------------------------------

    async def collection(self, collection_id: str) -> Collection | None:
        if collection_exposure(collection_id) is None:
            return None
        item = await in_thread(row, self._client, self._table, COLLECTIONS, collection_id)
        return _active(item) if item else None

    async def collections(self, *, limit: int, after: str | None) -> Page[Collection]:
        return await page_over(
            self._client,
            (self._table,),
            COLLECTIONS,
            read=_active,
            sort_key=lambda one: one.id,
            limit=limit,
            after=after,
        )

    async def create_collection(self, collection: Collection, change: Change) -> None:
        if collection_exposure(collection.id) is not collection.exposure_profile:
            raise ValueError("the id names another exposure profile")
        await self._commit(collection_parts.created(self._table, collection), change)

    async def replace_collection(self, collection: Collection, *, expected_generation: int, change: Change) -> None:
        _check_next(collection.generation, expected_generation)
        stored = await self.collection(collection.id)
        parts = collection_parts.renamed(self._table, stored, collection, expected_generation=expected_generation)
        await self._commit(parts, change)

    async def delete_collection(self, collection: Collection, *, expected_generation: int, change: Change) -> None:
        stored = await self.collection(collection.id)
        parts = collection_parts.buried(self._table, stored, collection, expected_generation=expected_generation)
        await self._commit(parts, change)

    # --- cards -----------------------------------------------------------------------------------

    async def card(self, collection_id: str, card_id: str) -> Card | None:
        if collection_exposure(collection_id) is None or not card_id:
            return None
        item = await in_thread(row, self._client, self._table, CARDS + collection_id, card_id)
        return _card(item) if item else None

    async def cards(self, collection_id: str, *, limit: int, after: str | None) -> Page[Card]:
        return await page_over(
            self._client,
            (self._table,),
            CARDS + collection_id,
            read=_card,
            sort_key=lambda one: one.id,
            limit=limit,
            after=after,
        )

    async def cards_with(self, collection_id: str, card_ids: Several[str]) -> dict[str, Card]:
        items = await rows_of_cards(self._client, self._table, collection_id, card_ids)
        return {card.id: card for item in items if (card := _card(item)) is not None}

    async def create_card(self, card: Card, change: Change) -> None:
        write = CardWrite(None, card)
        await self._commit(
            [
                card_parts.counted(self._table, write),
                card_parts.put_card(self._table, write),
                *card_parts.key_parts(self._table, write, {}),
            ],
            change,
        )

    async def replace_card(self, card: Card, *, expected_generation: int, change: Change) -> None:
        _check_next(card.generation, expected_generation)
        await self._exchange(card, card, expected_generation=expected_generation, change=change)

    async def delete_card(self, card: Card, *, expected_generation: int, change: Change) -> None:
        await self._exchange(card, None, expected_generation=expected_generation, change=change)

    async def _exchange(self, named: Card, after: Card | None, *, expected_generation: int, change: Change) -> None:
        """Replaces or deletes `named`. What is read first is held to by the generation that the write expects."""
        for _ in range(_PLANS):
            stored = await self.card(named.collection_id, named.id)
            if stored is None or await self.collection(named.collection_id) is None:
                raise NotFound("There is no such thing.")
            if stored.generation != expected_generation:
                raise PreconditionFailed("Read it again, then decide.")
            write = CardWrite(stored, after)
            is_put = after is not None
            parts = [
                card_parts.counted(self._table, write),
                card_parts.put_card(self._table, write) if is_put else card_parts.delete_card(self._table, stored),
                *await self._key_parts(write),
            ]
            try:
                return await self._commit(parts, change)
            except Moved:
                continue
        raise busy()

    async def _key_parts(self, write: CardWrite) -> list[Part]:
        holders = await holders_of(self._client, self._table, write.card.collection_id, write.removed)
        return card_parts.key_parts(self._table, write, holders)

    # --- imports ---------------------------------------------------------------------------------

    async def begin_import(self, collection_id: str, *, lease_s: float, change: Change) -> ImportLease:
        if collection_exposure(collection_id) is None:
            raise NotFound("There is no such thing.")
        now = self._clock.now()
        lease = ImportLease(collection_id, secrets.token_hex(8), now + lease_s)
        await self._commit([collection_parts.leased(self._table, lease, now=now)], change)
        return lease

    async def upsert(self, lease: ImportLease, card: Card) -> Upserted:
        for _ in range(_PLANS):
            stored = await self.card(card.collection_id, card.id)
            if stored and stored.says_the_same_as(card):
                return Upserted.UNCHANGED
            write = CardWrite(stored, self._next_version(stored, card))
            parts = [
                card_parts.counted_in_import(self._table, write, lease, now=self._clock.now()),
                card_parts.put_card(self._table, write, refusal=refused_as(moved)),
                *await self._key_parts(write),
            ]
            try:
                await commit(self._client, parts)
            except Moved:
                continue
            return Upserted.UPDATED if stored else Upserted.CREATED
        raise busy()

    def _next_version(self, stored: Card | None, card: Card) -> Card:
        now = self._clock.now()
        if stored is None:
            return replace(card, generation=1, created_at=now, updated_at=now)
        return replace(card, generation=stored.generation + 1, created_at=stored.created_at, updated_at=now)

    async def end_import(self, lease: ImportLease, change: Change) -> None:
        await self._commit([collection_parts.given_back(self._table, lease)], change)

    # --- clearing away ---------------------------------------------------------------------------

    async def deleting(self, *, limit: int) -> tuple[str, ...]:
        return await in_thread(card_sweep.deleting, self._client, self._table, limit=limit)

    async def sweep(self, collection_id: str, *, limit: int) -> bool:
        return await in_thread(card_sweep.sweep, self._client, self._table, collection_id, limit=limit)

    async def _commit(self, parts: list[Part], change: Change) -> None:
        first = once(change, table=self._idempotency_table, now=self._clock.now())
        await commit(self._client, [*first, *parts, audited(change, table=self._audit_table)])


def _active(item: Item) -> Collection | None:
    collection = _any_collection(item)
    return collection if collection and collection.status is CollectionStatus.ACTIVE else None


def _check_next(generation: int, expected: int) -> None:
    if generation != expected + 1:
        raise ValueError("the generation must be the expected one plus one")
