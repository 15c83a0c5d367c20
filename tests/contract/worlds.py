"""The same set of adapters over each engine: the fakes, the embedded AWS backend, and moto inside this process.

A suite asks a world for an adapter and never for the engine under it. moto is not atomic, so what needs several
writers at once is tried on the embedded backend alone, in the tests beside these suites.
"""

from __future__ import annotations

import os
from typing import Protocol

import boto3

from shared.adapters import aws
from shared.adapters.allowance_desk import DynamoAllowanceDesk
from shared.adapters.allowances import DynamoAllowances
from shared.adapters.audit_log import DynamoAuditLog
from shared.adapters.card_reader import DynamoCardReader
from shared.adapters.card_store import DynamoCardStore
from shared.adapters.catalog import DynamoCatalog
from shared.adapters.circuits import DynamoCircuits
from shared.adapters.credential_keys import DynamoCredentialKeys
from shared.adapters.credential_store import DynamoCredentialStore
from shared.adapters.credentials import DynamoCredentials
from shared.adapters.customer_card_reader import DynamoCustomerCardReader
from shared.adapters.customer_catalog import DynamoCustomerCatalog
from shared.adapters.customer_vocabularies import DynamoCustomerVocabularies
from shared.adapters.health_book import DynamoHealthBook
from shared.adapters.health_reader import DynamoHealthReader
from shared.adapters.idempotency import DynamoIdempotency
from shared.adapters.instances import DynamoInstances
from shared.adapters.internal_catalog import DynamoInternalCatalog
from shared.adapters.journal import DynamoJournal
from shared.adapters.journal_reader import DynamoJournalReader
from shared.adapters.origins import DynamoOrigins
from shared.adapters.pool_desk import DynamoPoolDesk
from shared.adapters.pool_keys import SecretsManagerPoolKeys
from shared.adapters.pool_ledger import DynamoPoolLedger
from shared.adapters.quotes import DynamoQuotes
from shared.adapters.rate_limits import DynamoRateLimits
from shared.adapters.receipts import DynamoReceipts
from shared.adapters.registry import DynamoRegistry
from shared.adapters.root_secret import SecretsManagerRootSecret
from shared.adapters.row_reads import RowReads
from shared.adapters.secret_box import KmsSealer, KmsUnsealer
from shared.adapters.service_client import Service, ServiceClient
from shared.adapters.service_places import place_of, region_in
from shared.adapters.services import DYNAMODB, KMS, SECRETS_MANAGER, DynamoDBClient, KMSClient, SecretsManagerClient
from shared.adapters.vocabularies import DynamoVocabularies
from shared.adapters.vocabulary_copies import VocabularyCopies
from shared.domain.answer_bodies import object_in
from shared.domain.circuits import Lane
from shared.domain.exposure import ExposureProfile
from shared.domain.pools import KEYED_POOLS, Pool
from shared.ports.allowances import AllowanceDesk, Allowances
from shared.ports.audit_log import AuditLog
from shared.ports.card_reader import CardReader
from shared.ports.card_store import CardStore
from shared.ports.catalog import Catalog
from shared.ports.circuits import CircuitStore
from shared.ports.credential_keys import CredentialKeys
from shared.ports.credential_store import CredentialStore
from shared.ports.credentials import Credentials
from shared.ports.customer_card_reader import CustomerCardReader
from shared.ports.customer_catalog import CustomerCatalog
from shared.ports.customer_vocabularies import CustomerVocabularies
from shared.ports.health_book import HealthBook, HealthReader
from shared.ports.idempotency import Idempotency
from shared.ports.instances import Instances
from shared.ports.internal_catalog import InternalCatalog
from shared.ports.journal import Journal, JournalReader
from shared.ports.origins import Origins
from shared.ports.pool_desk import PoolDesk
from shared.ports.pool_keys import PoolKeys
from shared.ports.pool_ledger import PoolLedger
from shared.ports.quotes import Quotes
from shared.ports.rate_limits import RateLimits
from shared.ports.receipts import Receipts
from shared.ports.registry import Registry
from shared.ports.root_secret import RootSecret
from shared.ports.secret_box import Sealer, Unsealer
from shared.ports.vocabularies import Vocabularies
from tests.contract.far_ahead import NOW
from tests.support import alexandria_fakes, card_fakes, desk_fakes, fakes, health_fakes, live_fakes, server_fakes
from tests.support.card_fakes import Shelf
from tests.support.fakes import FakeClock, FakeStore
from tests.support.service_calls import Heard, WireTo, heard_by


