"""What fetches single sources for agents, put together."""

from __future__ import annotations

from collections.abc import Mapping

from aws_lambda_powertools import Logger

from shared.domain.registrations import ProviderKind
from shared.ports.clock import Clock
from shared.ports.internal_catalog import InternalCatalog
from shared.ports.live_retriever import Acquirer
from shared.ports.meter import Meters
from shared.providers.exa import ExaRetriever
from shared.providers.firecrawl import FirecrawlAcquirer
from shared.services.acquire import Acquire
from shared.services.admit import Admit
from shared.services.ask_acquirer import AskAcquirer
from shared.services.circuit_keeper import CircuitKeeper


def acquiring(
    meters: Meters,
    *,
    admit: Admit,
    catalog: InternalCatalog,
    keeper: CircuitKeeper,
    endpoints: Mapping[ProviderKind, str],
    allow_test_names: bool,
    clock: Clock,
    logger: Logger,
) -> Acquire:
    """`keeper` is the agent lane's. `endpoints`: where each service is."""
    acquirers: dict[ProviderKind, Acquirer] = {
        ProviderKind.EXA: ExaRetriever(clock=clock, allow_test_names=allow_test_names),
        ProviderKind.FIRECRAWL: FirecrawlAcquirer(clock=clock, allow_test_names=allow_test_names),
    }
    return Acquire(
        admit=admit,
        catalog=catalog,
        ask=AskAcquirer(acquirers=acquirers, endpoints=endpoints, meters=meters, clock=clock),
        keeper=keeper,
        allow_test_names=allow_test_names,
        clock=clock,
        logger=logger,
    )
