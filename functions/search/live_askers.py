"""Builds what asks the hosted live services. Loaded when a search first reaches one: most processes never need it."""

from __future__ import annotations

from collections.abc import Mapping

from aws_lambda_powertools import Logger

from shared.adapters import aws
from shared.adapters.allowances import DynamoAllowances
from shared.adapters.pool_keys import SecretsManagerPoolKeys
from shared.adapters.pool_ledger import DynamoPoolLedger
from shared.adapters.services import DynamoDBClient
from shared.assembly import live_askers as assembly
from shared.domain.pools import Pool
from shared.domain.registrations import ProviderKind
from shared.ports.asker import Asker
from shared.ports.clock import Clock
from shared.ports.exchange import Exchanges
from shared.services.metering import Metering


def live_askers(
    client: DynamoDBClient,
    *,
    ledger_table: str,
    secret_ids: Mapping[Pool, str],
    endpoints: Mapping[ProviderKind, str],
    exchanges: Exchanges,
    allow_test_names: bool,
    clock: Clock,
    logger: Logger,
) -> Mapping[ProviderKind, Asker]:
    """Every kind that answers searches. Firecrawl answers none."""
    meters = Metering(
        keys=SecretsManagerPoolKeys(aws.secrets_manager(), secret_ids=secret_ids, clock=clock),
        ledger=DynamoPoolLedger(client, table=ledger_table, clock=clock),
        allowances=DynamoAllowances(client, table=ledger_table, clock=clock),
        exchanges=exchanges,
        clock=clock,
        logger=logger,
    )
    return assembly.live_askers(meters, endpoints=endpoints, allow_test_names=allow_test_names, clock=clock)
