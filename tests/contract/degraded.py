"""A gateway whose backend has a bad day: every function as it is wired, over the embedded backend behind a proxy, with
providers that are well. What comes back is judged by the published document.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, Final

import boto3
import pytest
from aws_lambda_powertools import Logger

from functions.admin.api import admin_api
from functions.probe.run import Probe
from shared.adapters import aws, service_client
from shared.adapters.event_loop import ProcessLoop
from shared.domain.exposure import CredentialClass, ExposureProfile, Grant
from shared.domain.identifiers import format_token
from shared.domain.live_configs import ENDPOINTS, ExaConfig
from shared.domain.registrations import Provider, ProviderKind
from shared.ports.exchange import OutboundAnswer
from shared.web.api import Api
from tests.contract.worlds import Clients, StoreWorld
from tests.support import emulator as backend
from tests.support.admin_stage import Answered, event_of
from tests.support.builders import SECRET, a_change, a_credential, a_provider, a_source, a_token
from tests.support.card_builders import a_card, a_collection
from tests.support.fault_proxy import WORDS, FaultProxy, fault_proxy
from tests.support.hostile_provider import HostileProvider, hostile_provider
from tests.support.published import faults_of
from tests.support.scripted_service import ScriptedService, scripted_service

SEARCH = "/api/v1/knowledge/search"
WIDGET = "/api/v1/knowledge/widget/search"
ACQUIRE = "/api/v1/knowledge/acquire"
PROVIDERS = "/api/v1/knowledge/providers"
ORIGIN = "https://help.fern-desk.test"
URL = "https://docs.example.com/fares"
EXA_KEYS = {"EXA_API_KEY": "k-demo-0"}
FOUND: Final = OutboundAnswer(
    status=200,
    headers={"content-type": "application/json"},
    body=json.dumps(
        {
            "results": [{"id": URL, "url": URL, "title": "Fares", "text": "A ferry pass is 89 euro."}],
            "statuses": [{"id": URL, "status": "success"}],
        }
    ).encode(),
)
# Words of the services that a caller may never meet; `arn:` stands for all names of things.
FOREIGN: Final = (WORDS, "UPSTREAM", "arn:", "botocore", "DynamoDB", "dynamodb", "KMS", "Throttl", "Exception")
READ_TIMEOUT_S: Final = 0.5  # of the clients here, so that nobody waits for real
_UNLIMITED = 10_000_000


@contextmanager
def a_world(
    emulator_url: str, clients: Clients, *, prefix: str, read_timeout_s: float = READ_TIMEOUT_S
) -> Iterator[World]:
    """Clients that are made meanwhile speak to the proxy, those of `store` to the backend itself."""
    with (
        pytest.MonkeyPatch.context() as patch,
        fault_proxy(emulator_url) as proxy,
        hostile_provider() as hostile,
        scripted_service(FOUND) as service,
    ):
        for name in ("_PAUSE_MS", "_THROTTLED_PAUSE_MS"):  # how long a client pauses is its own affair
            patch.setattr(service_client, name, 1)
        environment = backend.provisioned(emulator_url, prefix=f"{prefix}{secrets.token_hex(4)}")
        for name, value in proxy.before(environment).items():
            patch.setenv(name, value)
        patch.setattr(aws, "PATIENCE", replace(aws.PATIENCE, read_s=read_timeout_s))
        yield World(environment, StoreWorld(clients, environment), proxy, hostile, service)


@dataclass
class World:
    """What is stored, and who may ask. `public`, `internal` and `live` are ids of providers that are well."""

    environment: dict[str, str]
    store: StoreWorld
    proxy: FaultProxy
    hostile: HostileProvider
    service: ScriptedService
    public: str = ""
    internal: str = ""
    live: str = ""
    collection: str = ""
    agent: str = ""
    assistant: str = ""
    widget: str = ""
    admin: str = ""

    def __post_init__(self) -> None:
        self.public = self.provider(self.hostile.url("good", "public"))
        self.internal = self.provider(self.hostile.url("good", "internal"), exposure=ExposureProfile.AGENT_ONLY)
        self.live = self._exa()
        self.collection = self._collection()
        self.agent = self.caller(CredentialClass.AGENT)
        self.assistant = self.caller(CredentialClass.ASSISTANT, grants=frozenset({Grant.READ_PUBLIC}))
        self.widget = self.caller(CredentialClass.PUBLIC, origins=(ORIGIN,), address_rate_per_minute=_UNLIMITED)
        secrets_manager = boto3.client("secretsmanager")
        secret_id = self.environment["KG_ROOT_SECRET"]
        secret = secrets_manager.get_secret_value(SecretId=secret_id)["SecretString"]
        self.admin = format_token(CredentialClass.ADMIN, "root", secret)
        secrets_manager.put_secret_value(SecretId=self.environment["KG_POOL_EXA"], SecretString=json.dumps(EXA_KEYS))

    @property
    def local(self) -> dict[str, str]:
        """What lets a function ask providers on loopback."""
        return {
            "KG_ALLOW_LOOPBACK_HTTP": "true",
            "KG_LOCAL_ORIGINS": json.dumps({"exa": self.service.origin}),
        }

    @property
    def all(self) -> set[str]:
        return {self.public, self.internal, self.live}

    def table(self, name: str) -> str:
        return self.environment[f"KG_TABLE_{name.upper().replace('-', '_')}"]

    def provider(self, base_url: str, *, exposure: ExposureProfile = ExposureProfile.CUSTOMER_SAFE, **over: Any) -> str:
        source = a_source(base_url=base_url, exposure_profile=exposure, **over)
        sealer = self.store.sealer(exposure)
        sealed = asyncio.run(sealer.seal("kgs_" + "51" * 32, owner_id=source.id, purpose="signing"))
        return self._register(a_provider(source=source, exposure_profile=exposure).with_source(signing=sealed))

    def remove(self, provider_id: str) -> None:
        registry = self.store.registry()
        provider = asyncio.run(registry.get(provider_id))
        assert isinstance(provider, Provider)
        asyncio.run(registry.delete(provider, expected_generation=provider.source.generation, change=a_change()))

    def _exa(self) -> str:
        config = ExaConfig(approved_hosts=("docs.example.com",), results=5)
        return self._register(
            a_provider(
                exposure_profile=ExposureProfile.AGENT_ONLY,
                kind=ProviderKind.EXA,
                config=config,
                base_url=ENDPOINTS[ProviderKind.EXA],
                signing=None,
            )
        )

    def _register(self, provider: Provider) -> str:
        asyncio.run(self.store.registry().create(provider, a_change()))
        return provider.id

    def _collection(self) -> str:
        collection = a_collection()
        asyncio.run(self.store.card_store().create_collection(collection, a_change()))
        asyncio.run(self.store.card_store().create_card(a_card(collection, "ferry pass"), a_change()))
        return collection.id

    def caller(self, class_: CredentialClass, **over: Any) -> str:
        credential = a_credential(credential_class=class_, rate_per_minute=_UNLIMITED, **over)
        asyncio.run(self.store.credential_store().create(credential, a_change()))
        return a_token(credential, secret=SECRET)

    @contextmanager
    def process(self, **settings: str) -> Iterator[Process]:
        """New processes of all functions. When they end, nothing of what they were asked is still under way."""
        process = Process(self, settings)
        try:
            yield process
        finally:
            process.close()


@dataclass
class Process:
    """Each function as a Lambda keeps it warm, made when it is first asked. One thing at a time: so does a Lambda."""

    world: World
    settings: Mapping[str, str]
    _functions: dict[str, tuple[Api, ProcessLoop]] = field(default_factory=dict)
    _probe: Any = None

    def agent(self, **over: Any) -> Answered:
        return self.ask("search", SEARCH, {"query": "ferry pass", **over}, token=self.world.agent)

    def assistant(self, **over: Any) -> Answered:
        return self.ask("search", SEARCH, {"query": "ferry pass", **over}, token=self.world.assistant)

    def visitor(self, **over: Any) -> Answered:
        return self.ask("widget", WIDGET, {"query": "ferry pass", **over}, token=self.world.widget)

    def lookup(self, terms: tuple[str, ...] = ("ferry pass",)) -> Answered:
        path = f"/api/v1/collections/{self.world.collection}/context-cards/lookup"
        return self.ask("lookup", path, {"terms": list(terms)}, token=self.world.agent)

    def acquire(self, **over: Any) -> Answered:
        return self.ask("live", ACQUIRE, {"url": URL, **over}, token=self.world.agent)

    def tool(self, name: str, **arguments: Any) -> Answered:
        """What an agent's tool gives, in the place of the message around it."""
        params = {"name": name, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answered = self.ask("mcp", "/mcp", message, token=self.world.agent)
        if answered.status != 200:
            return answered
        text = json.dumps(answered.json["result"]["structuredContent"])
        return Answered(status=200, headers=answered.headers, text=text)

    def operator(self, method: str = "GET", path: str = PROVIDERS, body: object = None, **headers: str) -> Answered:
        return self.ask("admin", path, body, token=self.world.admin, method=method, **headers)

    def probe(self) -> dict[str, Any]:
        """One run by the clock."""
        if self._probe is None:
            self._probe = import_module("functions.probe.wiring").wired(self._environment)
        return Probe(self._probe).run(AMinute())

    def ask(
        self, function: str, path: str, body: object, *, token: str, method: str = "POST", **headers: str
    ) -> Answered:
        event = event_for(path, body, token=token, method=method, **headers)
        response = self._api(function).handle(event, None)
        answered = Answered(response["statusCode"], response["headers"], response.get("body") or "")
        judge(method, path, answered)
        return answered

    def tasks(self) -> int:
        """How many are left in the loops of all functions."""
        return sum(len(asyncio.all_tasks(loop._loop)) for loop in self._loops)

    def settle(self) -> None:
        """Gives what was cancelled its last turns."""
        for loop in self._loops:
            loop.run(asyncio.sleep(0.01))

    def close(self) -> None:
        self.settle()
        left = self.tasks()
        for loop in self._loops:
            loop.close()
        assert left == 0, "a task was left behind"

    @property
    def _loops(self) -> list[ProcessLoop]:
        return [loop for _, loop in self._functions.values()] + ([self._probe.loop] if self._probe else [])

    @property
    def _environment(self) -> dict[str, str]:
        return {**self.world.environment, **self.world.local, **self.settings}

    def _api(self, function: str) -> Api:
        if function not in self._functions:
            local = {
                "KG_ALLOW_LOOPBACK_HTTP": "true",
                "KG_LOCAL_ORIGINS": json.dumps({"exa": self.world.service.origin}),
            }
            self._functions[function] = self._wired(function, {**self.world.environment, **local, **self.settings})
        return self._functions[function][0]

    def _wired(self, function: str, environment: dict[str, str]) -> tuple[Api, ProcessLoop]:
        wired: Callable[[Mapping[str, str]], Any] = import_module(f"functions.{function}.wiring").wired
        parts = wired(environment)
        if function == "admin":
            loop = ProcessLoop()
            return admin_api(parts, loop=loop, logger=Logger(service="admin-degraded")), loop
        return import_module(f"functions.{function}.routes").api_for(parts), parts.loop


class AMinute:
    """The context of an invocation that has just begun."""

    def get_remaining_time_in_millis(self) -> int:
        return 60_000


def event_for(path: str, body: object, *, token: str, method: str = "POST", **headers: str) -> dict[str, Any]:
    event = event_of("acquire")
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    event["headers"] |= {"authorization": f"Bearer {token}", "origin": ORIGIN, **named}
    event["rawPath"] = path
    event["requestContext"]["http"] |= {"method": method, "path": path}
    event["body"] = None if body is None else json.dumps(body)
    return event


def judge(method: str, path: str, answered: Answered) -> None:
    """Whatever went wrong: as it is published, and in no words but the gateway's own."""
    faults = faults_of(method, path, answered.status, answered.headers, answered.text)
    assert not faults, f"{method} {path} {answered.status} {answered.text}: {faults}"
    assert answered.status != 500, answered.text
    said = f"{answered.headers} {answered.text}"
    assert not [word for word in FOREIGN if word in said], said
    if answered.status >= 400:
        assert answered.headers["Content-Type"] == "application/problem+json"
    if answered.status == 503:
        assert int(answered.headers["Retry-After"]) >= 1


def outcomes(answered: Answered) -> dict[str, str]:
    """By provider: its error code, or how it went."""
    assert answered.status == 200, answered.text
    return {each["id"]: each["errorCode"] or each["status"] for each in answered.json["providers"]}


@dataclass(frozen=True)
class Holdings:
    """What this process holds on to."""

    sockets: int
    threads: int

    @classmethod
    def now(cls) -> Holdings:
        return cls(sockets=_open_sockets(), threads=threading.active_count())


def _open_sockets() -> int:
    count = 0
    for each in os.listdir("/proc/self/fd"):
        try:
            count += os.readlink(f"/proc/self/fd/{each}").startswith("socket:")
        except OSError:  # it was the one that lists them
            continue
    return count
