"""Builds the adapters of the admin function, once a process. The only function that writes registrations."""

from __future__ import annotations

import os

from functions.admin.parts import Parts
from shared.adapters import aws
from shared.adapters.address_check import ResolvingAddressCheck
from shared.adapters.audit_log import DynamoAuditLog
from shared.adapters.clock import SystemClock
from shared.adapters.credential_store import DynamoCredentialStore
from shared.adapters.credentials import DynamoCredentials
from shared.adapters.event_loop import ProcessLoop
from shared.adapters.exchanges import PinnedExchanges
from shared.adapters.idempotency import DynamoIdempotency
from shared.adapters.rate_limits import DynamoRateLimits
from shared.adapters.registry import DynamoRegistry
from shared.adapters.resolver import SystemResolver
from shared.adapters.root_secret import SecretsManagerRootSecret
from shared.adapters.secret_box import KmsSealer, KmsUnsealer
from shared.domain.exposure import ExposureProfile
from shared.domain.registrations import ProviderKind
from shared.observability import logger_for
from shared.providers.contract import ContractRetriever
from shared.settings.internal import InternalStore, RootAccess
from shared.settings.public import Network, PublicStore


class AdminSettings(PublicStore, InternalStore, Network, RootAccess):
    """All that the admin function reads from its environment."""


settings = AdminSettings.from_environment(os.environ)
clock = SystemClock()
resolver = SystemResolver()
loop = ProcessLoop()
logger = logger_for("admin")
_dynamodb, _kms, _secrets_manager = aws.dynamodb(), aws.kms(), aws.secrets_manager()
_SAFE, _INTERNAL = ExposureProfile.CUSTOMER_SAFE, ExposureProfile.AGENT_ONLY

parts = Parts(
    registry=DynamoRegistry(
        _dynamodb,
        public_table=settings.registrations_public,
        internal_table=settings.registrations_internal,
        idempotency_table=settings.ledger_internal,
        clock=clock,
    ),
    credential_store=DynamoCredentialStore(
        _dynamodb,
        public_table=settings.registrations_public,
        internal_table=settings.registrations_internal,
        idempotency_table=settings.ledger_internal,
        clock=clock,
    ),
    audit_log=DynamoAuditLog(_dynamodb, table=settings.registrations_internal),
    idempotency=DynamoIdempotency(_dynamodb, table=settings.ledger_internal, clock=clock),
    credentials=DynamoCredentials(_dynamodb, table=settings.registrations_internal),
    root_secret=SecretsManagerRootSecret(_secrets_manager, secret_id=settings.root_secret, clock=clock),
    rate_limits=DynamoRateLimits(_dynamodb, table=settings.ledger_internal, clock=clock),
    sealers={
        _SAFE: KmsSealer(_kms, key_id=settings.key_public, exposure=_SAFE),
        _INTERNAL: KmsSealer(_kms, key_id=settings.key_internal, exposure=_INTERNAL),
    },
    unsealers={
        _SAFE: KmsUnsealer(_kms, key_id=settings.key_public, exposure=_SAFE, clock=clock),
        _INTERNAL: KmsUnsealer(_kms, key_id=settings.key_internal, exposure=_INTERNAL, clock=clock),
    },
    retrievers={
        ProviderKind.CONTRACT: ContractRetriever(clock=clock, allow_test_names=settings.allow_loopback_http),
    },
    exchanges=PinnedExchanges(
        resolver=resolver,
        clock=clock,
        allow_loopback_http=settings.allow_loopback_http,
        private_network_available=settings.private_network_available,
    ),
    address_check=ResolvingAddressCheck(
        resolver=resolver,
        allow_loopback_http=settings.allow_loopback_http,
        private_network_available=settings.private_network_available,
    ),
    clock=clock,
    allow_loopback_http=settings.allow_loopback_http,
    private_network_available=settings.private_network_available,
)
