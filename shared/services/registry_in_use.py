"""The registry as operators see it: what a circuit has taken out of use has the status `auto_disabled`."""

from __future__ import annotations

from dataclasses import replace

from shared.domain.changes import Change
from shared.domain.health_views import as_stored, in_use
from shared.domain.pages import Page
from shared.domain.registrations import Provider
from shared.ports.circuits import CircuitStore
from shared.ports.registry import Registry
from shared.services.at_once import both


class RegistryInUse:
    """Implements `ports.registry.Registry` over another one. The status that counts is read and never stored: a
    registration that is changed while it is out of use stays on, and out of use.
    """

    def __init__(self, registry: Registry, *, agent_circuits: CircuitStore) -> None:
        self._registry = registry
        self._circuits = agent_circuits

    async def get(self, provider_id: str) -> Provider | None:
        provider, known = await both(self._registry.get(provider_id), self._circuits.read())
        return None if provider is None else in_use(provider, known.circuits)

    async def page(self, *, limit: int, after: str | None) -> Page[Provider]:
        page, known = await both(self._registry.page(limit=limit, after=after), self._circuits.read())
        return replace(page, items=tuple(in_use(each, known.circuits) for each in page.items))

    async def create(self, provider: Provider, change: Change, *, credential_key: str | None = None) -> None:
        await self._registry.create(as_stored(provider), change, credential_key=credential_key)

    async def replace(
        self, provider: Provider, *, expected_generation: int, change: Change, credential_key: str | None = None
    ) -> None:
        await self._registry.replace(
            as_stored(provider), expected_generation=expected_generation, change=change, credential_key=credential_key
        )

    async def delete(self, provider: Provider, *, expected_generation: int, change: Change) -> None:
        await self._registry.delete(provider, expected_generation=expected_generation, change=change)

    async def delete_unreadable(self, provider_id: str, *, change: Change) -> None:
        await self._registry.delete_unreadable(provider_id, change=change)
