"""The self-hosted products, one object of each."""

from __future__ import annotations

from collections.abc import Mapping

from shared.domain.registrations import ProviderKind
from shared.ports.clock import Clock
from shared.ports.knowledge_server import KnowledgeServer
from shared.providers.dify import DifyServer
from shared.providers.fastgpt import FastGptServer
from shared.providers.ragflow import RagflowServer


def knowledge_servers(*, clock: Clock, allow_test_names: bool) -> Mapping[ProviderKind, KnowledgeServer]:
    """Every kind that can be bound to: it lists, describes and searches."""
    return {
        ProviderKind.DIFY: DifyServer(clock=clock, allow_test_names=allow_test_names),
        ProviderKind.FASTGPT: FastGptServer(clock=clock, allow_test_names=allow_test_names),
        ProviderKind.RAGFLOW: RagflowServer(clock=clock, allow_test_names=allow_test_names),
    }
