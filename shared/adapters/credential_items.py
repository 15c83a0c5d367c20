"""Credentials as items. When one stops working is `valid_until`: an expired credential stays until it is deleted."""

from __future__ import annotations

from typing import Final

from shared.adapters.attributes import (
    Item,
    NewItem,
    blob,
    blob_of,
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
from shared.domain.credentials import Credential, CredentialStatus
from shared.domain.exposure import CredentialClass, Grant

CREDENTIALS: Final = "CREDENTIAL"
_DIGEST_BYTES = 32


def item_of(credential: Credential) -> NewItem:
    item = {
        **key_of(CREDENTIALS, credential.id),
        "class": text(credential.credential_class),
        "name": text(credential.name),
        "digest": blob(credential.digest),
        "fingerprint": text(credential.fingerprint),
        "status": text(credential.status),
        "grants": texts(sorted(credential.grants)),
        "origins": texts(credential.origins),
        "rate_per_minute": number(credential.rate_per_minute),
        "address_rate_per_minute": number(credential.address_rate_per_minute),
        "generation": number(credential.generation),
        "created_at": number(credential.created_at),
        "updated_at": number(credential.updated_at),
    }
    if credential.allowed_providers is not None:
        item["allowed_providers"] = texts(credential.allowed_providers)
    if credential.salt:
        item["salt"] = blob(credential.salt)
    if credential.expires_at is not None:
        item["valid_until"] = number(credential.expires_at)
    return item


def credential_of(item: Item) -> Credential:
    """A grant that this version does not know makes the credential unreadable: it is never narrowed silently."""
    digest = blob_of(item, "digest")
    if len(digest) != _DIGEST_BYTES:
        raise ValueError("digest")
    return Credential(
        id=text_of(item, SORT_KEY),
        credential_class=CredentialClass(text_of(item, "class")),
        name=text_of(item, "name"),
        digest=digest,
        fingerprint=text_of(item, "fingerprint"),
        status=CredentialStatus(text_of(item, "status")),
        grants=frozenset(Grant(grant) for grant in texts_of(item, "grants")),
        origins=texts_of(item, "origins"),
        allowed_providers=optional(item, "allowed_providers", texts_of),
        rate_per_minute=whole_of(item, "rate_per_minute"),
        address_rate_per_minute=whole_of(item, "address_rate_per_minute"),
        salt=optional(item, "salt", blob_of) or b"",
        expires_at=optional(item, "valid_until", number_of),
        generation=whole_of(item, "generation"),
        created_at=number_of(item, "created_at"),
        updated_at=number_of(item, "updated_at"),
    )
