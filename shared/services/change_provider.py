"""Writes a changed registration with its audit entry: the last step of everything that changes a provider."""

from __future__ import annotations

from dataclasses import replace

from shared.domain.auditing import NOTHING, facts_of_provider, new_entry
from shared.domain.changes import Change
from shared.domain.circuits import revision_of
from shared.domain.credentials import Principal
from shared.domain.once import Once
from shared.domain.registrations import Provider, ProviderStatus
from shared.ports.clock import Clock
from shared.ports.registry import Registry
from shared.services.put_back import PutBack


class ChangeProvider:
    """`before` is what was read; the write holds only while the stored generation is still the one that was read.
    A provider that is turned on is put back into use; of any other, what was asked before counts for its circuits no
    more.
    """

    def __init__(self, *, registry: Registry, put_back: PutBack, clock: Clock) -> None:
        self._registry = registry
        self._put_back = put_back
        self._clock = clock

    async def __call__(
        self,
        before: Provider,
        after: Provider,
        *,
        action: str,
        by: Principal,
        once: Once | None = None,
        credential_key: str | None = None,
    ) -> Provider:
        """The provider as written. `credential_key` is for one that has got a credential of its own, another than
        before. Raises `Conflict`, `PreconditionFailed`, `NotFound`, and `Unavailable`, also for one that is written and
        may still be out of use.
        """
        now = self._clock.now()
        written = replace(after.with_source(generation=before.generation + 1), updated_at=now)
        entry = new_entry(
            at=now,
            actor=by.credential_id,
            action=action,
            resource=f"provider/{before.id}",
            before=facts_of_provider(before),
            after=facts_of_provider(written),
            generations=(before.generation, written.generation),
        )
        record = once.record(status=200, resource_id=before.id, now=now) if once else None
        change = Change(audit=entry, idempotency=record)
        await self._registry.replace(
            written, expected_generation=before.generation, change=change, credential_key=credential_key
        )
        if written.status is ProviderStatus.ACTIVE and before.status is not ProviderStatus.ACTIVE:
            await self._put_back(written.id, revision=revision_of(written.source))
        else:
            await self._put_back.begin_anew(written.id, revision=revision_of(written.source))
        return written

    async def remove(self, before: Provider, *, by: Principal) -> None:
        """Raises like the call."""
        entry = new_entry(
            at=self._clock.now(),
            actor=by.credential_id,
            action="provider.deleted",
            resource=f"provider/{before.id}",
            before=facts_of_provider(before),
            after=NOTHING,
            generations=(before.generation, None),
        )
        await self._registry.delete(before, expected_generation=before.generation, change=Change(audit=entry))
        await self._put_back.forget(before.id)

    async def remove_unreadable(self, provider_id: str, *, by: Principal) -> None:
        """Nothing is known of it but its id. Raises like the call."""
        entry = new_entry(
            at=self._clock.now(), actor=by.credential_id, action="provider.deleted", resource=f"provider/{provider_id}"
        )
        await self._registry.delete_unreadable(provider_id, change=Change(audit=entry))
        await self._put_back.forget(provider_id)
