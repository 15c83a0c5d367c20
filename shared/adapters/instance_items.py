"""Self-hosted servers as items."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from shared.adapters.attributes import (
    Item,
    NewItem,
    flag,
    flag_of,
    number,
    number_of,
    optional,
    text,
    text_of,
    texts,
    texts_of,
    whole_of,
)
from shared.adapters.keys import SORT_KEY, key_of
from shared.adapters.secret_items import item_of_secret, secret_of
from shared.domain.exposure import ExposureProfile
from shared.domain.identifiers import exposure_of_instance
from shared.domain.instances import INSTANCE_KINDS, Instance, Risk
from shared.domain.registrations import ProviderKind

INSTANCES: Final = "INSTANCE"
BINDING_IDS: Final = "binding_ids"  # a set, moved by the writes that bind and unbind; absent where it is empty

# Finds the instance that a provider is bound to; None where there is none that can be read.
FindInstance: TypeAlias = Callable[[str], Instance | None]


def item_of(instance: Instance) -> NewItem:
    """Raises `ValueError` for what would not be read back."""
    _check(instance)
    item = {
        **key_of(INSTANCES, instance.id),
        "name": text(instance.name),
        "kind": text(instance.kind),
        "exposure_profile": text(instance.exposure_profile),
        "base_url": text(instance.base_url),
        "generation": number(instance.generation),
        "acknowledged": texts(sorted(instance.acknowledged)),
        "reaches_public_only": flag(instance.reaches_public_only),
        "created_at": number(instance.created_at),
        "updated_at": number(instance.updated_at),
        **item_of_secret("credential", instance.credential),
    }
    if instance.binding_ids:
        item[BINDING_IDS] = {"SS": sorted(instance.binding_ids)}
    if instance.private_authority is not None:
        item["private_authority"] = text(instance.private_authority)
    return item


def instance_of(item: Item) -> Instance:
    """Unreadable: an item whose id names another exposure profile than the item itself, and a customer_safe one of
    which nobody has stated that it reaches public content alone.
    """
    instance = Instance(
        id=text_of(item, SORT_KEY),
        name=text_of(item, "name"),
        kind=ProviderKind(text_of(item, "kind")),
        exposure_profile=ExposureProfile(text_of(item, "exposure_profile")),
        base_url=text_of(item, "base_url"),
        generation=whole_of(item, "generation"),
        credential=optional(item, "credential", secret_of),
        acknowledged=frozenset(Risk(word) for word in texts_of(item, "acknowledged")),
        reaches_public_only=flag_of(item, "reaches_public_only"),
        private_authority=optional(item, "private_authority", text_of),
        binding_ids=frozenset(item[BINDING_IDS]["SS"]) if BINDING_IDS in item else frozenset(),
        created_at=number_of(item, "created_at"),
        updated_at=number_of(item, "updated_at"),
    )
    _check(instance)
    return instance


def _check(instance: Instance) -> None:
    if exposure_of_instance(instance.id) is not instance.exposure_profile:
        raise ValueError("exposure_profile")
    if instance.exposure_profile is ExposureProfile.CUSTOMER_SAFE and not instance.reaches_public_only:
        raise ValueError("reaches_public_only")
    if instance.kind not in INSTANCE_KINDS:
        raise ValueError("kind")
