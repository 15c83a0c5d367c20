"""Seals a credential for the server that it is meant for, with the key by which it is known again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from shared.domain.exposure import ExposureProfile
from shared.domain.instance_rules import Clear, CredentialMutation, Keep
from shared.domain.registrations import SealedSecret
from shared.ports.credential_keys import CredentialKeys
from shared.ports.secret_box import Sealer


@dataclass(frozen=True, slots=True)
class Sealed:
    """`key` is None where the stored one stays, and where there is no credential."""

    credential: SealedSecret | None
    key: str | None


class SealCredential:
    def __init__(self, *, sealers: Mapping[ExposureProfile, Sealer], credential_keys: CredentialKeys) -> None:
        self._sealers = sealers
        self._credential_keys = credential_keys

    async def __call__(
        self,
        mutation: CredentialMutation,
        *,
        owner_id: str,
        profile: ExposureProfile,
        stored: SealedSecret | None = None,
    ) -> Sealed:
        """Raises `Unavailable`."""
        if isinstance(mutation, Keep):
            return Sealed(stored, None)
        if isinstance(mutation, Clear):
            return Sealed(None, None)
        key = await self._credential_keys.key_of(credential=mutation.value)
        sealed = await self._sealers[profile].seal(mutation.value, owner_id=owner_id, purpose="instance")
        return Sealed(sealed, key)
