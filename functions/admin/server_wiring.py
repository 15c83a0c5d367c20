"""Builds what the admin function needs of self-hosted servers."""

from __future__ import annotations

from functions.admin.parts import ServerParts
from shared.adapters.credential_keys import DynamoCredentialKeys
from shared.adapters.instances import DynamoInstances
from shared.adapters.services import DynamoDBClient
from shared.assembly.knowledge_servers import knowledge_servers
from shared.assembly.server_askers import server_askers
from shared.ports.clock import Clock
from shared.ports.exchange import Exchanges


def server_parts(
    dynamodb: DynamoDBClient,
    *,
    public_table: str,
    internal_table: str,
    idempotency_table: str,
    exchanges: Exchanges,
    allow_test_names: bool,
    clock: Clock,
) -> ServerParts:
    return ServerParts(
        instances=DynamoInstances(
            dynamodb,
            public_table=public_table,
            internal_table=internal_table,
            idempotency_table=idempotency_table,
            clock=clock,
        ),
        credential_keys=DynamoCredentialKeys(dynamodb, table=internal_table),
        servers=knowledge_servers(clock=clock, allow_test_names=allow_test_names),
        askers=server_askers(exchanges=exchanges, allow_test_names=allow_test_names, clock=clock),
    )
