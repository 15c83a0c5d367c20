"""The parts of which an agent's search and an assistant's are put together, each lane over its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

from aws_lambda_powertools import Logger

from shared.domain.cards import Card
from shared.domain.exposure import ExposureProfile
from shared.domain.lanes import Lane
from shared.domain.live_configs import SEARCHING_KINDS
from shared.domain.registrations import SERVER_KINDS, ProviderKind
from shared.ports.asker import Asker
from shared.ports.catalog import Catalog
from shared.ports.circuits import CircuitStore
from shared.ports.clock import Clock
from shared.ports.exchange import Exchanges
from shared.ports.journal import Journal
from shared.ports.secret_box import Unsealer
from shared.providers.contract import ContractRetriever
from shared.services.admit import Admit
from shared.services.agent_cache import AgentCache
from shared.services.ask_signed import AskSigned
from shared.services.askers_on_demand import AskersOnDemand
from shared.services.circuit_keeper import CircuitKeeper
from shared.services.fan_out import FanOut
from shared.services.find_cards import FindCards
from shared.services.guarded_asking import GuardedAsking
from shared.services.open_search import OpenSearch
from shared.services.search import Search

Askers: TypeAlias = "Mapping[ProviderKind, Asker]"
Unsealers: TypeAlias = "Mapping[ExposureProfile, Unsealer]"


def askers_of_both_lanes(exchanges: Exchanges, *, allow_test_names: bool, clock: Clock) -> Askers:
    """Of all kinds that either lane may ask. Self-hosted servers are made when one is first needed."""
    contract = ContractRetriever(clock=clock, allow_test_names=allow_test_names)
    signed = AskSigned(retriever=contract, exchanges=exchanges, clock=clock)
    make = partial(_servers, exchanges, allow_test_names=allow_test_names, clock=clock)
    return AskersOnDemand({ProviderKind.CONTRACT: signed}, later=SERVER_KINDS, make=make)


def askers_of_agents(of_both_lanes: Askers, live: Callable[[], Askers]) -> Askers:
    """With the hosted services, which `live` gives when one is first needed."""
    return AskersOnDemand(of_both_lanes, later=SEARCHING_KINDS, make=live)


def guarded(
    lane: Lane,
    askers: Askers,
    *,
    circuits: Mapping[Lane, CircuitStore],
    journals: Mapping[Lane, Journal],
    clock: Clock,
    logger: Logger,
) -> GuardedAsking:
    """What customers meet is kept apart: only being taken out of use is told to their lane, by the agents'."""
    keeper = CircuitKeeper(
        lane=lane,
        circuits=circuits[lane],
        journal=journals[lane],
        customer_circuits=circuits[Lane.CUSTOMER] if lane is Lane.AGENT else None,
        clock=clock,
        logger=logger,
    )
    return GuardedAsking(fan_out=FanOut(askers=askers, clock=clock, logger=logger), keeper=keeper, clock=clock)


def agents_search(
    *,
    admit: Admit,
    catalog: Catalog,
    unsealers: Unsealers,
    asking: GuardedAsking,
    find_cards: FindCards[Card],
    cache: AgentCache,
    clock: Clock,
    logger: Logger,
) -> Search:
    opening = OpenSearch(admit=admit, catalog=catalog, asking=asking, clock=clock, logger=logger)
    return Search(
        opening=opening,
        unsealers=unsealers,
        asking=asking,
        find_cards=find_cards,
        cache=cache,
        clock=clock,
        logger=logger,
    )


def _servers(exchanges: Exchanges, *, allow_test_names: bool, clock: Clock) -> Askers:
    from shared.assembly.server_askers import server_askers  # when one is first needed: see there

    return server_askers(exchanges=exchanges, allow_test_names=allow_test_names, clock=clock)
