"""Sources as items: the part of a registration that every lane reads."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Final

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
    whole_of,
)
from shared.adapters.binding_items import binding_of, external_of, item_of_binding, item_of_external
from shared.adapters.instance_items import FindInstance
from shared.adapters.keys import SORT_KEY, key_of
from shared.adapters.secret_items import item_of_secret, secret_of
from shared.domain.exposure import ExposureProfile
from shared.domain.identifiers import exposure_of, exposure_of_instance
from shared.domain.instances import INSTANCE_KINDS
from shared.domain.registrations import Capabilities, Link, ProviderKind, Source

PROVIDERS: Final = "PROVIDER"
_CAPABILITIES = tuple(field.name for field in fields(Capabilities))


def item_of_source(source: Source) -> NewItem:
    """What a binding has of its instance is not stored with it. Raises `ValueError` for a config or a link that is not
    its kind's own.
    """
    return {
        **key_of(PROVIDERS, source.id),
        "name": text(source.name),
        "kind": text(source.kind),
        "generation": number(source.generation),
        "priority": number(source.priority),
        "capabilities": {"M": {name: flag(getattr(source.capabilities, name)) for name in _CAPABILITIES}},
        "contract_version": number(source.contract_version),
        "created_at": number(source.created_at),
        **item_of_secret("signing", source.signing),
        **item_of_secret("signing_previous", source.signing_previous),
        "signing_previous_until": number(source.signing_previous_until),
        **_item_of_place(source),
    }


def source_of(item: Item, find: FindInstance) -> Source:
    """`find` is asked for the instance of a binding, which is unreadable without it: it says where the binding is, and
    with which credential it is asked.
    """
    source = Source(
        id=text_of(item, SORT_KEY),
        name=text_of(item, "name"),
        kind=ProviderKind(text_of(item, "kind")),
        base_url="",
        generation=whole_of(item, "generation"),
        priority=whole_of(item, "priority"),
        capabilities=_capabilities_of(item["capabilities"]["M"]),
        contract_version=whole_of(item, "contract_version"),
        created_at=number_of(item, "created_at"),
        signing=optional(item, "signing", secret_of),
        signing_previous=optional(item, "signing_previous", secret_of),
        signing_previous_until=number_of(item, "signing_previous_until"),
    )
    return _bound(source, item, find) if source.kind in INSTANCE_KINDS else _placed(source, item)


# --- where a source is, and how it is reached ---
def _item_of_place(source: Source) -> NewItem:
    if source.kind in INSTANCE_KINDS:
        return {"binding": {"M": item_of_binding(source.kind, source.config)}}
    item: NewItem = {
        "base_url": text(source.base_url),
        "allow_private_network": flag(source.allow_private_network),
    }
    if source.kind is ProviderKind.DIFY_EXTERNAL:
        item["external"] = {"M": item_of_external(source.config)}
        item["link"] = {"M": _item_of_own_link(source)}
    return item


def _placed(source: Source, item: Item) -> Source:
    source = replace(
        source, base_url=text_of(item, "base_url"), allow_private_network=flag_of(item, "allow_private_network")
    )
    if source.kind is ProviderKind.CONTRACT and source.signing is None:
        raise ValueError("signing")
    if source.kind is not ProviderKind.DIFY_EXTERNAL:
        return source
    config = external_of(item["external"]["M"])
    if exposure_of(source.id) is ExposureProfile.CUSTOMER_SAFE and not config.reaches_public_only:
        raise ValueError("reaches_public_only")
    return replace(source, config=config, link=_own_link_of(source.id, item["link"]["M"]))


def _bound(source: Source, item: Item, find: FindInstance) -> Source:
    config = binding_of(source.kind, item["binding"]["M"])
    instance = find(config.instance_id)
    if instance is None or instance.id != config.instance_id or instance.kind is not source.kind:
        raise ValueError("instance")
    if exposure_of_instance(instance.id) is not exposure_of(source.id):
        raise ValueError("exposure_profile")
    return instance.at(replace(source, config=config))


def _item_of_own_link(source: Source) -> NewItem:
    link = source.link
    if link is None or link.owner_id != source.id:
        raise ValueError("link")
    item = {"allow_plain_http": flag(link.allow_plain_http), **item_of_secret("credential", link.credential)}
    if link.private_authority is not None:
        item["private_authority"] = text(link.private_authority)
    return item


def _own_link_of(provider_id: str, item: Item) -> Link:
    return Link(
        owner_id=provider_id,
        credential=optional(item, "credential", secret_of),
        allow_plain_http=flag_of(item, "allow_plain_http"),
        private_authority=optional(item, "private_authority", text_of),
    )


def _capabilities_of(declared: Item) -> Capabilities:
    """What an older item does not mention is false."""
    return Capabilities(**{name: optional(declared, name, flag_of) or False for name in _CAPABILITIES})
