"""Collections, cards and key rows as items.

COLLECTION       sk = collection id
CARD#<cid>       sk = card id
KEY#<cid>        sk = normalised key; `cards` is the set of ids of the cards that have it, never empty
"""

from __future__ import annotations

from typing import Final

from shared.adapters.attributes import (
    Item,
    NewItem,
    number,
    number_of,
    optional,
    text,
    text_of,
    texts,
    texts_of,
    whole_of,
)
from shared.adapters.keys import PARTITION_KEY, SORT_KEY, key_of
from shared.domain.cards import Card, Collection, CollectionStatus, collection_exposure
from shared.domain.exposure import ExposureProfile

COLLECTIONS: Final = "COLLECTION"
CARDS: Final = "CARD#"
KEYS: Final = "KEY#"


def item_of_collection(collection: Collection) -> NewItem:
    return {
        **key_of(COLLECTIONS, collection.id),
        "name": text(collection.name),
        "exposure_profile": text(collection.exposure_profile),
        "generation": number(collection.generation),
        "content_generation": number(collection.content_generation),
        "status": text(collection.status),
        "card_count": number(collection.card_count),
        "key_count": number(0),
        "key_bytes": number(0),
        "created_at": number(collection.created_at),
        "updated_at": number(collection.updated_at),
    }


def collection_of(item: Item) -> Collection:
    """An item whose id names another exposure profile than the item itself is unreadable."""
    profile = ExposureProfile(text_of(item, "exposure_profile"))
    if collection_exposure(text_of(item, SORT_KEY)) is not profile:
        raise ValueError("exposure_profile")
    return Collection(
        id=text_of(item, SORT_KEY),
        name=text_of(item, "name"),
        exposure_profile=profile,
        generation=whole_of(item, "generation"),
        content_generation=whole_of(item, "content_generation"),
        status=CollectionStatus(text_of(item, "status")),
        card_count=whole_of(item, "card_count"),
        importing_until=optional(item, "importing_until", number_of) or 0.0,
        created_at=number_of(item, "created_at"),
        updated_at=number_of(item, "updated_at"),
    )


def item_of_card(card: Card) -> NewItem:
    profile = collection_exposure(card.collection_id)
    if profile is None:
        raise ValueError("collection_id")
    return {
        **key_of(CARDS + card.collection_id, card.id),
        "exposure_profile": text(profile),
        "keys": texts(card.keys),
        "title": text(card.title),
        "body": text(card.body),
        "norm_keys": texts(card.norm_keys),
        "generation": number(card.generation),
        "created_at": number(card.created_at),
        "updated_at": number(card.updated_at),
    }


def card_of(item: Item) -> Card:
    collection_id = text_of(item, PARTITION_KEY).removeprefix(CARDS)
    if collection_exposure(collection_id) is not ExposureProfile(text_of(item, "exposure_profile")):
        raise ValueError("exposure_profile")
    return Card(
        id=text_of(item, SORT_KEY),
        collection_id=collection_id,
        keys=texts_of(item, "keys"),
        title=text_of(item, "title"),
        body=text_of(item, "body"),
        norm_keys=texts_of(item, "norm_keys"),
        generation=whole_of(item, "generation"),
        created_at=number_of(item, "created_at"),
        updated_at=number_of(item, "updated_at"),
    )


def card_ids_of(item: Item) -> tuple[str, ...]:
    """Of a key row, ascending."""
    return tuple(sorted(item["cards"]["SS"]))
