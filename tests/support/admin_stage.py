"""The whole admin function in memory: its real routes and services over fakes, asked with API Gateway events."""

from __future__ import annotations

import copy
import io
import itertools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aws_lambda_powertools import Logger

from functions.admin.api import admin_api
from functions.admin.parts import HealthParts, LiveParts, Parts, ServerParts
from shared.adapters.event_loop import ProcessLoop
from shared.domain.circuits import Lane
from shared.domain.credentials import Credential
from shared.domain.exposure import CredentialClass, ExposureProfile
from shared.domain.identifiers import format_token
from shared.domain.instances import INSTANCE_KINDS
from shared.domain.live_configs import ENDPOINTS, SEARCHING_KINDS
from shared.domain.passages import Question, Retrieval
from shared.domain.pools import POOL_OF, Pool
from shared.domain.registrations import SERVER_KINDS, Capabilities, ProviderKind, SigningSecrets, Source
from shared.domain.remote_catalogs import RemoteEntry
from shared.errors import BlockedAddress, ExchangeError
from shared.ports.exchange import Exchange
from shared.ports.retriever import Declaration, RetrieverLimits
from shared.services.ask_live import AskLive
from shared.services.ask_server import AskServer
from shared.services.metering import Metering
from shared.services.put_back import PutBack
from tests.support.builders import a_credential, a_token
from tests.support.card_fakes import FakeCardStore, Shelf
from tests.support.desk_fakes import FakePoolDesk
from tests.support.fake_exchanges import FakeExchanges
from tests.support.fakes import (
    FakeAuditLog,
    FakeClock,
    FakeCredentials,
    FakeCredentialStore,
    FakeIdempotency,
    FakeRateLimits,
    FakeRegistry,
    FakeRootSecret,
    FakeSealer,
    FakeStore,
    FakeUnsealer,
)
from tests.support.health_fakes import FakeCircuitStore, FakeHealthBook, FakeJournal
from tests.support.live_fakes import (
    FakeAllowanceDesk,
    FakeAllowances,
    FakePoolKeys,
    FakePoolLedger,
    ScriptedLiveRetriever,
)
from tests.support.published import faults_of
from tests.support.server_fakes import FakeCredentialKeys, FakeInstances, ScriptedServer

EVENTS = Path(__file__).parents[2] / "fixtures" / "events"
# Loggers are kept by name for the life of the process, each with the stream that it began with.
_COUNT = itertools.count(1)
ROOT_SECRET = "0a" * 32
PROVIDERS = "/api/v1/knowledge/providers"
INSTANCES = "/api/v1/knowledge/instances"
CREDENTIALS = "/api/v1/credentials"
COLLECTIONS = "/api/v1/collections"
AUDIT = "/api/v1/audit"
A_PROVIDER = {
    "name": "Help centre",
    "exposureProfile": "customer_safe",
    "baseUrl": "https://kb.fern-desk.test/v1",
}

REMOTE_ID = "6f0c2d5e-0000-4000-8000-00000000c0de"
AN_INSTANCE = {
    "name": "Office Dify",
    "kind": "dify",
    "exposureProfile": "agent_only",
    "baseUrl": "https://dify.fern-desk.test",
    "credential": {"action": "replace", "value": "dataset-demo"},
}


KEYS = {
    Pool.CONTEXT7: {"CONTEXT7_API_KEY": "k-demo-context7"},
    Pool.EXA: {"EXA_API_KEY": "k-demo-exa-zero", "EXA_API_KEY_2": "k-demo-exa-two", "EXA_API_KEY_1": "k-demo-exa-one"},
    Pool.FIRECRAWL: {"FIRECRAWL_API_KEY": "k-demo-firecrawl", "FIRECRAWL_API_KEY_1": "k-demo\nbroken"},
}
LIVE = ("context7", "deepwiki", "exa", "firecrawl", "mintlify")


def a_live_provider(kind: str) -> dict[str, Any]:
    config = {"repositories": ["acme/widgets"]} if kind == "deepwiki" else {"approvedHosts": ["docs.example.com"]}
    return {"name": f"Live {kind}", "kind": kind, "exposureProfile": "agent_only", "config": config}


def a_bound_provider(instance: Answered) -> dict[str, Any]:
    return {
        "name": "Ferry handbook",
        "kind": instance.json["kind"],
        "instanceId": instance.json["id"],
        "remoteId": REMOTE_ID,
        "testQuery": "night ferry",
    }


def event_of(name: str) -> dict[str, Any]:
    event: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text())
    return event


@dataclass(frozen=True)
class Answered:
    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def code(self) -> str:
        assert self.headers["Content-Type"] == "application/problem+json", self.text
        return str(self.json["code"])

    @property
    def etag(self) -> str:
        return self.headers["ETag"]

    @property
    def pointers(self) -> list[str]:
        return [each["pointer"] for each in self.json["errors"]]


