"""Proves that a provider on a self-hosted server can be asked as it is set, by a real search, before it is saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from shared.domain.bindings import ADAPTER_VERSION, CONFIG_VERSION, Binding
from shared.domain.bound_facts import check_graph, check_searchable, with_facts
from shared.domain.instances import Instance
from shared.domain.outcomes import outcome_code_of
from shared.domain.passages import Question
from shared.domain.registrations import Provider, ProviderKind
from shared.domain.remote_catalogs import RemoteEntry
from shared.errors import Conflict, ExchangeError, Invalid, Violation
from shared.ports.asker import Asker
from shared.ports.knowledge_server import KnowledgeServer
from shared.services.describe_remote import described
from shared.services.open_server import OpenServer, ServerLine
from shared.services.try_server import TryServer


class ProveServer:
    """Zero hits are a success. What a search brings is not kept."""

    def __init__(
        self,
        *,
        servers: Mapping[ProviderKind, KnowledgeServer],
        askers: Mapping[ProviderKind, Asker],
        open_server: OpenServer,
        try_server: TryServer,
    ) -> None:
        self._servers = servers
        self._askers = askers
        self._open_server = open_server
        self._try_server = try_server

    async def binding(self, provider: Provider, binding: Binding, query: str, *, instance: Instance) -> Provider:
        """`provider` bound as `binding` says, with what the server says of the knowledge base, reached as `instance`
        is now. Searched within what is left of one ceiling.

        Raises `Conflict` (`test_failed`, `not_searchable`, `graph_not_built`), `Invalid` for a query that is too long,
        `Unavailable`.
        """
        self._check_length(provider.source.kind, query)
        line = await self._open_server(instance)
        entry = await self._described(binding.remote_id, line, kind=instance.kind)
        check_searchable(entry)
        bound = _bound(binding, entry, kind=instance.kind)
        check_graph(bound.product)
        proven = replace(provider, source=instance.at(replace(provider.source, config=bound)))
        await self._searched(proven, query, line=line)
        return replace(proven, needs_test=False)

    async def other(self, provider: Provider, query: str) -> Provider:
        """A provider with an address and a credential of its own. Raises like `binding`."""
        self._check_length(provider.source.kind, query)
        await self._searched(provider, query)
        return replace(provider, needs_test=False)

    def _check_length(self, kind: ProviderKind, query: str) -> None:
        most = self._askers[kind].limits.query_characters
        if len(query) > most:
            violation = Violation("/testQuery", f"A provider of this kind takes at most {most:,} characters.")
            raise Invalid("Correct the fields named in `errors`.", violations=(violation,))

    async def _described(self, remote_id: str, line: ServerLine, *, kind: ProviderKind) -> RemoteEntry:
        try:
            return await described(self._servers[kind], remote_id, line=line)
        except ExchangeError as error:
            raise _failed(outcome_code_of(error)) from None

    async def _searched(self, provider: Provider, query: str, *, line: ServerLine | None = None) -> None:
        tried = await self._try_server(provider, Question(query=query), within=line.deadline if line else None)
        if tried.error_code is not None:
            raise _failed(tried.error_code)


def _bound(binding: Binding, entry: RemoteEntry, *, kind: ProviderKind) -> Binding:
    """As the server writes its id and name, and as the adapter of today asks it."""
    return replace(
        binding,
        remote_id=entry.id,
        remote_name=entry.name or entry.id,
        product=with_facts(binding.product, entry),
        adapter_version=ADAPTER_VERSION[kind],
        config_version=CONFIG_VERSION,
    )


def _failed(outcome: str) -> Conflict:
    return Conflict(
        "The server was asked and gave nothing usable, so nothing was saved.",
        code="test_failed",
        facts={"outcome": outcome},
    )