class World(Protocol):
    """Every call gives a new adapter over the same state, as a new process would have it."""

    clock: FakeClock

    def registry(self) -> Registry: ...
    def instances(self) -> Instances: ...
    def credential_keys(self) -> CredentialKeys: ...
    def catalog(self) -> Catalog: ...
    def customer_catalog(self) -> CustomerCatalog: ...
    def internal_catalog(self) -> InternalCatalog: ...
    def credential_store(self) -> CredentialStore: ...
    def credentials(self) -> Credentials: ...
    def widget_credentials(self) -> Credentials: ...
    def origins(self) -> Origins: ...
    def rate_limits(self) -> RateLimits: ...
    def audit_log(self) -> AuditLog: ...
    def idempotency(self) -> Idempotency: ...
    def sealer(self, exposure: ExposureProfile) -> Sealer: ...
    def unsealer(self, exposure: ExposureProfile) -> Unsealer: ...
    def root_secret(self) -> RootSecret: ...
    def keep_root_secret(self, text: str) -> None: ...
    def card_store(self) -> CardStore: ...
    def card_reader(self) -> CardReader: ...
    def customer_card_reader(self) -> CustomerCardReader: ...
    def vocabularies(self) -> Vocabularies: ...
    def customer_vocabularies(self) -> CustomerVocabularies: ...
    def pool_keys(self) -> PoolKeys: ...
    def keep_pool_secret(self, pool: Pool, text: str) -> None: ...
    def pool_ledger(self) -> PoolLedger: ...
    def pool_desk(self) -> PoolDesk: ...
    def allowances(self) -> Allowances: ...
    def allowance_desk(self) -> AllowanceDesk: ...
    def quotes(self) -> Quotes: ...
    def receipts(self) -> Receipts: ...
    def circuits(self, lane: Lane) -> CircuitStore: ...
    def journal(self, lane: Lane) -> Journal: ...
    def journal_reader(self, lane: Lane) -> JournalReader: ...
    def health_book(self) -> HealthBook: ...
    def health_reader(self) -> HealthReader: ...


