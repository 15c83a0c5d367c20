"""Sealing and unsealing secrets under the key of one exposure profile."""

from __future__ import annotations

from typing import Protocol

from shared.domain.registrations import Purpose, SealedSecret


class Unsealer(Protocol):
    """Bound to the key of one exposure profile; no method takes a profile.

    `unseal` returns the plaintext. `owner_id` and `purpose` are part of the encryption context: a ciphertext moved
    to another registration, purpose or exposure does not open. Plaintext is kept in memory for at most 5 minutes.
    Raises `Unavailable` (`secrets_unavailable`) when the key service cannot be reached or refuses.
    """

    async def unseal(self, sealed: SealedSecret, *, owner_id: str, purpose: Purpose) -> str: ...


class Sealer(Protocol):
    """Bound to the key of one exposure profile; used by admin functions alone. Raises like `Unsealer`."""

    async def seal(self, plaintext: str, *, owner_id: str, purpose: Purpose) -> SealedSecret: ...
