"""Stand-ins for the card adapters, in memory, over one `Shelf`; `tests/contract` holds them to the ports."""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Collection as Several
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from shared.domain.cards import (
    MAX_CARDS_PER_COLLECTION,
    MAX_CARDS_PER_KEY,
    MAX_KEY_BYTES_PER_COLLECTION,
    MAX_KEYS_PER_COLLECTION,
    Card,
    Collection,
    CollectionStatus,
    CustomerCard,
    collection_exposure,
)
from shared.domain.changes import Change
from shared.domain.deadlines import Deadline
from shared.domain.exposure import ExposureProfile
from shared.domain.matching import Occurrence, is_glued
from shared.domain.names import name_key
from shared.domain.pages import Page
from shared.errors import Conflict, NotFound, PreconditionFailed
from shared.ports.card_store import ImportLease, Upserted
from tests.support.fakes import Failing, FakeStore, _ascending, _check_next, _check_stored


@dataclass
class Shelf:
    """All collections and cards. Shares audit, idempotency records and the clock with `store`."""

    store: FakeStore = field(default_factory=FakeStore)
    collections: dict[str, Collection] = field(default_factory=dict)
    cards: dict[str, dict[str, Card]] = field(default_factory=dict)
    leases: dict[str, str] = field(default_factory=dict)  # collection id -> token

    def add(self, collection: Collection, *cards: Card) -> Collection:
        """Puts these there, past all checks. Gives the collection as it is now."""
        of_collection = self.cards.setdefault(collection.id, {})
        of_collection.update({card.id: card for card in cards})
        self.collections[collection.id] = replace(
            collection,
            card_count=len(of_collection),
            content_generation=collection.content_generation + 1,
        )
        return self.collections[collection.id]

    def clear(self) -> None:
        for shelf in (self.collections, self.cards, self.leases):
            shelf.clear()

    def active(self, collection_id: str) -> Collection | None:
        found = self.collections.get(collection_id)
        return found if found and found.status is CollectionStatus.ACTIVE else None

    def for_customers(self, collection_id: str) -> Collection | None:
        found = self.active(collection_id)
        return found if found and found.exposure_profile is ExposureProfile.CUSTOMER_SAFE else None

    def by_key(self, collection_id: str) -> dict[str, tuple[str, ...]]:
        found: dict[str, set[str]] = {}
        for card in self.cards.get(collection_id, {}).values():
            for key in card.norm_keys:
                found.setdefault(key, set()).add(card.id)
        return {key: tuple(sorted(ids)) for key, ids in found.items()}


class FakeCardReader(Failing):
    def __init__(self, shelf: Shelf | None = None) -> None:
        self.shelf = shelf or Shelf()

    async def ids_by_key(self, collection_id: str, norm_keys: Several[str]) -> Mapping[str, tuple[str, ...]] | None:
        self._may_fail()
        return _picked(self.shelf, self.shelf.active(collection_id), norm_keys)

    async def cards(self, collection_id: str, card_ids: Several[str]) -> Mapping[str, Card]:
        self._may_fail()
        found = self.shelf.cards.get(collection_id, {})
        return {id_: found[id_] for id_ in card_ids if id_ in found}


class FakeCustomerCardReader(Failing):
    def __init__(self, shelf: Shelf | None = None) -> None:
        self.shelf = shelf or Shelf()

    async def ids_by_key(self, collection_id: str, norm_keys: Several[str]) -> Mapping[str, tuple[str, ...]] | None:
        self._may_fail()
        return _picked(self.shelf, self.shelf.for_customers(collection_id), norm_keys)

    async def cards(self, collection_id: str, card_ids: Several[str]) -> Mapping[str, CustomerCard]:
        self._may_fail()
        if collection_exposure(collection_id) is not ExposureProfile.CUSTOMER_SAFE:
            return {}
        found = self.shelf.cards.get(collection_id, {})
        return {id_: CustomerCard(found[id_]) for id_ in card_ids if id_ in found}


class FakeVocabularies(Failing):
    def __init__(self, shelf: Shelf | None = None) -> None:
        self.shelf = shelf or Shelf()

    async def occurring(
        self, collection_id: str, text: str, *, turn: asyncio.Future[Deadline]
    ) -> tuple[Occurrence, ...] | None:
        self._may_fail()
        return _occurring(self.shelf, self.shelf.active(collection_id), text)


class FakeCustomerVocabularies(Failing):
    def __init__(self, shelf: Shelf | None = None) -> None:
        self.shelf = shelf or Shelf()

    async def occurring(
        self, collection_id: str, text: str, *, turn: asyncio.Future[Deadline]
    ) -> tuple[Occurrence, ...] | None:
        self._may_fail()
        return _occurring(self.shelf, self.shelf.for_customers(collection_id), text)


