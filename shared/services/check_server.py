"""Looks at a knowledge base on a self-hosted server: how the server describes it. It is not searched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from shared.domain.bindings import Binding, DifyConfig, ProductConfig, RagflowConfig, is_current
from shared.domain.deadlines import Deadline
from shared.domain.exposure import ExposureProfile
from shared.domain.health import Finding, Look
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import Warning_
from shared.domain.registrations import Link, Provider, ProviderKind, Source
from shared.domain.remote_catalogs import CatalogWish, RemoteEntry
from shared.errors import ExchangeError, ExchangeTimeout, Refused
from shared.ports.clock import Clock
from shared.ports.exchange import Exchanges
from shared.ports.knowledge_server import KnowledgeServer
from shared.ports.secret_box import Unsealer
from shared.services.looking import Looking, NotedExchange

_FOUND: Final = 200


class CheckServer:
    """Implements `ports.check.Check`. A key that may search and not list is refused its question, and that is an
    answer: the server is reached, and takes the key.
    """

    def __init__(
        self,
        *,
        servers: Mapping[ProviderKind, KnowledgeServer],
        exchanges: Exchanges,
        unsealers: Mapping[ExposureProfile, Unsealer],
        clock: Clock,
    ) -> None:
        self._servers = servers
        self._unsealers = unsealers
        self._look = Looking(Look.KNOWLEDGE_BASE, exchanges=exchanges, clock=clock)

    async def __call__(self, provider: Provider, *, deadline: Deadline) -> Finding:
        async def read(exchange: NotedExchange) -> tuple[Warning_, ...]:
            binding, link = _bound(provider.source)
            credential = await self._credential(link, self._unsealers[provider.exposure_profile])
            try:
                entry = await self._described(provider.source, binding, credential=credential, exchange=exchange)
            except ExchangeError as error:
                if _is_an_answer(error, exchange):
                    return ()
                raise
            return _noticed(binding.product, entry) if entry is not None else ()

        return await self._look(provider.source, read, deadline=deadline)

    async def _credential(self, link: Link, unsealer: Unsealer) -> str | None:
        if link.credential is None:
            return None
        return await unsealer.unseal(link.credential, owner_id=link.owner_id, purpose="instance")

    async def _described(
        self, source: Source, binding: Binding, *, credential: str | None, exchange: NotedExchange
    ) -> RemoteEntry | None:
        """None where the server describes no single one, and lists."""
        server = self._servers[source.kind]
        try:
            return await server.detail(source.base_url, binding.remote_id, credential=credential, exchange=exchange)
        except Refused as refusal:
            if refusal.code != OutcomeCode.CAPABILITY_UNAVAILABLE:
                raise
        await server.catalog(source.base_url, CatalogWish(), credential=credential, exchange=exchange)
        return None


def _bound(source: Source) -> tuple[Binding, Link]:
    """Raises `Refused` (`not_configured`) for one that no search would ask either."""
    if not isinstance(source.config, Binding) or not is_current(source.kind, source.config) or source.link is None:
        raise Refused(OutcomeCode.NOT_CONFIGURED)
    return source.config, source.link


def _is_an_answer(error: ExchangeError, exchange: NotedExchange) -> bool:
    """Also where a long list, in which old versions have to be sought, could not be read to its end."""
    is_in_a_list = isinstance(error, ExchangeTimeout) and exchange.status == _FOUND
    return error.code == OutcomeCode.FORBIDDEN or is_in_a_list


def _noticed(product: ProductConfig, entry: RemoteEntry) -> tuple[Warning_, ...]:
    """Raises `Refused` (`capability_unavailable`) for what is there and can be searched no more."""
    if entry.not_searchable is not None:
        raise Refused(OutcomeCode.CAPABILITY_UNAVAILABLE)
    return (Warning_.CAPABILITIES_CHANGED,) if _is_asked_amiss(product, entry) else ()


def _is_asked_amiss(product: ProductConfig, entry: RemoteEntry) -> bool:
    """Whether what the server said when it was bound, and is asked by, is so no more."""
    if isinstance(product, DifyConfig):
        return entry.is_economy is not None and entry.is_economy is not product.is_economy
    return isinstance(product, RagflowConfig) and product.use_kg and entry.has_graph is False