class ScriptedKind:
    """A kind whose providers answer with `retrieval` and `declaration`; either may be an error to raise."""

    def __init__(self, clock: FakeClock) -> None:
        self.limits = RetrieverLimits(query_characters=1024, results=50, timeout_s=10.0)
        self.retrieval: Retrieval | ExchangeError = Retrieval()
        self.declaration: Declaration | ExchangeError = Declaration(contract_version=1, capabilities=Capabilities())
        self.takes_s = 0.25
        self.asked: list[tuple[Source, Question, SigningSecrets]] = []
        self.meanwhile = lambda: None
        self._clock = clock

    async def retrieve(
        self, source: Source, question: Question, *, secrets: SigningSecrets, exchange: Exchange
    ) -> Retrieval:
        self.asked.append((source, question, secrets))
        self._clock.advance(self.takes_s)
        self.meanwhile()
        if isinstance(self.retrieval, ExchangeError):
            raise self.retrieval
        return self.retrieval

    async def declare(self, source: Source, *, secrets: SigningSecrets, exchange: Exchange) -> Declaration:
        self.meanwhile()
        if isinstance(self.declaration, ExchangeError):
            raise self.declaration
        return self.declaration


class ScriptedAddressCheck:
    """Lets every host pass unless `failure` is set; those in `private` only where private networks are allowed. Notes
    what it was asked.
    """

    def __init__(self) -> None:
        self.failure: ExchangeError | None = None
        self.private: set[str] = set()  # base URLs
        self.asked: list[tuple[str, bool]] = []
        self.asked_plain_http: list[str] = []

    async def check(self, base_url: str, *, allow_private_network: bool, allow_plain_http: bool = False) -> None:
        self.asked.append((base_url, allow_private_network))
        self.asked_plain_http += [base_url] if allow_plain_http else []
        if self.failure is not None:
            raise self.failure
        if base_url in self.private and not allow_private_network:
            raise BlockedAddress


