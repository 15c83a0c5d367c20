"""Writes a changed credential with its audit entry: the last step of everything that changes a credential."""

from __future__ import annotations

from dataclasses import replace

from shared.domain.auditing import NOTHING, facts_of_credential, new_entry
from shared.domain.changes import Change
from shared.domain.credentials import Credential, Principal
from shared.domain.once import Once
from shared.ports.clock import Clock
from shared.ports.credential_store import CredentialStore


class ChangeCredential:
    """`before` is what was read; the write holds only while the stored generation is still the one that was read."""

    def __init__(self, *, store: CredentialStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def __call__(
        self, before: Credential, after: Credential, *, action: str, by: Principal, once: Once | None = None
    ) -> Credential:
        """The credential as written. Raises `PreconditionFailed`, `NotFound`, `Conflict`, `Unavailable`."""
        now = self._clock.now()
        written = replace(after, generation=before.generation + 1, updated_at=now)
        entry = new_entry(
            at=now,
            actor=by.credential_id,
            action=action,
            resource=f"credential/{before.id}",
            before=facts_of_credential(before),
            after=facts_of_credential(written),
            generations=(before.generation, written.generation),
        )
        record = once.record(status=200, resource_id=before.id, now=now) if once else None
        change = Change(audit=entry, idempotency=record)
        await self._store.replace(written, expected_generation=before.generation, change=change)
        return written

    async def remove(self, before: Credential, *, by: Principal) -> None:
        """Raises like the call."""
        entry = new_entry(
            at=self._clock.now(),
            actor=by.credential_id,
            action="credential.deleted",
            resource=f"credential/{before.id}",
            before=facts_of_credential(before),
            after=NOTHING,
            generations=(before.generation, None),
        )
        await self._store.delete(before, expected_generation=before.generation, change=Change(audit=entry))
