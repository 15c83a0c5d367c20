"""Registrations as items, whole."""

from __future__ import annotations

from collections.abc import Callable

from shared.adapters.attributes import Item, NewItem, flag, flag_of, number, number_of, optional, text, text_of
from shared.adapters.source_items import item_of_source, source_of
from shared.domain.exposure import ExposureProfile
from shared.domain.identifiers import exposure_of
from shared.domain.registrations import Provider, ProviderStatus


def item_of(provider: Provider) -> NewItem:
    item = {
        **item_of_source(provider.source),
        "exposure_profile": text(provider.exposure_profile),
        "status": text(provider.status),
        "send_conversation_id": flag(provider.send_conversation_id),
        "updated_at": number(provider.updated_at),
    }
    if provider.needs_test:
        item["needs_test"] = flag(provider.needs_test)
    if provider.module is not None:
        item["module"] = text(provider.module)
    return item


def provider_of(item: Item) -> Provider:
    """An item whose id names another exposure profile than the item itself is unreadable."""
    source = source_of(item)
    profile = ExposureProfile(text_of(item, "exposure_profile"))
    if exposure_of(source.id) is not profile:
        raise ValueError("exposure_profile")
    return Provider(
        source=source,
        exposure_profile=profile,
        status=ProviderStatus(text_of(item, "status")),
        send_conversation_id=flag_of(item, "send_conversation_id"),
        needs_test=optional(item, "needs_test", flag_of) or False,
        module=optional(item, "module", text_of),
        updated_at=number_of(item, "updated_at"),
    )


def provider_of_profile(profile: ExposureProfile) -> Callable[[Item], Provider]:
    """`provider_of` for a table that is believed about one exposure profile alone: others are unreadable there."""

    def read(item: Item) -> Provider:
        provider = provider_of(item)
        if provider.exposure_profile is not profile:
            raise ValueError("exposure_profile")
        return provider

    return read
