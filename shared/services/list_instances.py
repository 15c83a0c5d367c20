"""Shows registered instances, one or a page of them."""

from __future__ import annotations

from shared.domain.instances import Instance
from shared.domain.pages import Page
from shared.domain.preconditions import existing
from shared.ports.instances import Instances


class ListInstances:
    def __init__(self, *, instances: Instances) -> None:
        self._instances = instances

    async def one(self, instance_id: str) -> Instance:
        """Raises `NotFound`, `Unavailable`."""
        return existing(await self._instances.get(instance_id))

    async def page(self, *, limit: int, after: str | None) -> Page[Instance]:
        """Ascending by id. Raises `Unavailable`."""
        return await self._instances.page(limit=limit, after=after)
