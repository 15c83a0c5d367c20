"""Changes what an operator has set on a credential."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TypedDict

from shared.domain.credential_rules import (
    check_expiry,
    check_fields,
    checked_allowed_providers,
    checked_grants,
    checked_origins,
)
from shared.domain.credentials import Credential, CredentialStatus, Principal
from shared.domain.exposure import Grant
from shared.domain.preconditions import check_generation, existing
from shared.ports.clock import Clock
from shared.ports.credential_store import CredentialStore
from shared.services.change_credential import ChangeCredential


class CredentialChanges(TypedDict, total=False):
    """Only what is to change. The class is not among it."""

    name: str
    status: CredentialStatus
    grants: Collection[Grant]
    origins: tuple[str, ...]
    allowed_providers: tuple[str, ...] | None
    rate_per_minute: int
    address_rate_per_minute: int
    expires_at: float | None


class UpdateCredential:
    def __init__(
        self, *, store: CredentialStore, change: ChangeCredential, clock: Clock, allow_loopback_http: bool
    ) -> None:
        self._store = store
        self._change = change
        self._clock = clock
        self._allow_loopback_http = allow_loopback_http

    async def __call__(
        self, credential_id: str, changes: CredentialChanges, *, expected_generation: int, by: Principal
    ) -> Credential:
        """The credential as it is now; nothing is written where nothing differs.

        Raises `NotFound`, `PreconditionFailed`, `Invalid`, `Conflict` (`grant_refused`, `last_admin`), `Unavailable`.
        """
        before = existing(await self._store.get(credential_id))
        check_generation(before.generation, expected_generation)
        after = self._changed(before, changes)
        if after == before:
            return before
        return await self._change(before, after, action="credential.updated", by=by)

    def _changed(self, before: Credential, changes: CredentialChanges) -> Credential:
        kind = before.credential_class
        check_fields(kind, changes.keys())
        check_expiry(changes.get("expires_at"), now=self._clock.now())
        return replace(
            before,
            name=changes.get("name", before.name),
            status=changes.get("status", before.status),
            grants=checked_grants(kind, changes.get("grants", before.grants)),
            origins=checked_origins(
                kind, changes.get("origins", before.origins), allow_loopback_http=self._allow_loopback_http
            ),
            allowed_providers=checked_allowed_providers(changes.get("allowed_providers", before.allowed_providers)),
            rate_per_minute=changes.get("rate_per_minute", before.rate_per_minute),
            address_rate_per_minute=changes.get("address_rate_per_minute", before.address_rate_per_minute),
            expires_at=changes.get("expires_at", before.expires_at),
        )
