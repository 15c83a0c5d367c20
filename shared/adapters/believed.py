"""Registrations out of a table that is believed about one exposure profile alone."""

from __future__ import annotations

from collections.abc import Callable

from shared.adapters.attributes import Item
from shared.adapters.instance_items import FindInstance
from shared.adapters.provider_items import provider_of
from shared.domain.exposure import ExposureProfile
from shared.domain.registrations import Provider


def provider_of_profile(profile: ExposureProfile) -> Callable[[Item, FindInstance], Provider]:
    """Reads an item; one of another profile is unreadable there."""

    def read(item: Item, find: FindInstance) -> Provider:
        provider = provider_of(item, find)
        if provider.exposure_profile is not profile:
            raise ValueError("exposure_profile")
        return provider

    return read
