"""Removes a provider."""

from __future__ import annotations

from shared.domain.credentials import Principal
from shared.domain.preconditions import check_generation
from shared.ports.registry import Registry
from shared.services.change_provider import ChangeProvider


class RemoveProvider:
    def __init__(self, *, registry: Registry, change: ChangeProvider) -> None:
        self._registry = registry
        self._change = change

    async def __call__(self, provider_id: str, *, expected_generation: int, by: Principal) -> None:
        """What is stored and cannot be read has no generation to show, and is removed whichever one is expected.

        Raises `NotFound`, `PreconditionFailed`, `Unavailable`.
        """
        provider = await self._registry.get(provider_id)
        if provider is None:
            await self._change.remove_unreadable(provider_id, by=by)
        else:
            check_generation(provider.generation, expected_generation)
            await self._change.remove(provider, by=by)