class FakeWorld:
    def __init__(self) -> None:
        self.clock = FakeClock(NOW)
        self._store = FakeStore(clock=self.clock)
        self._shelf = Shelf(self._store)
        self._limits = fakes.FakeRateLimits(clock=self.clock)
        self._root = fakes.FakeRootSecret()
        self._pool_keys = live_fakes.FakePoolKeys()
        self._pool_ledger = live_fakes.FakePoolLedger(clock=self.clock)
        self._allowances = live_fakes.FakeAllowances(clock=self.clock)
        self._quotes = alexandria_fakes.FakeQuotes(clock=self.clock)
        self._receipts = alexandria_fakes.FakeReceipts(clock=self.clock)
        self._circuits = {lane: health_fakes.FakeCircuitStore() for lane in Lane}
        self._journals = {lane: health_fakes.FakeJournal(self.clock) for lane in Lane}
        self._book = health_fakes.FakeHealthBook(self.clock)

    def registry(self) -> Registry:
        return fakes.FakeRegistry(self._store)

    def instances(self) -> Instances:
        return server_fakes.FakeInstances(self._store)

    def credential_keys(self) -> CredentialKeys:
        return server_fakes.FakeCredentialKeys()

    def catalog(self) -> Catalog:
        return fakes.FakeCatalog(self._store.registrations.values())

    def customer_catalog(self) -> CustomerCatalog:
        return fakes.FakeCustomerCatalog(self._store.customer_sources())

    def internal_catalog(self) -> InternalCatalog:
        return fakes.FakeCatalog(self._store.internal_providers())

    def credential_store(self) -> CredentialStore:
        return fakes.FakeCredentialStore(self._store)

    def credentials(self) -> Credentials:
        return fakes.FakeCredentials(self._store.internal_credentials())

    def widget_credentials(self) -> Credentials:
        return fakes.FakeCredentials(self._store.widget_credentials())

    def origins(self) -> Origins:
        return fakes.FakeOrigins(self._store.credentials.values(), clock=self.clock)

    def rate_limits(self) -> RateLimits:
        return self._limits

    def audit_log(self) -> AuditLog:
        return fakes.FakeAuditLog(self._store)

    def idempotency(self) -> Idempotency:
        return fakes.FakeIdempotency(self._store)

    def sealer(self, exposure: ExposureProfile) -> Sealer:
        return fakes.FakeSealer(exposure=exposure)

    def unsealer(self, exposure: ExposureProfile) -> Unsealer:
        return fakes.FakeUnsealer(exposure=exposure)

    def root_secret(self) -> RootSecret:
        return self._root

    def keep_root_secret(self, text: str) -> None:
        self._root.secret = text

    def card_store(self) -> CardStore:
        return card_fakes.FakeCardStore(self._shelf)

    def card_reader(self) -> CardReader:
        return card_fakes.FakeCardReader(self._shelf)

    def customer_card_reader(self) -> CustomerCardReader:
        return card_fakes.FakeCustomerCardReader(self._shelf)

    def vocabularies(self) -> Vocabularies:
        return card_fakes.FakeVocabularies(self._shelf)

    def customer_vocabularies(self) -> CustomerVocabularies:
        return card_fakes.FakeCustomerVocabularies(self._shelf)

    def pool_keys(self) -> PoolKeys:
        return self._pool_keys

    def keep_pool_secret(self, pool: Pool, text: str) -> None:
        entries = object_in(text.encode()) or {}
        self._pool_keys.entries[pool] = entries

    def pool_ledger(self) -> PoolLedger:
        return self._pool_ledger

    def pool_desk(self) -> PoolDesk:
        return desk_fakes.FakePoolDesk(self._pool_ledger, self._store)

    def allowances(self) -> Allowances:
        return self._allowances

    def allowance_desk(self) -> AllowanceDesk:
        return live_fakes.FakeAllowanceDesk(self._allowances, self._store)

    def quotes(self) -> Quotes:
        return self._quotes

    def receipts(self) -> Receipts:
        return self._receipts

    def circuits(self, lane: Lane) -> CircuitStore:
        return self._circuits[lane]

    def journal(self, lane: Lane) -> Journal:
        return self._journals[lane]

    def journal_reader(self, lane: Lane) -> JournalReader:
        return self._journals[lane]

    def health_book(self) -> HealthBook:
        return self._book

    def health_reader(self) -> HealthReader:
        return self._book


class Clients:
    """Made once for an engine: making them costs more than a test. The environment of that moment says where they lead.

    `raw` and `raw_secrets` are boto3's, for what no adapter asks, such as a scan. The others can be heard.
    """

    def __init__(self, wire_to: WireTo | None = None) -> None:
        self._environment = dict(os.environ)
        self.heard = Heard()
        self._wire_to = heard_by(self.heard.tell, wire_to or aws.wire_to)
        self.dynamodb = DynamoDBClient(self._client(DYNAMODB))
        self.kms = KMSClient(self._client(KMS))
        self.secrets_manager = SecretsManagerClient(self._client(SECRETS_MANAGER))
        self.raw = boto3.client("dynamodb")
        self.raw_secrets = boto3.client("secretsmanager")

    def _client(self, service: Service) -> ServiceClient:
        place = place_of(service.name, self._environment)
        return ServiceClient(
            service,
            self._wire_to(place, aws.PATIENCE),
            place=place,
            region=region_in(self._environment),
            attempts=aws.ATTEMPTS,
            environment=self._environment,
        )


