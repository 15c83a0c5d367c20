"""Builds what a search needs: both lanes, each with its own catalogue and its own keys."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from aws_lambda_powertools import Logger
from pydantic import Field

from functions.search.parts import SearchParts
from shared.adapters import aws
from shared.adapters.card_reader import DynamoCardReader
from shared.adapters.catalog import DynamoCatalog
from shared.adapters.circuits import DynamoCircuits
from shared.adapters.clock import SystemClock
from shared.adapters.credentials import DynamoCredentials
from shared.adapters.customer_card_reader import DynamoCustomerCardReader
from shared.adapters.customer_catalog import DynamoCustomerCatalog
from shared.adapters.customer_vocabularies import DynamoCustomerVocabularies
from shared.adapters.event_loop import ProcessLoop
from shared.adapters.exchanges import PinnedExchanges
from shared.adapters.front import front_of
from shared.adapters.journal import DynamoJournal
from shared.adapters.rate_limits import DynamoRateLimits
from shared.adapters.resolver import SystemResolver
from shared.adapters.row_reads import RowReads
from shared.adapters.secret_box import KmsUnsealer
from shared.adapters.services import DynamoDBClient
from shared.adapters.vocabularies import DynamoVocabularies
from shared.adapters.vocabulary_copies import VocabularyCopies
from shared.assembly.searches import agents_search, askers_of_agents, askers_of_both_lanes, guarded
from shared.domain.exposure import ExposureProfile
from shared.domain.lanes import Lane
from shared.domain.registrations import ProviderKind
from shared.observability import logger_for
from shared.ports.asker import Asker
from shared.ports.clock import Clock
from shared.ports.exchange import Exchanges
from shared.services.admit import Admit
from shared.services.admit_assistant import AdmitAssistant
from shared.services.agent_cache import MAX_AGE_S, AgentCache
from shared.services.find_cards import FindCards
from shared.services.search_for_assistant import SearchForAssistant
from shared.services.search_for_customer import SearchForCustomer
from shared.settings.cards import CardTable
from shared.settings.front import Front
from shared.settings.internal import InternalStore
from shared.settings.live import LivePools, LocalOrigins
from shared.settings.public import PublicStore


class SearchSettings(PublicStore, InternalStore, CardTable, LivePools, LocalOrigins, Front):
    """`agent_cache_s`: how long an agent's answer may be remembered; 0 = not at all."""

    agent_cache_s: float = Field(default=0, ge=0, le=MAX_AGE_S, alias="KG_AGENT_CACHE_S")


def wired(environment: Mapping[str, str]) -> SearchParts:
    settings = SearchSettings.from_environment(environment)
    dynamodb, kms, clock, logger = aws.dynamodb(), aws.kms(), SystemClock(), logger_for("search")
    reads = RowReads(dynamodb)
    admit = Admit(
        credentials=DynamoCredentials(reads, table=settings.registrations_internal),
        rate_limits=DynamoRateLimits(dynamodb, table=settings.ledger_internal, clock=clock),
        clock=clock,
    )
    exchanges = PinnedExchanges(
        resolver=SystemResolver(),
        clock=clock,
        allow_loopback_http=settings.allow_loopback_http,
        private_network_available=settings.private_network_available,
    )
    keys = {ExposureProfile.CUSTOMER_SAFE: settings.key_public, ExposureProfile.AGENT_ONLY: settings.key_internal}
    ledgers = {Lane.CUSTOMER: settings.ledger_public, Lane.AGENT: settings.ledger_internal}
    unsealers = {each: KmsUnsealer(kms, key_id=key, exposure=each, clock=clock) for each, key in keys.items()}
    of_lane = partial(
        guarded,
        circuits={lane: DynamoCircuits(dynamodb, reads=reads, table=table) for lane, table in ledgers.items()},
        journals={lane: DynamoJournal(dynamodb, table=table) for lane, table in ledgers.items()},
        clock=clock,
        logger=logger,
    )
    askers = askers_of_both_lanes(exchanges, allow_test_names=settings.allow_loopback_http, clock=clock)
    live = partial(_live, settings, dynamodb, exchanges=exchanges, clock=clock, logger=logger)
    copies = VocabularyCopies(dynamodb, table=settings.cards, clock=clock)
    return SearchParts(
        search=agents_search(
            admit=admit,
            catalog=DynamoCatalog(
                dynamodb,
                reads=reads,
                public_table=settings.registrations_public,
                internal_table=settings.registrations_internal,
            ),
            unsealers=unsealers,
            asking=of_lane(Lane.AGENT, askers_of_agents(askers, live)),
            find_cards=FindCards(
                vocabularies=DynamoVocabularies(reads, table=settings.cards, copies=copies),
                cards=DynamoCardReader(dynamodb, table=settings.cards),
                clock=clock,
                logger=logger,
            ),
            cache=AgentCache(ttl_s=settings.agent_cache_s, clock=clock),
            clock=clock,
            logger=logger,
        ),
        search_for_assistant=SearchForAssistant(
            search=SearchForCustomer(
                catalog=DynamoCustomerCatalog(dynamodb, reads=reads, table=settings.registrations_public),
                unsealer=unsealers[ExposureProfile.CUSTOMER_SAFE],
                asking=of_lane(Lane.CUSTOMER, askers),
                clock=clock,
                logger=logger,
            ),
            find_cards=FindCards(
                vocabularies=DynamoCustomerVocabularies(reads, table=settings.cards, copies=copies),
                cards=DynamoCustomerCardReader(dynamodb, table=settings.cards),
                clock=clock,
                logger=logger,
            ),
        ),
        admit_assistant=AdmitAssistant(admit=admit),
        clock=clock,
        loop=ProcessLoop(),
        front=front_of(settings, table=settings.registrations_internal, clock=clock),
        logger=logger,
    )


def _live(
    settings: SearchSettings, dynamodb: DynamoDBClient, *, exchanges: Exchanges, clock: Clock, logger: Logger
) -> Mapping[ProviderKind, Asker]:
    from functions.search.live_askers import live_askers  # when it is first needed: see there

    return live_askers(
        dynamodb,
        ledger_table=settings.ledger_internal,
        secret_ids=settings.secret_ids(),
        endpoints=settings.endpoints(),
        exchanges=exchanges,
        allow_test_names=settings.allow_loopback_http,
        clock=clock,
        logger=logger,
    )
