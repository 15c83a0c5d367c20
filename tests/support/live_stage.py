"""The live function in memory: the real routes, services and meter over fakes, and services that play a script."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

from functions.live import alexandria_wiring
from functions.live.parts import LiveParts
from functions.live.routes import api_for
from shared.adapters.event_loop import ProcessLoop
from shared.domain.acquiring import AcquireWish
from shared.domain.circuits import Lane
from shared.domain.credentials import Credential
from shared.domain.deadlines import Deadline
from shared.domain.live_configs import ENDPOINTS, FirecrawlConfig
from shared.domain.pools import Pool
from shared.domain.registrations import Provider, ProviderKind
from shared.ports.live_retriever import Acquirer
from shared.services.acquire import Acquire, AcquireRequest
from shared.services.admit import Admit
from shared.services.ask_acquirer import AskAcquirer
from shared.services.circuit_keeper import CircuitKeeper
from shared.services.metering import Metering
from tests.support.alexandria_fakes import FakeQuotes, FakeReceipts
from tests.support.builders import a_credential, a_provider, a_token, an_internal_provider
from tests.support.fake_exchanges import FakeExchanges
from tests.support.fakes import FakeCatalog, FakeClock, FakeCredentials, FakeRateLimits, FakeStore
from tests.support.health_fakes import FakeCircuitStore, FakeJournal
from tests.support.live_fakes import FakeAllowances, FakePoolKeys, FakePoolLedger, ScriptedLiveRetriever
from tests.support.search_stage import Answered, RecordedLog, event_of

URL = "https://docs.example.com/ferries/passes"
HOSTS = ("docs.example.com",)
_EVENT = event_of("acquire")


class LiveStage:
    """`acquire` sends one request. `service` is asked by both kinds, unless `acquirers` takes its place."""

    def __init__(
        self,
        *,
        acquirers: Mapping[ProviderKind, Acquirer] | None = None,
        endpoints: Mapping[ProviderKind, str] = ENDPOINTS,
        clock: Any = None,
        exchanges: Any = None,
    ) -> None:
        self.clock = clock or FakeClock()
        self.store = FakeStore(clock=self.clock)
        self.log: Any = RecordedLog()
        self.service = ScriptedLiveRetriever()
        both = {ProviderKind.EXA: self.service, ProviderKind.FIRECRAWL: self.service}
        self.acquirers: Mapping[ProviderKind, Acquirer] = both if acquirers is None else acquirers
        self.endpoints = endpoints
        self.exchanges = exchanges or FakeExchanges(clock=self.clock)
        self.keys = FakePoolKeys(
            {Pool.EXA: {"EXA_API_KEY": "k-exa"}, Pool.FIRECRAWL: {"FIRECRAWL_API_KEY": "k-firecrawl"}}
        )
        self.ledger = FakePoolLedger(clock=self.clock)
        self.allowances = FakeAllowances(clock=self.clock)
        self.credentials = FakeCredentials(self.store.credentials.values())
        self.catalog = FakeCatalog(self.store.internal_providers())
        self.circuits = FakeCircuitStore()
        self.journal = FakeJournal(self.clock)
        self.quotes = FakeQuotes(clock=self.clock)
        self.receipts = FakeReceipts(clock=self.clock)
        self.loop = ProcessLoop()
        self.parts = self._parts()
        self.api = api_for(self.parts)
        self.agent = self.add_credential()

    def close(self) -> None:
        self.loop.close()

    def add_credential(self, **over: Any) -> Credential:
        credential = a_credential(**over)
        self.store.credentials[credential.id] = credential
        return credential

    def add(
        self, kind: ProviderKind = ProviderKind.FIRECRAWL, *, hosts: tuple[str, ...] = HOSTS, **over: Any
    ) -> Provider:
        """Registers a live provider that approves `hosts`. `over` takes fields of `a_provider`."""
        config = over.pop("config", FirecrawlConfig(approved_hosts=hosts))
        is_customers = over.pop("is_customers", False)
        made = a_provider if is_customers else an_internal_provider
        provider = made(kind=kind, config=config, base_url=ENDPOINTS.get(kind, URL), signing=None, **over)
        self.store.registrations[provider.id] = provider
        return provider

    def acquire(self, url: Any = URL, *, token: str | None = "", headers: Any = None, **body: Any) -> Answered:
        """`token` "" is the agent's own, None is none."""
        return self.send({"url": url, **body}, token=token, headers=headers)

    def send(self, body: Any, *, token: str | None = "", headers: Any = None) -> Answered:
        """`body` is an object, or text as it is."""
        token = a_token(self.agent) if token == "" else token
        event = copy.deepcopy(_EVENT)
        every = {**event["headers"], "authorization": f"Bearer {token}" if token else None, **(headers or {})}
        event["headers"] = {name: value for name, value in every.items() if value is not None}
        event["body"] = body if isinstance(body, str) else json.dumps(body)
        response = self.api.handle(event, None)
        return Answered(status=response["statusCode"], headers=response["headers"], text=response.get("body") or "")

    def request(self, url: str = URL) -> AcquireRequest:
        """The service's own request, as the route would make it."""
        return AcquireRequest(
            token=a_token(self.agent),
            agent_id=None,
            wish=AcquireWish(url=url),
            deadline=Deadline.after(25.0, now_s=self.clock.monotonic()),
            request_id="r-1",
        )

    def _parts(self) -> LiveParts:
        rate_limits = FakeRateLimits(clock=self.clock)
        admit = Admit(credentials=self.credentials, rate_limits=rate_limits, clock=self.clock)
        meters = Metering(
            keys=self.keys,
            ledger=self.ledger,
            allowances=self.allowances,
            exchanges=self.exchanges,
            clock=self.clock,
            logger=self.log,
        )
        acquire = Acquire(
            admit=admit,
            catalog=self.catalog,
            ask=AskAcquirer(acquirers=self.acquirers, endpoints=self.endpoints, meters=meters, clock=self.clock),
            keeper=CircuitKeeper(
                lane=Lane.AGENT,
                circuits=self.circuits,
                journal=self.journal,
                clock=self.clock,
                logger=self.log,
                jitter=lambda: 0.0,
            ),
            allow_test_names=False,
            clock=self.clock,
            logger=self.log,
        )
        alexandria = alexandria_wiring.assembled(
            self.quotes,
            self.receipts,
            admit=admit,
            catalog=self.catalog,
            meters=meters,
            endpoint=ENDPOINTS[ProviderKind.FIRECRAWL],
            clock=self.clock,
            logger=self.log,
        )
        return LiveParts(
            acquire=acquire, alexandria=alexandria, admit=admit, clock=self.clock, loop=self.loop, logger=self.log
        )
