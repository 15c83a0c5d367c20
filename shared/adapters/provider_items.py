"""Registrations as items, whole."""

from __future__ import annotations

from dataclasses import replace

from shared.adapters.attributes import Item, NewItem, flag, flag_of, number, number_of, optional, text, text_of
from shared.adapters.instance_items import FindInstance
from shared.adapters.live_config_items import config_of, item_of_config
from shared.adapters.source_items import item_of_source, source_of
from shared.domain.exposure import ExposureProfile
from shared.domain.identifiers import exposure_of
from shared.domain.registrations import LIVE_KINDS, Provider, ProviderStatus, Source


def item_of(provider: Provider) -> NewItem:
    """Raises `ValueError` for a live kind of another exposure profile than agent_only, or without its config."""
    _check_lane(provider.source, provider.exposure_profile)
    item = {
        **item_of_source(provider.source),
        "exposure_profile": text(provider.exposure_profile),
        "status": text(provider.status),
        "send_conversation_id": flag(provider.send_conversation_id),
        "updated_at": number(provider.updated_at),
    }
    if provider.source.kind in LIVE_KINDS:
        item["config"] = {"M": item_of_config(provider.source.kind, provider.source.config)}
    if provider.needs_test:
        item["needs_test"] = flag(provider.needs_test)
    if provider.module is not None:
        item["module"] = text(provider.module)
    return item


def provider_of(item: Item, find: FindInstance) -> Provider:
    """Unreadable: an item whose id names another exposure profile than the item itself, a live kind that is not
    agent_only, and a binding without its instance.
    """
    source = source_of(item, find)
    profile = ExposureProfile(text_of(item, "exposure_profile"))
    if exposure_of(source.id) is not profile:
        raise ValueError("exposure_profile")
    _check_lane(source, profile)
    return Provider(
        source=_with_config(source, item),
        exposure_profile=profile,
        status=ProviderStatus(text_of(item, "status")),
        send_conversation_id=flag_of(item, "send_conversation_id"),
        needs_test=optional(item, "needs_test", flag_of) or False,
        module=optional(item, "module", text_of),
        updated_at=number_of(item, "updated_at"),
    )


def _check_lane(source: Source, profile: ExposureProfile) -> None:
    if source.kind in LIVE_KINDS and profile is not ExposureProfile.AGENT_ONLY:
        raise ValueError("exposure_profile")


def _with_config(source: Source, item: Item) -> Source:
    if source.kind not in LIVE_KINDS:
        return source
    return replace(source, config=config_of(source.kind, item["config"]["M"]))
