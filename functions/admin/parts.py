"""What the admin function works with: built by its wiring out of adapters, by tests out of stand-ins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from shared.domain.circuits import Lane
from shared.domain.exposure import ExposureProfile
from shared.domain.registrations import ProviderKind
from shared.ports.address_check import AddressCheck
from shared.ports.allowances import AllowanceDesk
from shared.ports.asker import Asker
from shared.ports.audit_log import AuditLog
from shared.ports.card_store import CardStore
from shared.ports.circuits import CircuitStore
from shared.ports.clock import Clock
from shared.ports.credential_keys import CredentialKeys
from shared.ports.credential_store import CredentialStore
from shared.ports.credentials import Credentials
from shared.ports.exchange import Exchanges
from shared.ports.front_door import FrontDoor
from shared.ports.health_book import HealthReader
from shared.ports.idempotency import Idempotency
from shared.ports.instances import Instances
from shared.ports.journal import JournalReader
from shared.ports.knowledge_server import KnowledgeServer
from shared.ports.live_retriever import Acquirer
from shared.ports.meter import Meters
from shared.ports.pool_desk import PoolDesk
from shared.ports.pool_keys import PoolKeys
from shared.ports.pool_ledger import PoolLedger
from shared.ports.rate_limits import RateLimits
from shared.ports.registry import Registry
from shared.ports.retriever import Retriever
from shared.ports.root_secret import RootSecret
from shared.ports.secret_box import Sealer, Unsealer
from shared.services.put_back import PutBack


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveParts:
    """What concerns the hosted live services. `askers` and `acquirers` reach them through meters alone; `endpoints`
    says where they are.
    """

    askers: Mapping[ProviderKind, Asker]
    acquirers: Mapping[ProviderKind, Acquirer]
    meters: Meters
    endpoints: Mapping[ProviderKind, str]
    pool_keys: PoolKeys
    pool_ledger: PoolLedger
    pool_desk: PoolDesk
    allowance_desk: AllowanceDesk


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerParts:
    """What concerns self-hosted servers. `servers` are the products that have instances; `askers` are theirs, and that
    of servers which stand alone.
    """

    instances: Instances
    credential_keys: CredentialKeys
    servers: Mapping[ProviderKind, KnowledgeServer]
    askers: Mapping[ProviderKind, Asker]


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthParts:
    """What says how providers are, and puts them back into use."""

    circuits: Mapping[Lane, CircuitStore]
    histories: Mapping[Lane, JournalReader]
    looks: HealthReader
    put_back: PutBack


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
    live: LiveParts
    server: ServerParts
    health: HealthParts
    exchanges: Exchanges
    address_check: AddressCheck
    clock: Clock
    front: FrontDoor | None = None
    allow_loopback_http: bool = False
    private_network_available: bool = False
