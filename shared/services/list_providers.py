"""Shows registered providers, one or a page of them."""

from __future__ import annotations

from shared.domain.pages import Page
from shared.domain.preconditions import existing
from shared.domain.registrations import Provider
from shared.ports.registry import Registry


class ListProviders:
    def __init__(self, *, registry: Registry) -> None:
        self._registry = registry

    async def one(self, provider_id: str) -> Provider:
        """Raises `NotFound`, `Unavailable`."""
        return existing(await self._registry.get(provider_id))

    async def page(self, *, limit: int, after: str | None) -> Page[Provider]:
        """Ascending by id. Raises `Unavailable`."""
        return await self._registry.page(limit=limit, after=after)
