"""Ready-made collections and cards: `a_card(collection, "m4", "m5")` has these keys."""

from __future__ import annotations

import itertools
from typing import Any

from shared.domain import cards
from shared.domain.cards import Card, Collection
from shared.domain.exposure import ExposureProfile
from tests.support.builders import NOW

_count = itertools.count(1)


def a_collection(*, exposure_profile: ExposureProfile = ExposureProfile.CUSTOMER_SAFE, **over: Any) -> Collection:
    """Its id names `exposure_profile`. Each has a name and an id of its own."""
    values: dict[str, Any] = {
        "id": cards.new_collection_id(exposure_profile),
        "name": f"Glossary {next(_count)}",
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Collection(exposure_profile=exposure_profile, **values | over)


def an_internal_collection(**over: Any) -> Collection:
    return a_collection(exposure_profile=ExposureProfile.AGENT_ONLY, **over)


def a_card(collection: Collection | str, *keys: str, **over: Any) -> Card:
    """A card of that collection (or of the collection with that id); its derived keys follow from its keys."""
    number = next(_count)
    keys = keys or (f"night ferry {number}",)
    values: dict[str, Any] = {
        "id": cards.new_card_id(),
        "collection_id": collection if isinstance(collection, str) else collection.id,
        "title": f"Card {number}",
        "body": f"What card {number} explains.",
        "norm_keys": cards.derived_keys(keys),
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Card(keys=keys, **values | over)
