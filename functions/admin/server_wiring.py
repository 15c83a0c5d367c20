"""Builds what the admin function needs of self-hosted servers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from functions.admin.parts import ServerParts
from shared.adapters.credential_keys import DynamoCredentialKeys
from shared.adapters.instances import DynamoInstances
from shared.domain.registrations import ProviderKind
from shared.ports.clock import Clock
from shared.ports.exchange import Exchanges
from shared.ports.knowledge_server import KnowledgeServer, ServerRetriever
from shared.providers.dify import DifyServer
from shared.providers.dify_external import DifyExternalRetriever
from shared.providers.fastgpt import FastGptServer
from shared.providers.ragflow import RagflowServer
from shared.services.ask_server import AskServer

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


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
    servers = _servers(clock, allow_test_names=allow_test_names)
    external = DifyExternalRetriever(clock=clock, allow_test_names=allow_test_names)
    retrievers: dict[ProviderKind, ServerRetriever] = {**servers, ProviderKind.DIFY_EXTERNAL: external}
    return ServerParts(
        instances=DynamoInstances(
            dynamodb,
            public_table=public_table,
            internal_table=internal_table,
            idempotency_table=idempotency_table,
            clock=clock,
        ),
        credential_keys=DynamoCredentialKeys(dynamodb, table=internal_table),
        servers=servers,
        askers={
            kind: AskServer(retriever=retriever, exchanges=exchanges, clock=clock)
            for kind, retriever in retrievers.items()
        },
    )


def _servers(clock: Clock, *, allow_test_names: bool) -> Mapping[ProviderKind, KnowledgeServer]:
    return {
        ProviderKind.DIFY: DifyServer(clock=clock, allow_test_names=allow_test_names),
        ProviderKind.FASTGPT: FastGptServer(clock=clock, allow_test_names=allow_test_names),
        ProviderKind.RAGFLOW: RagflowServer(clock=clock, allow_test_names=allow_test_names),
    }
