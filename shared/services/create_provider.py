"""Writes a new registration with its audit entry, once, however often the request comes."""

from __future__ import annotations

from shared.domain.auditing import facts_of_provider, new_entry
from shared.domain.changes import Change
from shared.domain.credentials import Principal
from shared.domain.once import Once
from shared.domain.preconditions import existing
from shared.domain.registrations import Provider
from shared.errors import Conflict
from shared.ports.clock import Clock
from shared.ports.registry import Registry
from shared.services.replay import Replay

CREATED = 201


class CreateProvider:
    def __init__(self, *, registry: Registry, replay: Replay, clock: Clock) -> None:
        self._registry = registry
        self._replay = replay
        self._clock = clock

    async def __call__(
        self, provider: Provider, *, credential_key: str | None, by: Principal, once: Once | None
    ) -> Provider:
        """The provider as it is stored: the earlier one where a twin of this request has won the race.

        Raises `Conflict`, `Unavailable`.
        """
        try:
            await self._registry.create(
                provider, self._change(provider, by=by, once=once), credential_key=credential_key
            )
        except Conflict:
            if (earlier := await self._replay.find(once)) is None:
                raise
            return existing(await self._registry.get(earlier))
        return provider

    def _change(self, provider: Provider, *, by: Principal, once: Once | None) -> Change:
        now = self._clock.now()
        entry = new_entry(
            at=now,
            actor=by.credential_id,
            action="provider.created",
            resource=f"provider/{provider.id}",
            after=facts_of_provider(provider),
            generations=(None, provider.generation),
        )
        record = once.record(status=CREATED, resource_id=provider.id, now=now) if once else None
        return Change(audit=entry, idempotency=record)