class AdminStage:
    """`call` sends one request as root unless told otherwise."""

    def __init__(self, *, private_network_available: bool = False, allow_loopback_http: bool = False) -> None:
        self.clock = FakeClock()
        self.store = FakeStore(clock=self.clock)
        self.registry = FakeRegistry(self.store)
        self.credential_store = FakeCredentialStore(self.store)
        self.shelf = Shelf(self.store)
        self.card_store = FakeCardStore(self.shelf)
        self.credentials = FakeCredentials(self.store.credentials.values())
        self.rate_limits = FakeRateLimits(clock=self.clock)
        self.root_secret = FakeRootSecret(ROOT_SECRET)
        self.idempotency = FakeIdempotency(self.store)
        self.kind = ScriptedKind(self.clock)
        self.address_check = ScriptedAddressCheck()
        self.exchanges = FakeExchanges(clock=self.clock)
        self.service = ScriptedLiveRetriever()
        self.pool_keys = FakePoolKeys(KEYS)
        self.pool_ledger = FakePoolLedger(clock=self.clock)
        self.pool_desk = FakePoolDesk(self.pool_ledger, self.store)
        self.allowances = FakeAllowances(clock=self.clock)
        self.allowance_desk = FakeAllowanceDesk(self.allowances, self.store)
        self.instances = FakeInstances(self.store)
        self.credential_keys = FakeCredentialKeys()
        self.server = ScriptedServer()
        self.circuits = {lane: FakeCircuitStore() for lane in Lane}
        self.journals = {lane: FakeJournal(self.clock) for lane in Lane}
        self.looks = FakeHealthBook(self.clock)
        self.unsealers = {profile: FakeUnsealer(exposure=profile) for profile in ExposureProfile}
        self.loop = ProcessLoop()
        self.log = io.StringIO()
        self.api = admin_api(
            Parts(
                registry=self.registry,
                credential_store=self.credential_store,
                card_store=self.card_store,
                audit_log=FakeAuditLog(self.store),
                idempotency=self.idempotency,
                credentials=self.credentials,
                root_secret=self.root_secret,
                rate_limits=self.rate_limits,
                sealers={profile: FakeSealer(exposure=profile) for profile in ExposureProfile},
                unsealers=self.unsealers,
                retrievers={ProviderKind.CONTRACT: self.kind},
                live=self._live(),
                server=self._server(),
                health=self._health(),
                exchanges=self.exchanges,
                address_check=self.address_check,
                clock=self.clock,
                allow_loopback_http=allow_loopback_http,
                private_network_available=private_network_available,
            ),
            loop=self.loop,
            logger=Logger(service=f"admin-{next(_COUNT)}", stream=self.log),
        )
        self.root_token = format_token(CredentialClass.ADMIN, "root", ROOT_SECRET)

    def close(self) -> None:
        self.loop.close()

    def _live(self) -> LiveParts:
        """Every live kind is `service`, behind real meters."""
        meters = Metering(
            keys=self.pool_keys,
            ledger=self.pool_ledger,
            allowances=self.allowances,
            exchanges=self.exchanges,
            clock=self.clock,
            logger=Logger(service=f"admin-{next(_COUNT)}", stream=self.log),
        )
        return LiveParts(
            askers={
                kind: AskLive(
                    retriever=self.service,
                    meters=meters,
                    pool=POOL_OF[kind],
                    endpoint=ENDPOINTS[kind],
                    clock=self.clock,
                )
                for kind in SEARCHING_KINDS
            },
            acquirers={ProviderKind.FIRECRAWL: self.service},
            meters=meters,
            endpoints=ENDPOINTS,
            pool_keys=self.pool_keys,
            pool_ledger=self.pool_ledger,
            pool_desk=self.pool_desk,
            allowance_desk=self.allowance_desk,
        )

    def _server(self) -> ServerParts:
        """Every self-hosted kind is `server`."""
        asker = AskServer(retriever=self.server, exchanges=self.exchanges, clock=self.clock)
        return ServerParts(
            instances=self.instances,
            credential_keys=self.credential_keys,
            servers=dict.fromkeys(INSTANCE_KINDS, self.server),
            askers=dict.fromkeys(SERVER_KINDS, asker),
        )

    def _health(self) -> HealthParts:
        put_back = PutBack(
            circuits=self.circuits,
            journals=self.journals,
            clock=self.clock,
            logger=Logger(service=f"admin-{next(_COUNT)}", stream=self.log),
        )
        return HealthParts(circuits=self.circuits, histories=self.journals, looks=self.looks, put_back=put_back)

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        token: str | None = "",
        if_match: str | None = None,
        key: str | None = None,
        query: dict[str, str] | None = None,
        headers: dict[str, str] | None = None,
    ) -> Answered:
        """`body` is an object to send as JSON, or the text itself."""
        event = copy.deepcopy(event_of("admin_create_provider"))
        sent = {
            **event["headers"],
            "authorization": f"Bearer {self.root_token if token == '' else token}" if token is not None else None,
            "if-match": if_match,
            "idempotency-key": key,
            **(headers or {}),
        }
        event["headers"] = {name: value for name, value in sent.items() if value is not None}
        event["rawPath"] = event["requestContext"]["http"]["path"] = path
        event["requestContext"]["http"]["method"] = method
        event["body"] = body if body is None or isinstance(body, str) else json.dumps(body, ensure_ascii=False)
        if query:
            event["queryStringParameters"] = query
        return self.send(event)

    def send(self, event: dict[str, Any]) -> Answered:
        """Fails the test when the published document does not describe the answer."""
        response = self.api.handle(event, None)
        answered = Answered(status=response["statusCode"], headers=response["headers"], text=response.get("body") or "")
        method = event.get("requestContext", {}).get("http", {}).get("method", "GET")
        faults = faults_of(method, event.get("rawPath", "/"), answered.status, answered.headers, answered.text)
        assert not faults, f"{method} {event.get('rawPath')} {answered.text}: {faults}"
        return answered

    def register(self, **over: Any) -> Answered:
        """A new provider; fails the test when it is refused."""
        answered = self.call("POST", PROVIDERS, A_PROVIDER | over)
        assert answered.status == 201, answered.text
        return answered

    def register_live(self, kind: str, **over: Any) -> Answered:
        """A new provider of a live kind; fails the test when it is refused."""
        answered = self.call("POST", PROVIDERS, a_live_provider(kind) | over)
        assert answered.status == 201, answered.text
        return answered

    def install(self, **over: Any) -> Answered:
        """A new instance; fails the test when it is refused."""
        answered = self.call("POST", INSTANCES, AN_INSTANCE | over)
        assert answered.status == 201, answered.text
        return answered

    def bind(self, instance: Answered, **over: Any) -> Answered:
        """A new provider that is bound to `instance`, which lists what it is bound to; fails the test when it is
        refused.
        """
        body = a_bound_provider(instance) | over
        if all(entry.id != body["remoteId"] for entry in self.server.entries):
            self.server.entries = (*self.server.entries, RemoteEntry(id=body["remoteId"], name="Ferries"))
        answered = self.call("POST", PROVIDERS, body)
        assert answered.status == 201, answered.text
        return answered

    def activate(self, created: Answered) -> Answered:
        """The provider after a test that it passed, as a GET shows it."""
        report = self.call("POST", f"{created.headers['Location']}/test", {"query": "ferry pass", "activate": True})
        assert report.json["activated"], report.text
        return self.call("GET", created.headers["Location"])

    def issue(self, **fields: Any) -> Answered:
        """A new credential; fails the test when it is refused."""
        answered = self.call("POST", CREDENTIALS, {"class": "agt", "name": "Ticket tool"} | fields)
        assert answered.status == 201, answered.text
        return answered

    def collect(self, **fields: Any) -> Answered:
        """A new collection; fails the test when it is refused."""
        answered = self.call("POST", COLLECTIONS, {"name": "Glossary", "exposureProfile": "customer_safe"} | fields)
        assert answered.status == 201, answered.text
        return answered

    def an_admin(self, **over: Any) -> tuple[Credential, str]:
        """An admin credential in the store, and its token."""
        credential = a_credential(credential_class=CredentialClass.ADMIN, **over)
        self.store.credentials[credential.id] = credential
        return credential, a_token(credential)

    @property
    def log_lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.getvalue().splitlines()]
