"""Builds what the admin function needs of the hosted live services."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from aws_lambda_powertools import Logger

from functions.admin.parts import LiveParts
from shared.adapters.allowance_desk import DynamoAllowanceDesk
from shared.adapters.allowances import DynamoAllowances
from shared.adapters.pool_desk import DynamoPoolDesk
from shared.adapters.pool_keys import SecretsManagerPoolKeys
from shared.adapters.pool_ledger import DynamoPoolLedger
from shared.domain.pools import POOL_OF
from shared.domain.registrations import ProviderKind
from shared.ports.clock import Clock
from shared.ports.exchange import Exchanges
from shared.ports.live_retriever import LiveRetriever
from shared.providers.context7 import Context7Retriever
from shared.providers.deepwiki import DeepWikiRetriever
from shared.providers.exa import ExaRetriever
from shared.providers.firecrawl import FirecrawlAcquirer
from shared.providers.mintlify import MintlifyRetriever
from shared.services.ask_live import AskLive
from shared.services.metering import Metering
from shared.settings.internal import InternalStore
from shared.settings.live import LivePools, LocalOrigins

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_secretsmanager import SecretsManagerClient


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
        askers={
            kind: AskLive(retriever=retriever, meters=meters, pool=POOL_OF[kind], endpoint=endpoints[kind], clock=clock)
            for kind, retriever in _retrievers(clock, allow_test_names=allow_test_names).items()
        },
        acquirers={ProviderKind.FIRECRAWL: firecrawl},
        meters=meters,
        endpoints=endpoints,
        pool_keys=keys,
        pool_ledger=ledger,
        pool_desk=DynamoPoolDesk(dynamodb, table=ledger_table, audit_table=audit_table, clock=clock),
        allowance_desk=DynamoAllowanceDesk(dynamodb, table=ledger_table, audit_table=audit_table, clock=clock),
    )


def _retrievers(clock: Clock, *, allow_test_names: bool) -> Mapping[ProviderKind, LiveRetriever]:
    return {
        ProviderKind.CONTEXT7: Context7Retriever(clock=clock, allow_test_names=allow_test_names),
        ProviderKind.DEEPWIKI: DeepWikiRetriever(clock=clock, allow_test_names=allow_test_names),
        ProviderKind.EXA: ExaRetriever(clock=clock, allow_test_names=allow_test_names),
        ProviderKind.MINTLIFY: MintlifyRetriever(clock=clock, allow_test_names=allow_test_names),
    }
