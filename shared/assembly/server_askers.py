"""What asks self-hosted servers. Functions load it when a search first reaches one: most processes never need it."""

from __future__ import annotations

from collections.abc import Mapping

from shared.assembly.knowledge_servers import knowledge_servers
from shared.domain.registrations import ProviderKind
from shared.ports.asker import Asker
from shared.ports.clock import Clock
from shared.ports.exchange import Exchanges
from shared.ports.knowledge_server import ServerRetriever
from shared.providers.dify_external import DifyExternalRetriever
from shared.services.ask_server import AskServer


def server_askers(*, exchanges: Exchanges, allow_test_names: bool, clock: Clock) -> Mapping[ProviderKind, Asker]:
    """Every kind of `SERVER_KINDS`."""
    retrievers: dict[ProviderKind, ServerRetriever] = {
        **knowledge_servers(clock=clock, allow_test_names=allow_test_names),
        ProviderKind.DIFY_EXTERNAL: DifyExternalRetriever(clock=clock, allow_test_names=allow_test_names),
    }
    return {
        kind: AskServer(retriever=retriever, exchanges=exchanges, clock=clock) for kind, retriever in retrievers.items()
    }
