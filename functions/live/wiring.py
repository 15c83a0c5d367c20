"""Builds what single operations at live services need: no key that opens a secret, and no customer's table."""

from __future__ import annotations

from collections.abc import Mapping

from aws_lambda_powertools import Logger
from pydantic import Field

from functions.live import alexandria_wiring
from functions.live.parts import LiveParts
from shared.adapters import aws
from shared.adapters.allowances import DynamoAllowances
from shared.adapters.circuits import DynamoCircuits
from shared.adapters.clock import SystemClock
from shared.adapters.credentials import DynamoCredentials
from shared.adapters.event_loop import ProcessLoop
from shared.adapters.exchanges import PinnedExchanges
from shared.adapters.front import front_of
from shared.adapters.internal_catalog import DynamoInternalCatalog
from shared.adapters.journal import DynamoJournal
from shared.adapters.pool_keys import SecretsManagerPoolKeys
from shared.adapters.pool_ledger import DynamoPoolLedger
from shared.adapters.quotes import DynamoQuotes
from shared.adapters.rate_limits import DynamoRateLimits
from shared.adapters.receipts import DynamoReceipts
from shared.adapters.resolver import SystemResolver
from shared.adapters.row_reads import RowReads
from shared.adapters.services import DynamoDBClient
from shared.assembly.acquiring import acquiring
from shared.domain.lanes import Lane
from shared.domain.registrations import ProviderKind
from shared.observability import logger_for
from shared.ports.clock import Clock
from shared.services.admit import Admit
from shared.services.circuit_keeper import CircuitKeeper
from shared.services.metering import Metering
from shared.settings.front import Front
from shared.settings.internal import CallerStore
from shared.settings.live import LivePools, LocalOrigins


class LiveSettings(CallerStore, LivePools, LocalOrigins, Front):
    """All that the live function reads from its environment. It does not start without its two pools."""

    pool_exa: str = Field(alias="KG_POOL_EXA", min_length=1)
    pool_firecrawl: str = Field(alias="KG_POOL_FIRECRAWL", min_length=1)


def wired(environment: Mapping[str, str]) -> LiveParts:
    """Raises `ValidationError` naming what the environment lacks."""
    settings = LiveSettings.from_environment(environment)
    dynamodb, clock, logger = aws.dynamodb(), SystemClock(), logger_for("live")
    reads, ledger = RowReads(dynamodb), settings.ledger_internal
    admit = Admit(
        credentials=DynamoCredentials(reads, table=settings.registrations_internal),
        rate_limits=DynamoRateLimits(dynamodb, table=ledger, clock=clock),
        clock=clock,
    )
    meters = _meters(settings, dynamodb, clock=clock, logger=logger)
    catalog = DynamoInternalCatalog(dynamodb, reads=reads, table=settings.registrations_internal)
    acquire = acquiring(
        meters,
        admit=admit,
        catalog=catalog,
        keeper=CircuitKeeper(
            lane=Lane.AGENT,  # of agent_only services: nothing of theirs is told to the customers' lane
            circuits=DynamoCircuits(dynamodb, reads=reads, table=ledger),
            journal=DynamoJournal(dynamodb, table=ledger),
            clock=clock,
            logger=logger,
        ),
        endpoints=settings.endpoints(),
        allow_test_names=settings.allow_loopback_http,
        clock=clock,
        logger=logger,
    )
    alexandria = alexandria_wiring.assembled(
        DynamoQuotes(dynamodb, table=ledger, clock=clock),
        DynamoReceipts(dynamodb, table=ledger, clock=clock),
        admit=admit,
        catalog=catalog,
        meters=meters,
        endpoint=settings.endpoints()[ProviderKind.FIRECRAWL],
        clock=clock,
        logger=logger,
    )
    return LiveParts(
        acquire=acquire,
        alexandria=alexandria,
        admit=admit,
        clock=clock,
        loop=ProcessLoop(),
        logger=logger,
        front=front_of(settings, table=settings.registrations_internal, clock=clock),
    )


def _meters(settings: LiveSettings, client: DynamoDBClient, *, clock: Clock, logger: Logger) -> Metering:
    ledger = settings.ledger_internal
    return Metering(
        keys=SecretsManagerPoolKeys(aws.secrets_manager(), secret_ids=settings.secret_ids(), clock=clock),
        ledger=DynamoPoolLedger(client, table=ledger, clock=clock),
        allowances=DynamoAllowances(client, table=ledger, clock=clock),
        exchanges=PinnedExchanges(
            resolver=SystemResolver(),
            clock=clock,
            allow_loopback_http=settings.allow_loopback_http,
            private_network_available=settings.private_network_available,
        ),
        clock=clock,
        logger=logger,
    )
