"""Sealed secrets as parts of items."""

from __future__ import annotations

from shared.adapters.attributes import Item, NewItem, blob, blob_of, text, text_of
from shared.domain.registrations import SealedSecret


def item_of_secret(name: str, secret: SealedSecret | None) -> NewItem:
    """Nothing at all where there is no secret."""
    if secret is None:
        return {}
    return {name: {"M": {"ciphertext": blob(secret.ciphertext), "fingerprint": text(secret.fingerprint)}}}


def secret_of(item: Item, name: str) -> SealedSecret:
    sealed: Item = item[name]["M"]
    return SealedSecret(ciphertext=blob_of(sealed, "ciphertext"), fingerprint=text_of(sealed, "fingerprint"))
