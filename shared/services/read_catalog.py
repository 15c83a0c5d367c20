"""Lists what is on a self-hosted server, for an operator."""

from __future__ import annotations

from collections.abc import Mapping

from shared.domain.preconditions import existing
from shared.domain.registrations import ProviderKind
from shared.domain.remote_catalogs import CatalogPage, CatalogWish
from shared.errors import ExchangeError
from shared.ports.clock import Clock
from shared.ports.instances import Instances
from shared.ports.knowledge_server import KnowledgeServer
from shared.services.open_server import OpenServer
from shared.services.provider_problems import problem_of_server


class ReadCatalog:
    def __init__(
        self,
        *,
        instances: Instances,
        servers: Mapping[ProviderKind, KnowledgeServer],
        open_server: OpenServer,
        clock: Clock,
    ) -> None:
        self._instances = instances
        self._servers = servers
        self._open_server = open_server
        self._clock = clock

    async def __call__(self, instance_id: str, wish: CatalogWish) -> CatalogPage:
        """Raises `NotFound` (also for a folder that is not there), `ProviderFailed`, `ProviderUnavailable`,
        `ProviderTimeout`, `Unavailable`.
        """
        instance = existing(await self._instances.get(instance_id))
        line = await self._open_server(instance)
        try:
            return await self._servers[instance.kind].catalog(
                line.base_url, wish, credential=line.credential, exchange=line.exchange()
            )
        except ExchangeError as error:
            raise problem_of_server(error, instance_id=instance.id, now=self._clock.now()) from None
