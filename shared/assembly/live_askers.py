"""What asks the hosted live services. Loaded when a search first reaches one: most processes never need it."""

from __future__ import annotations

from collections.abc import Mapping

from shared.domain.pools import POOL_OF
from shared.domain.registrations import ProviderKind
from shared.ports.asker import Asker
from shared.ports.clock import Clock
from shared.ports.live_retriever import LiveRetriever
from shared.ports.meter import Meters
from shared.providers.context7 import Context7Retriever
from shared.providers.deepwiki import DeepWikiRetriever
from shared.providers.exa import ExaRetriever
from shared.providers.mintlify import MintlifyRetriever
from shared.services.ask_live import AskLive


def live_askers(
    meters: Meters, *, endpoints: Mapping[ProviderKind, str], allow_test_names: bool, clock: Clock
) -> Mapping[ProviderKind, Asker]:
    """Every kind that answers searches. Firecrawl answers none. `endpoints`: where each service is."""
    retrievers: dict[ProviderKind, LiveRetriever] = {
        ProviderKind.CONTEXT7: Context7Retriever(clock=clock, allow_test_names=allow_test_names),
        ProviderKind.DEEPWIKI: DeepWikiRetriever(clock=clock, allow_test_names=allow_test_names),
        ProviderKind.EXA: ExaRetriever(clock=clock, allow_test_names=allow_test_names),
        ProviderKind.MINTLIFY: MintlifyRetriever(clock=clock, allow_test_names=allow_test_names),
    }
    return {
        kind: AskLive(retriever=retriever, meters=meters, pool=POOL_OF[kind], endpoint=endpoints[kind], clock=clock)
        for kind, retriever in retrievers.items()
    }
