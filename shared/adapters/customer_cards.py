"""What of the cards table is for customers: items whose id says so, and who say so themselves."""

from __future__ import annotations

from shared.adapters.attributes import Item, text_of
from shared.adapters.card_items import card_of, collection_of
from shared.adapters.unreadable import readable
from shared.domain.cards import Card, Collection, CollectionStatus, CustomerCard, collection_exposure
from shared.domain.exposure import ExposureProfile


def is_for_customers(collection_id: str) -> bool:
    """By its id alone: what is not is not even read."""
    return collection_exposure(collection_id) is ExposureProfile.CUSTOMER_SAFE


def _safe(item: Item) -> Item:
    if text_of(item, "exposure_profile") != ExposureProfile.CUSTOMER_SAFE:
        raise ValueError("exposure_profile")
    return item


def _safe_collection(item: Item) -> Collection:
    return collection_of(_safe(item))


def _safe_card(item: Item) -> Card:
    card = card_of(_safe(item))
    if not is_for_customers(card.collection_id):
        raise ValueError("collection_id")
    return card


_readable_collection = readable(_safe_collection)
_readable_card = readable(_safe_card)


def customer_collection(item: Item | None) -> Collection | None:
    """None for what is absent, being deleted, or not for customers."""
    collection = _readable_collection(item) if item else None
    return collection if collection and collection.status is CollectionStatus.ACTIVE else None


def customer_card(item: Item) -> CustomerCard | None:
    card = _readable_card(item)
    return CustomerCard(card) if card else None
