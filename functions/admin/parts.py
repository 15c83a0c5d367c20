"""What the admin function works with: built by its wiring out of adapters, by tests out of stand-ins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from shared.domain.exposure import ExposureProfile
from shared.domain.registrations import ProviderKind
from shared.ports.address_check import AddressCheck
from shared.ports.audit_log import AuditLog
from shared.ports.card_store import CardStore
from shared.ports.clock import Clock
from shared.ports.credential_store import CredentialStore
from shared.ports.credentials import Credentials
from shared.ports.exchange import Exchanges
from shared.ports.idempotency import Idempotency
from shared.ports.rate_limits import RateLimits
from shared.ports.registry import Registry
from shared.ports.retriever import Retriever
from shared.ports.root_secret import RootSecret
from shared.ports.secret_box import Sealer, Unsealer


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """`allow_loopback_http` is true in the embedded default alone."""

    registry: Registry
    credential_store: CredentialStore
    card_store: CardStore
    audit_log: AuditLog
    idempotency: Idempotency
    credentials: Credentials
    root_secret: RootSecret
    rate_limits: RateLimits
    sealers: Mapping[ExposureProfile, Sealer]
    unsealers: Mapping[ExposureProfile, Unsealer]
    retrievers: Mapping[ProviderKind, Retriever]
    exchanges: Exchanges
    address_check: AddressCheck
    clock: Clock
    allow_loopback_http: bool = False
    private_network_available: bool = False