class StoreWorld:
    """The real adapters. `environment` is a KG_* environment."""

    def __init__(self, clients: Clients, environment: dict[str, str]) -> None:
        self.clock = FakeClock(NOW)
        self.clients = clients
        self.public_table = environment["KG_TABLE_REGISTRATIONS_PUBLIC"]
        self.internal_table = environment["KG_TABLE_REGISTRATIONS_INTERNAL"]
        self.public_ledger = environment["KG_TABLE_LEDGER_PUBLIC"]
        self.internal_ledger = environment["KG_TABLE_LEDGER_INTERNAL"]
        self.cards_table = environment["KG_TABLE_CARDS"]
        self._keys = {
            ExposureProfile.CUSTOMER_SAFE: environment["KG_KEY_PUBLIC"],
            ExposureProfile.AGENT_ONLY: environment["KG_KEY_INTERNAL"],
        }
        self._root_secret = environment["KG_ROOT_SECRET"]

    def registry(self) -> DynamoRegistry:
        return DynamoRegistry(
            self.clients.dynamodb,
            public_table=self.public_table,
            internal_table=self.internal_table,
            idempotency_table=self.internal_ledger,
            clock=self.clock,
        )

    def instances(self) -> DynamoInstances:
        return DynamoInstances(
            self.clients.dynamodb,
            public_table=self.public_table,
            internal_table=self.internal_table,
            idempotency_table=self.internal_ledger,
            clock=self.clock,
        )

    def credential_keys(self) -> DynamoCredentialKeys:
        return DynamoCredentialKeys(self.clients.dynamodb, table=self.internal_table)

    def row_reads(self) -> RowReads:
        return RowReads(self.clients.dynamodb)

    def catalog(self) -> DynamoCatalog:
        return DynamoCatalog(
            self.clients.dynamodb,
            reads=self.row_reads(),
            public_table=self.public_table,
            internal_table=self.internal_table,
        )

    def customer_catalog(self) -> DynamoCustomerCatalog:
        return DynamoCustomerCatalog(self.clients.dynamodb, reads=self.row_reads(), table=self.public_table)

    def internal_catalog(self) -> DynamoInternalCatalog:
        return DynamoInternalCatalog(self.clients.dynamodb, reads=self.row_reads(), table=self.internal_table)

    def credential_store(self) -> DynamoCredentialStore:
        return DynamoCredentialStore(
            self.clients.dynamodb,
            public_table=self.public_table,
            internal_table=self.internal_table,
            idempotency_table=self.internal_ledger,
            clock=self.clock,
        )

    def credentials(self) -> DynamoCredentials:
        return DynamoCredentials(self.row_reads(), table=self.internal_table)

    def widget_credentials(self) -> DynamoCredentials:
        return DynamoCredentials(self.row_reads(), table=self.public_table)

    def origins(self) -> DynamoOrigins:
        return DynamoOrigins(self.clients.dynamodb, table=self.public_table, clock=self.clock)

    def rate_limits(self) -> DynamoRateLimits:
        return DynamoRateLimits(self.clients.dynamodb, table=self.public_ledger, clock=self.clock)

    def audit_log(self) -> DynamoAuditLog:
        return DynamoAuditLog(self.clients.dynamodb, table=self.internal_table, now=self.clock.now)

    def idempotency(self) -> DynamoIdempotency:
        return DynamoIdempotency(self.clients.dynamodb, table=self.internal_ledger, clock=self.clock)

    def sealer(self, exposure: ExposureProfile) -> KmsSealer:
        return KmsSealer(self.clients.kms, key_id=self._keys[exposure], exposure=exposure)

    def unsealer(self, exposure: ExposureProfile) -> KmsUnsealer:
        return KmsUnsealer(self.clients.kms, key_id=self._keys[exposure], exposure=exposure, clock=self.clock)

    def root_secret(self) -> SecretsManagerRootSecret:
        return SecretsManagerRootSecret(self.clients.secrets_manager, secret_id=self._root_secret, clock=self.clock)

    def keep_root_secret(self, text: str) -> None:
        self.clients.raw_secrets.put_secret_value(SecretId=self._root_secret, SecretString=text)

    def card_store(self) -> DynamoCardStore:
        return DynamoCardStore(
            self.clients.dynamodb,
            table=self.cards_table,
            audit_table=self.internal_table,
            idempotency_table=self.internal_ledger,
            clock=self.clock,
        )

    def card_reader(self) -> DynamoCardReader:
        return DynamoCardReader(self.clients.dynamodb, table=self.cards_table)

    def customer_card_reader(self) -> DynamoCustomerCardReader:
        return DynamoCustomerCardReader(self.clients.dynamodb, table=self.cards_table)

    def vocabulary_copies(self) -> VocabularyCopies:
        return VocabularyCopies(self.clients.dynamodb, table=self.cards_table, clock=self.clock)

    def vocabularies(self) -> DynamoVocabularies:
        return DynamoVocabularies(self.row_reads(), table=self.cards_table, copies=self.vocabulary_copies())

    def customer_vocabularies(self) -> DynamoCustomerVocabularies:
        copies = self.vocabulary_copies()
        return DynamoCustomerVocabularies(self.row_reads(), table=self.cards_table, copies=copies)

    def pool_keys(self) -> SecretsManagerPoolKeys:
        secret_ids = {pool: f"{self.internal_ledger}-pool-{pool}" for pool in KEYED_POOLS}
        return SecretsManagerPoolKeys(self.clients.secrets_manager, secret_ids=secret_ids, clock=self.clock)

    def keep_pool_secret(self, pool: Pool, text: str) -> None:
        name = f"{self.internal_ledger}-pool-{pool}"
        try:
            self.clients.raw_secrets.put_secret_value(SecretId=name, SecretString=text)
        except self.clients.raw_secrets.exceptions.ResourceNotFoundException:
            self.clients.raw_secrets.create_secret(Name=name, SecretString=text)

    def pool_ledger(self) -> DynamoPoolLedger:
        return DynamoPoolLedger(self.clients.dynamodb, table=self.internal_ledger, clock=self.clock)

    def pool_desk(self) -> DynamoPoolDesk:
        return DynamoPoolDesk(
            self.clients.dynamodb, table=self.internal_ledger, audit_table=self.internal_table, clock=self.clock
        )

    def allowances(self) -> DynamoAllowances:
        return DynamoAllowances(self.clients.dynamodb, table=self.internal_ledger, clock=self.clock)

    def allowance_desk(self) -> DynamoAllowanceDesk:
        return DynamoAllowanceDesk(
            self.clients.dynamodb, table=self.internal_ledger, audit_table=self.internal_table, clock=self.clock
        )

    def quotes(self) -> DynamoQuotes:
        return DynamoQuotes(self.clients.dynamodb, table=self.internal_ledger, clock=self.clock)

    def receipts(self) -> DynamoReceipts:
        return DynamoReceipts(self.clients.dynamodb, table=self.internal_ledger, clock=self.clock)

    def ledger_of(self, lane: Lane) -> str:
        return self.internal_ledger if lane is Lane.AGENT else self.public_ledger

    def circuits(self, lane: Lane) -> DynamoCircuits:
        return DynamoCircuits(self.clients.dynamodb, reads=self.row_reads(), table=self.ledger_of(lane))

    def journal(self, lane: Lane) -> DynamoJournal:
        return DynamoJournal(self.clients.dynamodb, table=self.ledger_of(lane))

    def journal_reader(self, lane: Lane) -> DynamoJournalReader:
        return DynamoJournalReader(self.clients.dynamodb, table=self.ledger_of(lane), clock=self.clock)

    def health_book(self) -> DynamoHealthBook:
        return DynamoHealthBook(self.clients.dynamodb, table=self.internal_ledger, clock=self.clock)

    def health_reader(self) -> DynamoHealthReader:
        return DynamoHealthReader(self.clients.dynamodb, table=self.internal_ledger)
