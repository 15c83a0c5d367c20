"""Builds what asks the hosted live services: for searches, and for fetching single sources. Loaded when either first
needs one: most processes never do.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from functions.mcp.base import Base
from shared.adapters import aws
from shared.adapters.allowances import DynamoAllowances
from shared.adapters.circuits import DynamoCircuits
from shared.adapters.internal_catalog import DynamoInternalCatalog
from shared.adapters.journal import DynamoJournal
from shared.adapters.pool_keys import SecretsManagerPoolKeys
from shared.adapters.pool_ledger import DynamoPoolLedger
from shared.assembly.acquiring import acquiring
from shared.assembly.live_askers import live_askers
from shared.domain.lanes import Lane
from shared.domain.registrations import ProviderKind
from shared.ports.asker import Asker
from shared.services.acquire import Acquire
from shared.services.circuit_keeper import CircuitKeeper
from shared.services.metering import Metering


class LiveServices:
    """Both over one meter, so that the keys of a pool are read once. Each is made when it is first asked for."""

    def __init__(self, base: Base) -> None:
        self._base = base

    @cached_property
    def askers(self) -> Mapping[ProviderKind, Asker]:
        """Every kind that answers searches. Firecrawl answers none."""
        settings = self._base.settings
        return live_askers(
            self._meters,
            endpoints=settings.endpoints(),
            allow_test_names=settings.allow_loopback_http,
            clock=self._base.clock,
        )

    @cached_property
    def acquire(self) -> Acquire:
        """Of agent_only services: nothing that customers may see is among what it reads."""
        base, settings = self._base, self._base.settings
        return acquiring(
            self._meters,
            admit=base.admit,
            catalog=DynamoInternalCatalog(base.dynamodb, reads=base.reads, table=settings.registrations_internal),
            keeper=CircuitKeeper(
                lane=Lane.AGENT,
                circuits=DynamoCircuits(base.dynamodb, reads=base.reads, table=settings.ledger_internal),
                journal=DynamoJournal(base.dynamodb, table=settings.ledger_internal),
                clock=base.clock,
                logger=base.logger,
            ),
            endpoints=settings.endpoints(),
            allow_test_names=settings.allow_loopback_http,
            clock=base.clock,
            logger=base.logger,
        )

    @cached_property
    def _meters(self) -> Metering:
        base, ledger = self._base, self._base.settings.ledger_internal
        secret_ids = base.settings.secret_ids()
        return Metering(
            keys=SecretsManagerPoolKeys(aws.secrets_manager(), secret_ids=secret_ids, clock=base.clock),
            ledger=DynamoPoolLedger(base.dynamodb, table=ledger, clock=base.clock),
            allowances=DynamoAllowances(base.dynamodb, table=ledger, clock=base.clock),
            exchanges=base.exchanges,
            clock=base.clock,
            logger=base.logger,
        )