def _picked(shelf: Shelf, collection: Collection | None, keys: Several[str]) -> Mapping[str, tuple[str, ...]] | None:
    if collection is None:
        return None
    return {key: ids for key, ids in shelf.by_key(collection.id).items() if key in keys}


def _occurring(shelf: Shelf, collection: Collection | None, text: str) -> tuple[Occurrence, ...] | None:
    if collection is None:
        return None
    return tuple(Occurrence(k, ids) for k, ids in sorted(shelf.by_key(collection.id).items()) if occurs(k, text))


def occurs(key: str, text: str) -> bool:
    """The plain definition: some occurrence has two free edges."""
    return any(
        text.startswith(key, at) and not is_glued(text, at) and not is_glued(text, at + len(key))
        for at in range(len(text) - len(key) + 1)
    )


class FakeCardStore(Failing):
    def __init__(self, shelf: Shelf | None = None) -> None:
        self.shelf = shelf or Shelf()
        self.store = self.shelf.store

    # --- collections -----------------------------------------------------------------------------

    async def collection(self, collection_id: str) -> Collection | None:
        self._may_fail()
        return self.shelf.active(collection_id)

    async def collections(self, *, limit: int, after: str | None) -> Page[Collection]:
        self._may_fail()
        active = {id_: one for id_, one in self.shelf.collections.items() if self.shelf.active(id_)}
        return _ascending(active, limit=limit, after=after)

    async def create_collection(self, collection: Collection, change: Change) -> None:
        self._may_fail()
        if collection_exposure(collection.id) is not collection.exposure_profile:
            raise ValueError("the id names another exposure profile")
        self.store.check_idempotency(change)
        if collection.id in self.shelf.collections:
            raise Conflict("This id is taken.", code="id_taken")
        self._check_name(collection)
        self.shelf.collections[collection.id] = collection
        self.store.note(change)

    async def replace_collection(self, collection: Collection, *, expected_generation: int, change: Change) -> None:
        self._may_fail()
        _check_next(collection.generation, expected_generation)
        self.store.check_idempotency(change)
        stored = self._at(collection.id, expected_generation)
        self._check_name(collection)
        self.shelf.collections[collection.id] = replace(
            stored, name=collection.name, generation=collection.generation, updated_at=collection.updated_at
        )
        self.store.note(change)

    async def delete_collection(self, collection: Collection, *, expected_generation: int, change: Change) -> None:
        self._may_fail()
        self.store.check_idempotency(change)
        stored = self._at(collection.id, expected_generation)
        self.shelf.collections[stored.id] = replace(stored, status=CollectionStatus.DELETING)
        self.store.note(change)

    # --- cards -----------------------------------------------------------------------------------

    async def card(self, collection_id: str, card_id: str) -> Card | None:
        self._may_fail()
        return self.shelf.cards.get(collection_id, {}).get(card_id)

    async def cards(self, collection_id: str, *, limit: int, after: str | None) -> Page[Card]:
        self._may_fail()
        return _ascending(self.shelf.cards.get(collection_id, {}), limit=limit, after=after)

    async def cards_with(self, collection_id: str, card_ids: Several[str]) -> dict[str, Card]:
        self._may_fail()
        found = self.shelf.cards.get(collection_id, {})
        return {id_: found[id_] for id_ in card_ids if id_ in found}

    async def create_card(self, card: Card, change: Change) -> None:
        self._may_fail()
        self.store.check_idempotency(change)
        collection = self._active(card.collection_id)
        if card.id in self._cards_of(card):
            raise Conflict("This id is taken.", code="id_taken")
        self._check_room(card)
        self._keep(collection, card)
        self.store.note(change)

    async def replace_card(self, card: Card, *, expected_generation: int, change: Change) -> None:
        self._may_fail()
        _check_next(card.generation, expected_generation)
        self.store.check_idempotency(change)
        collection = self._active(card.collection_id)
        self._check_card(card, expected_generation)
        self._check_room(card)
        self._keep(collection, card)
        self.store.note(change)

    async def delete_card(self, card: Card, *, expected_generation: int, change: Change) -> None:
        self._may_fail()
        self.store.check_idempotency(change)
        collection = self._active(card.collection_id)
        self._check_card(card, expected_generation)
        del self._cards_of(card)[card.id]
        self._moved_on(collection)
        self.store.note(change)

    # --- imports ---------------------------------------------------------------------------------

    async def begin_import(self, collection_id: str, *, lease_s: float, change: Change) -> ImportLease:
        self._may_fail()
        self.store.check_idempotency(change)
        collection, now = self._active(collection_id), self.store.clock.now()
        if collection.importing_until > now:
            raise Conflict("An import is running.", code="import_running", retry_after_s=1)
        lease = ImportLease(collection_id, secrets.token_hex(8), now + lease_s)
        self.shelf.leases[collection_id] = lease.token
        self._moved_on(replace(collection, importing_until=lease.until))
        self.store.note(change)
        return lease

    async def upsert(self, lease: ImportLease, card: Card) -> Upserted:
        self._may_fail()
        collection = self._held(lease)
        stored = self._cards_of(card).get(card.id)
        if stored and stored.says_the_same_as(card):
            return Upserted.UNCHANGED
        self._check_room(card)
        now = self.store.clock.now()
        created_at, generation = (stored.created_at, stored.generation + 1) if stored else (now, 1)
        self._keep(collection, replace(card, generation=generation, created_at=created_at, updated_at=now), moves=0)
        return Upserted.UPDATED if stored else Upserted.CREATED

    async def end_import(self, lease: ImportLease, change: Change) -> None:
        self._may_fail()
        self.store.check_idempotency(change)
        collection = self._leased(lease)
        self.shelf.leases.pop(collection.id)
        self.shelf.collections[collection.id] = replace(collection, importing_until=0.0)
        self.store.note(change)

    # --- clearing away ---------------------------------------------------------------------------

    async def deleting(self, *, limit: int) -> tuple[str, ...]:
        self._may_fail()
        gone = [id_ for id_ in sorted(self.shelf.collections) if self.shelf.active(id_) is None]
        return tuple(gone[:limit])

    async def sweep(self, collection_id: str, *, limit: int) -> bool:
        self._may_fail()
        if self.shelf.active(collection_id) is not None:
            raise ValueError("this collection is not being deleted")
        of_collection = self.shelf.cards.get(collection_id, {})
        for id_ in sorted(of_collection)[:limit]:
            del of_collection[id_]
        if of_collection:
            return False
        self.shelf.collections.pop(collection_id, None)
        self.shelf.cards.pop(collection_id, None)
        return True

    # --- checks ----------------------------------------------------------------------------------

    def _active(self, collection_id: str) -> Collection:
        if (found := self.shelf.active(collection_id)) is None:
            raise NotFound("There is no such thing.")
        return found

    def _at(self, collection_id: str, expected: int) -> Collection:
        stored = self._active(collection_id)
        if stored.generation != expected:
            raise PreconditionFailed("It has changed since it was read.")
        return stored

    def _leased(self, lease: ImportLease) -> Collection:
        collection = self._active(lease.collection_id)
        if self.shelf.leases.get(lease.collection_id) != lease.token:
            raise Conflict("The import has ended.", code="import_ended")
        return collection

    def _held(self, lease: ImportLease) -> Collection:
        collection = self._leased(lease)
        if collection.importing_until <= self.store.clock.now():
            raise Conflict("The import has ended.", code="import_ended")
        return collection

    def _check_name(self, collection: Collection) -> None:
        for id_, other in self.shelf.collections.items():
            is_rival = other.exposure_profile is collection.exposure_profile and self.shelf.active(id_)
            if id_ != collection.id and is_rival and name_key(other.name) == name_key(collection.name):
                raise Conflict("Another one has this name.", code="name_taken")

    def _check_card(self, card: Card, expected: int) -> None:
        stored = self._cards_of(card).get(card.id)
        _check_stored(stored.generation if stored else None, expected)

    def _check_room(self, card: Card) -> None:
        others = [one for one in self._cards_of(card).values() if one.id != card.id]
        holders = Counter(key for one in others for key in one.norm_keys)
        for key in card.norm_keys:
            if holders[key] >= MAX_CARDS_PER_KEY:
                raise Conflict("This key is full.", code="key_full")
        after = [*others, card]
        if (
            len(after) > MAX_CARDS_PER_COLLECTION
            or sum(len(one.norm_keys) for one in after) > MAX_KEYS_PER_COLLECTION
            or sum(one.key_bytes for one in after) > MAX_KEY_BYTES_PER_COLLECTION
        ):
            raise Conflict("This collection is full.", code="collection_full")

    def _cards_of(self, card: Card) -> dict[str, Card]:
        return self.shelf.cards.setdefault(card.collection_id, {})

    def _keep(self, collection: Collection, card: Card, *, moves: int = 1) -> None:
        self._cards_of(card)[card.id] = card
        self._moved_on(collection, moves=moves)

    def _moved_on(self, collection: Collection, *, moves: int = 1) -> None:
        self.shelf.collections[collection.id] = replace(
            collection,
            content_generation=collection.content_generation + moves,
            card_count=len(self.shelf.cards.get(collection.id, {})),
        )
