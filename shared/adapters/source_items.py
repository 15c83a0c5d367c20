"""Sources as items: the part of a registration that every lane reads."""

from __future__ import annotations

from dataclasses import fields
from typing import Final

from shared.adapters.attributes import (
    Item,
    NewItem,
    blob,
    blob_of,
    flag,
    flag_of,
    number,
    number_of,
    optional,
    text,
    text_of,
    whole_of,
)
from shared.adapters.keys import SORT_KEY, key_of
from shared.domain.registrations import Capabilities, ProviderKind, SealedSecret, Source

PROVIDERS: Final = "PROVIDER"
_SIGNING: Final = frozenset({ProviderKind.CONTRACT})  # without its secret such a row is unreadable
_CAPABILITIES = tuple(field.name for field in fields(Capabilities))


def item_of_source(source: Source) -> NewItem:
    return {
        **key_of(PROVIDERS, source.id),
        "name": text(source.name),
        "kind": text(source.kind),
        "base_url": text(source.base_url),
        "generation": number(source.generation),
        "priority": number(source.priority),
        "capabilities": {"M": {name: flag(getattr(source.capabilities, name)) for name in _CAPABILITIES}},
        "contract_version": number(source.contract_version),
        "allow_private_network": flag(source.allow_private_network),
        "created_at": number(source.created_at),
        **_item_of_secret("signing", source.signing),
        **_item_of_secret("signing_previous", source.signing_previous),
        "signing_previous_until": number(source.signing_previous_until),
    }


def source_of(item: Item) -> Source:
    kind = ProviderKind(text_of(item, "kind"))
    return Source(
        id=text_of(item, SORT_KEY),
        name=text_of(item, "name"),
        kind=kind,
        base_url=text_of(item, "base_url"),
        generation=whole_of(item, "generation"),
        priority=whole_of(item, "priority"),
        capabilities=_capabilities_of(item["capabilities"]["M"]),
        contract_version=whole_of(item, "contract_version"),
        allow_private_network=flag_of(item, "allow_private_network"),
        created_at=number_of(item, "created_at"),
        signing=_secret_of(item, "signing") if kind in _SIGNING or "signing" in item else None,
        signing_previous=_secret_of(item, "signing_previous") if "signing_previous" in item else None,
        signing_previous_until=number_of(item, "signing_previous_until"),
    )


def _capabilities_of(declared: Item) -> Capabilities:
    """What an older item does not mention is false."""
    return Capabilities(**{name: optional(declared, name, flag_of) or False for name in _CAPABILITIES})


def _item_of_secret(name: str, secret: SealedSecret | None) -> NewItem:
    if secret is None:
        return {}
    return {name: {"M": {"ciphertext": blob(secret.ciphertext), "fingerprint": text(secret.fingerprint)}}}


def _secret_of(item: Item, name: str) -> SealedSecret:
    sealed: Item = item[name]["M"]
    return SealedSecret(ciphertext=blob_of(sealed, "ciphertext"), fingerprint=text_of(sealed, "fingerprint"))
