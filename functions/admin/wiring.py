"""Builds the adapters of the admin function, once a process. The only function that writes registrations and
cards."""

from __future__ import annotations

from collections.abc import Mapping

from functions.admin.health_wiring import health_parts
from functions.admin.live_wiring import LiveSettings, live_parts
from functions.admin.parts import Parts
from functions.admin.server_wiring import server_parts
from shared.adapters import aws
from shared.adapters.address_check import ResolvingAddressCheck
from shared.adapters.audit_log import DynamoAuditLog
from shared.adapters.card_store import DynamoCardStore
from shared.adapters.clock import SystemClock
from shared.adapters.credential_store import DynamoCredentialStore
from shared.adapters.credentials import DynamoCredentials
from shared.adapters.exchanges import PinnedExchanges
from shared.adapters.front import front_of
from shared.adapters.idempotency import DynamoIdempotency
from shared.adapters.rate_limits import DynamoRateLimits
from shared.adapters.registry import DynamoRegistry
from shared.adapters.resolver import SystemResolver
from shared.adapters.root_secret import SecretsManagerRootSecret
from shared.adapters.row_reads import RowReads
from shared.adapters.secret_box import KmsSealer, KmsUnsealer
from shared.domain.exposure import ExposureProfile
from shared.domain.registrations import ProviderKind
from shared.observability import logger_for
from shared.providers.contract import ContractRetriever
from shared.settings.cards import CardTable
from shared.settings.front import Front
from shared.settings.internal import RootAccess
from shared.settings.public import PublicStore


class AdminSettings(PublicStore, LiveSettings, CardTable, RootAccess, Front):
    """All that the admin function reads from its environment."""


def wired(environment: Mapping[str, str]) -> Parts:
    """Raises `ValidationError` naming what the environment lacks."""
    settings = AdminSettings.from_environment(environment)
    clock, resolver = SystemClock(), SystemResolver()
    dynamodb, kms, secrets_manager = aws.dynamodb(), aws.kms(), aws.secrets_manager()
    reads, logger = RowReads(dynamodb), logger_for("admin")
    safe, internal = ExposureProfile.CUSTOMER_SAFE, ExposureProfile.AGENT_ONLY
    exchanges = PinnedExchanges(
        resolver=resolver,
        clock=clock,
        allow_loopback_http=settings.allow_loopback_http,
        private_network_available=settings.private_network_available,
    )
    return Parts(
        registry=DynamoRegistry(
            dynamodb,
            public_table=settings.registrations_public,
            internal_table=settings.registrations_internal,
            idempotency_table=settings.ledger_internal,
            clock=clock,
        ),
        credential_store=DynamoCredentialStore(
            dynamodb,
            public_table=settings.registrations_public,
            internal_table=settings.registrations_internal,
            idempotency_table=settings.ledger_internal,
            clock=clock,
        ),
        card_store=DynamoCardStore(
            dynamodb,
            table=settings.cards,
            audit_table=settings.registrations_internal,
            idempotency_table=settings.ledger_internal,
            clock=clock,
        ),
        audit_log=DynamoAuditLog(dynamodb, table=settings.registrations_internal),
        idempotency=DynamoIdempotency(dynamodb, table=settings.ledger_internal, clock=clock),
        credentials=DynamoCredentials(reads, table=settings.registrations_internal),
        root_secret=SecretsManagerRootSecret(secrets_manager, secret_id=settings.root_secret, clock=clock),
        rate_limits=DynamoRateLimits(dynamodb, table=settings.ledger_internal, clock=clock),
        sealers={
            safe: KmsSealer(kms, key_id=settings.key_public, exposure=safe),
            internal: KmsSealer(kms, key_id=settings.key_internal, exposure=internal),
        },
        unsealers={
            safe: KmsUnsealer(kms, key_id=settings.key_public, exposure=safe, clock=clock),
            internal: KmsUnsealer(kms, key_id=settings.key_internal, exposure=internal, clock=clock),
        },
        retrievers={
            ProviderKind.CONTRACT: ContractRetriever(clock=clock, allow_test_names=settings.allow_loopback_http),
        },
        live=live_parts(
            dynamodb,
            secrets_manager,
            settings=settings,
            exchanges=exchanges,
            clock=clock,
            logger=logger,
        ),
        server=server_parts(
            dynamodb,
            public_table=settings.registrations_public,
            internal_table=settings.registrations_internal,
            idempotency_table=settings.ledger_internal,
            exchanges=exchanges,
            allow_test_names=settings.allow_loopback_http,
            clock=clock,
        ),
        health=health_parts(
            dynamodb,
            reads,
            public_table=settings.ledger_public,
            internal_table=settings.ledger_internal,
            clock=clock,
            logger=logger,
        ),
        exchanges=exchanges,
        address_check=ResolvingAddressCheck(
            resolver=resolver,
            allow_loopback_http=settings.allow_loopback_http,
            private_network_available=settings.private_network_available,
        ),
        clock=clock,
        front=front_of(settings, table=settings.registrations_internal, clock=clock),
        allow_loopback_http=settings.allow_loopback_http,
        private_network_available=settings.private_network_available,
    )
