"""Builds both searches: each lane with its own catalogue, its own circuits and its own keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from functions.mcp.base import Base
from functions.mcp.card_wiring import CardReaders
from shared.adapters import aws
from shared.adapters.catalog import DynamoCatalog
from shared.adapters.circuits import DynamoCircuits
from shared.adapters.customer_catalog import DynamoCustomerCatalog
from shared.adapters.journal import DynamoJournal
from shared.adapters.secret_box import KmsUnsealer
from shared.assembly.searches import agents_search, askers_of_agents, askers_of_both_lanes, guarded
from shared.domain.exposure import ExposureProfile
from shared.domain.lanes import Lane
from shared.domain.registrations import ProviderKind
from shared.ports.asker import Asker
from shared.services.agent_cache import AgentCache
from shared.services.find_cards import FindCards
from shared.services.search import Search
from shared.services.search_for_assistant import SearchForAssistant
from shared.services.search_for_customer import SearchForCustomer


def searches(
    base: Base, cards: CardReaders, live: Callable[[], Mapping[ProviderKind, Asker]]
) -> tuple[Search, SearchForAssistant]:
    """`live` gives what asks the hosted services, when it is first needed."""
    settings, clock, logger = base.settings, base.clock, base.logger
    ledgers = {Lane.CUSTOMER: settings.ledger_public, Lane.AGENT: settings.ledger_internal}
    of_lane = partial(
        guarded,
        circuits={lane: DynamoCircuits(base.dynamodb, reads=base.reads, table=name) for lane, name in ledgers.items()},
        journals={lane: DynamoJournal(base.dynamodb, table=name) for lane, name in ledgers.items()},
        clock=clock,
        logger=logger,
    )
    askers = askers_of_both_lanes(base.exchanges, allow_test_names=settings.allow_loopback_http, clock=clock)
    unsealers = _unsealers(base)
    for_agents = agents_search(
        admit=base.admit,
        catalog=DynamoCatalog(
            base.dynamodb,
            reads=base.reads,
            public_table=settings.registrations_public,
            internal_table=settings.registrations_internal,
        ),
        unsealers=unsealers,
        asking=of_lane(Lane.AGENT, askers_of_agents(askers, live)),
        find_cards=FindCards(vocabularies=cards.vocabularies, cards=cards.cards, clock=clock, logger=logger),
        cache=AgentCache(ttl_s=settings.agent_cache_s, clock=clock),
        clock=clock,
        logger=logger,
    )
    for_customers = SearchForCustomer(
        catalog=DynamoCustomerCatalog(base.dynamodb, reads=base.reads, table=settings.registrations_public),
        unsealer=unsealers[ExposureProfile.CUSTOMER_SAFE],
        asking=of_lane(Lane.CUSTOMER, askers),
        clock=clock,
        logger=logger,
    )
    customer_cards = FindCards(
        vocabularies=cards.customer_vocabularies, cards=cards.customer_cards, clock=clock, logger=logger
    )
    return for_agents, SearchForAssistant(search=for_customers, find_cards=customer_cards)


def _unsealers(base: Base) -> dict[ExposureProfile, KmsUnsealer]:
    kms, settings = aws.kms(), base.settings
    keys = {ExposureProfile.CUSTOMER_SAFE: settings.key_public, ExposureProfile.AGENT_ONLY: settings.key_internal}
    return {each: KmsUnsealer(kms, key_id=key_id, exposure=each, clock=base.clock) for each, key_id in keys.items()}
