"""Describes one knowledge base on a self-hosted server, for an operator."""

from __future__ import annotations

from collections.abc import Mapping

from shared.domain.preconditions import existing
from shared.domain.registrations import ProviderKind
from shared.domain.remote_catalogs import RemoteEntry
from shared.errors import ExchangeError
from shared.ports.clock import Clock
from shared.ports.instances import Instances
from shared.ports.knowledge_server import KnowledgeServer
from shared.services.open_server import OpenServer
from shared.services.provider_problems import problem_of_server


class ReadRemote:
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

    async def __call__(self, instance_id: str, remote_id: str) -> RemoteEntry:
        """Raises `NotFound` (also for an id that the server does not know or that its key may not see),
        `ProviderFailed`, `ProviderUnavailable`, `ProviderTimeout`, `Unavailable`.
        """
        instance = existing(await self._instances.get(instance_id))
        line = await self._open_server(instance)
        try:
            return await self._servers[instance.kind].detail(
                line.base_url, remote_id, credential=line.credential, exchange=line.exchange()
            )
        except ExchangeError as error:
            raise problem_of_server(error, instance_id=instance.id, now=self._clock.now()) from None
