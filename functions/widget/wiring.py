"""Builds what the widget's search needs. Nothing here can name a table or key beyond the public ones."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from aws_lambda_powertools import Logger

from functions.widget.routes import WidgetParts
from shared.adapters import aws
from shared.adapters.circuits import DynamoCircuits
from shared.adapters.clock import SystemClock
from shared.adapters.credentials import DynamoCredentials
from shared.adapters.customer_catalog import DynamoCustomerCatalog
from shared.adapters.event_loop import ProcessLoop
from shared.adapters.exchanges import PinnedExchanges
from shared.adapters.front import front_of
from shared.adapters.journal import DynamoJournal
from shared.adapters.origins import DynamoOrigins
from shared.adapters.rate_limits import DynamoRateLimits
from shared.adapters.resolver import SystemResolver
from shared.adapters.row_reads import RowReads
from shared.adapters.secret_box import KmsUnsealer
from shared.domain.exposure import ExposureProfile
from shared.domain.lanes import Lane
from shared.domain.registrations import SERVER_KINDS, ProviderKind
from shared.observability import logger_for
from shared.ports.asker import Asker
from shared.ports.clock import Clock
from shared.ports.exchange import Exchanges
from shared.providers.contract import ContractRetriever
from shared.services.admit_preflight import AdmitPreflight
from shared.services.admit_widget import AdmitWidget
from shared.services.ask_signed import AskSigned
from shared.services.askers_on_demand import AskersOnDemand
from shared.services.circuit_keeper import CircuitKeeper
from shared.services.fan_out import FanOut
from shared.services.guarded_asking import GuardedAsking
from shared.services.search_for_customer import SearchForCustomer
from shared.settings.front import Front
from shared.settings.public import Network, PublicStore


class WidgetSettings(PublicStore, Network, Front):
    """The public store, the network and whether there is a front, and no more."""


def wired(environment: Mapping[str, str]) -> WidgetParts:
    settings = WidgetSettings.from_environment(environment)
    dynamodb, clock, logger = aws.dynamodb(), SystemClock(), logger_for("widget")
    reads = RowReads(dynamodb)
    return WidgetParts(
        search_for_customer=SearchForCustomer(
            catalog=DynamoCustomerCatalog(dynamodb, reads=reads, table=settings.registrations_public),
            unsealer=KmsUnsealer(
                aws.kms(), key_id=settings.key_public, exposure=ExposureProfile.CUSTOMER_SAFE, clock=clock
            ),
            asking=GuardedAsking(
                fan_out=_fan_out(settings, clock=clock, logger=logger),
                keeper=CircuitKeeper(
                    lane=Lane.CUSTOMER,
                    circuits=DynamoCircuits(dynamodb, reads=reads, table=settings.ledger_public),
                    journal=DynamoJournal(dynamodb, table=settings.ledger_public),
                    clock=clock,
                    logger=logger,
                ),
                clock=clock,
            ),
            clock=clock,
            logger=logger,
        ),
        admit_widget=AdmitWidget(
            credentials=DynamoCredentials(reads, table=settings.registrations_public),
            rate_limits=DynamoRateLimits(dynamodb, table=settings.ledger_public, clock=clock),
            clock=clock,
        ),
        admit_preflight=AdmitPreflight(
            origins=DynamoOrigins(dynamodb, table=settings.registrations_public, clock=clock)
        ),
        clock=clock,
        loop=ProcessLoop(),
        front=front_of(settings, table=settings.registrations_public, clock=clock),
        logger=logger,
    )


def _fan_out(settings: Network, *, clock: Clock, logger: Logger) -> FanOut:
    exchanges = PinnedExchanges(
        resolver=SystemResolver(),
        clock=clock,
        allow_loopback_http=settings.allow_loopback_http,
        private_network_available=settings.private_network_available,
    )
    contract = ContractRetriever(clock=clock, allow_test_names=settings.allow_loopback_http)
    signed = AskSigned(retriever=contract, exchanges=exchanges, clock=clock)
    askers = AskersOnDemand(
        {ProviderKind.CONTRACT: signed},
        later=SERVER_KINDS,
        make=partial(_servers, exchanges=exchanges, allow_test_names=settings.allow_loopback_http, clock=clock),
    )
    return FanOut(askers=askers, clock=clock, logger=logger)


def _servers(*, exchanges: Exchanges, allow_test_names: bool, clock: Clock) -> Mapping[ProviderKind, Asker]:
    from shared.assembly.server_askers import server_askers  # when one is first needed: see there

    return server_askers(exchanges=exchanges, allow_test_names=allow_test_names, clock=clock)
