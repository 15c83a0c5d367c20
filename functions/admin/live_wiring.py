"""Builds what the admin function needs of the hosted live services."""

from __future__ import annotations

from aws_lambda_powertools import Logger

from functions.admin.parts import LiveParts
from shared.adapters.allowance_desk import DynamoAllowanceDesk
from shared.adapters.allowances import DynamoAllowances
from shared.adapters.pool_desk import DynamoPoolDesk
from shared.adapters.pool_keys import SecretsManagerPoolKeys
from shared.adapters.pool_ledger import DynamoPoolLedger
from shared.adapters.services import DynamoDBClient, SecretsManagerClient
from shared.assembly.live_askers import live_askers
from shared.domain.registrations import ProviderKind
from shared.ports.clock import Clock
from shared.ports.exchange import Exchanges
from shared.providers.firecrawl import FirecrawlAcquirer
from shared.services.metering import Metering
from shared.settings.internal import InternalStore
from shared.settings.live import LivePools, LocalOrigins


class LiveSettings(InternalStore, LocalOrigins, LivePools):
    """Where keys, rests and allowances lie, and where the services are."""


def live_parts(
    dynamodb: DynamoDBClient,
    secrets_manager: SecretsManagerClient,
    *,
    settings: LiveSettings,
    exchanges: Exchanges,
    clock: Clock,
    logger: Logger,
) -> LiveParts:
    ledger_table, audit_table = settings.ledger_internal, settings.registrations_internal
    allow_test_names, endpoints = settings.allow_loopback_http, settings.endpoints()
    keys = SecretsManagerPoolKeys(secrets_manager, secret_ids=settings.secret_ids(), clock=clock)
    ledger = DynamoPoolLedger(dynamodb, table=ledger_table, clock=clock)
    allowances = DynamoAllowances(dynamodb, table=ledger_table, clock=clock)
    meters = Metering(keys=keys, ledger=ledger, allowances=allowances, exchanges=exchanges, clock=clock, logger=logger)
    firecrawl = FirecrawlAcquirer(clock=clock, allow_test_names=allow_test_names)
    return LiveParts(
        askers=live_askers(meters, endpoints=endpoints, allow_test_names=allow_test_names, clock=clock),
        acquirers={ProviderKind.FIRECRAWL: firecrawl},
        meters=meters,
        endpoints=endpoints,
        pool_keys=keys,
        pool_ledger=ledger,
        pool_desk=DynamoPoolDesk(dynamodb, table=ledger_table, audit_table=audit_table, clock=clock),
        allowance_desk=DynamoAllowanceDesk(dynamodb, table=ledger_table, audit_table=audit_table, clock=clock),
    )
