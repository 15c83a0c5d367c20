"""Removes a provider."""

from __future__ import annotations

from shared.domain.credentials import Principal
from shared.domain.preconditions import check_generation, existing
from shared.ports.registry import Registry
from shared.services.change_provider import ChangeProvider


class RemoveProvider:
    def __init__(self, *, registry: Registry, change: ChangeProvider) -> None:
        self._registry = registry
        self._change = change

    async def __call__(self, provider_id: str, *, expected_generation: int, by: Principal) -> None:
        """Raises `NotFound`, `PreconditionFailed`, `Unavailable`."""
        provider = existing(await self._registry.get(provider_id))
        check_generation(provider.generation, expected_generation)
        await self._change.remove(provider, by=by)
