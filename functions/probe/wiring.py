"""Builds what the probe function needs, once a process: both lanes' registrations, circuits and keys. No secret of a
pool is named here.
"""

from __future__ import annotations

from collections.abc import Mapping

from aws_lambda_powertools import Logger

from functions.probe.parts import Parts
from shared.adapters import aws
from shared.adapters.allowance_reader import DynamoAllowanceReader
from shared.adapters.card_sweeper import DynamoCardSweeper
from shared.adapters.catalog import DynamoCatalog
from shared.adapters.circuits import DynamoCircuits
from shared.adapters.clock import SystemClock
from shared.adapters.event_loop import ProcessLoop
from shared.adapters.exchanges import PinnedExchanges
from shared.adapters.health_book import DynamoHealthBook
from shared.adapters.journal import DynamoJournal
from shared.adapters.pool_ledger import DynamoPoolLedger
from shared.adapters.resolver import SystemResolver
from shared.adapters.row_reads import RowReads
from shared.adapters.secret_box import KmsUnsealer
from shared.adapters.services import DynamoDBClient
from shared.assembly.checks import Unsealers, checks
from shared.domain.exposure import ExposureProfile
from shared.domain.registrations import ProviderKind
from shared.observability import logger_for
from shared.ports.check import Check
from shared.ports.clock import Clock
from shared.services.clear_collections import ClearCollections
from shared.services.probe_looks import LookAtAll
from shared.services.probe_providers import ProbeProviders
from shared.services.tend_circuits import TendCircuits
from shared.settings.cards import CardTable
from shared.settings.internal import InternalStore
from shared.settings.live import LocalOrigins
from shared.settings.probe import ProbePace
from shared.settings.public import PublicStore


class ProbeSettings(PublicStore, InternalStore, CardTable, LocalOrigins, ProbePace):
    """All that the probe function reads from its environment."""


def wired(environment: Mapping[str, str]) -> Parts:
    """Raises `ValidationError` naming what the environment lacks."""
    settings = ProbeSettings.from_environment(environment)
    dynamodb, clock, logger = aws.dynamodb(), SystemClock(), logger_for("probe")
    return Parts(
        probe_providers=_probe_providers(settings, dynamodb, clock=clock, logger=logger),
        clear_collections=ClearCollections(sweeper=DynamoCardSweeper(dynamodb, table=settings.cards), clock=clock),
        loop=ProcessLoop(),
        logger=logger,
    )


def _probe_providers(
    settings: ProbeSettings, dynamodb: DynamoDBClient, *, clock: Clock, logger: Logger
) -> ProbeProviders:
    reads, ledger = RowReads(dynamodb), settings.ledger_internal
    return ProbeProviders(
        catalog=DynamoCatalog(
            dynamodb,
            reads=reads,
            public_table=settings.registrations_public,
            internal_table=settings.registrations_internal,
        ),
        book=DynamoHealthBook(dynamodb, table=ledger, clock=clock),
        journal=DynamoJournal(dynamodb, table=ledger),
        circuits=TendCircuits(
            agent=DynamoCircuits(dynamodb, reads=reads, table=ledger),
            customer=DynamoCircuits(dynamodb, reads=reads, table=settings.ledger_public),
            clock=clock,
            logger=logger,
        ),
        look_at_all=LookAtAll(checks=_checks(settings, dynamodb, clock=clock), clock=clock, logger=logger),
        clock=clock,
        logger=logger,
        every_s=settings.probe_every_s,
    )


def _checks(settings: ProbeSettings, dynamodb: DynamoDBClient, *, clock: Clock) -> Mapping[ProviderKind, Check]:
    return checks(
        ledger=DynamoPoolLedger(dynamodb, table=settings.ledger_internal, clock=clock),
        allowances=DynamoAllowanceReader(dynamodb, table=settings.ledger_internal),
        exchanges=PinnedExchanges(
            resolver=SystemResolver(),
            clock=clock,
            allow_loopback_http=settings.allow_loopback_http,
            private_network_available=settings.private_network_available,
        ),
        unsealers=_unsealers(settings, clock=clock),
        endpoints=settings.endpoints(),
        allow_test_names=settings.allow_loopback_http,
        clock=clock,
    )


def _unsealers(settings: ProbeSettings, *, clock: Clock) -> Unsealers:
    kms, keys = (
        aws.kms(),
        {
            ExposureProfile.CUSTOMER_SAFE: settings.key_public,
            ExposureProfile.AGENT_ONLY: settings.key_internal,
        },
    )
    return {
        exposure: KmsUnsealer(kms, key_id=key_id, exposure=exposure, clock=clock) for exposure, key_id in keys.items()
    }
