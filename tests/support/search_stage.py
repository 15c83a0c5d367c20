"""A whole search in memory: the real routes and services of both lanes over fakes, and providers that play a script."""

from __future__ import annotations

import copy
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from functions.search.parts import SearchParts
from functions.search.routes import api_for as search_api
from functions.widget.routes import WidgetParts
from functions.widget.routes import api_for as widget_api
from shared.adapters.event_loop import ProcessLoop
from shared.domain.circuits import Lane
from shared.domain.credentials import Credential
from shared.domain.exposure import CredentialClass, ExposureProfile, Grant
from shared.domain.passages import Passage, Question, Retrieval
from shared.domain.registrations import Provider, ProviderKind, SealedSecret, SigningSecrets, Source
from shared.ports.exchange import Exchange
from shared.ports.retriever import RetrieverLimits
from shared.services.admit import Admit
from shared.services.admit_assistant import AdmitAssistant
from shared.services.admit_preflight import AdmitPreflight
from shared.services.admit_widget import AdmitWidget
from shared.services.agent_cache import AgentCache
from shared.services.ask_signed import AskSigned
from shared.services.circuit_keeper import CircuitKeeper
from shared.services.fan_out import FanOut
from shared.services.find_cards import FindCards
from shared.services.guarded_asking import GuardedAsking
from shared.services.open_search import OpenSearch
from shared.services.search import Search
from shared.services.search_for_assistant import SearchForAssistant
from shared.services.search_for_customer import SearchForCustomer
from tests.support.builders import a_credential, a_passage, a_provider, a_token
from tests.support.card_fakes import (
    FakeCardReader,
    FakeCustomerCardReader,
    FakeCustomerVocabularies,
    FakeVocabularies,
    Shelf,
)
from tests.support.fakes import (
    FakeCatalog,
    FakeClock,
    FakeCredentials,
    FakeCustomerCatalog,
    FakeOrigins,
    FakeRateLimits,
    FakeStore,
    FakeUnsealer,
)
from tests.support.health_fakes import FakeCircuitStore, FakeJournal

EVENTS = Path(__file__).parents[2] / "fixtures" / "events"
ORIGIN = "https://help.fern-desk.test"
Act = Callable[[Question], Awaitable[Retrieval]]


class RecordedLog:
    """Keeps each line as (level, event, fields); `keys` are those that every line carries."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str, dict[str, Any]]] = []
        self.keys: dict[str, Any] = {}

    def append_keys(self, **keys: Any) -> None:
        self.keys |= keys

    def info(self, event: str, **fields: Any) -> None:
        self.lines.append(("info", event, fields))

    def warning(self, event: str, **fields: Any) -> None:
        self.lines.append(("warning", event, fields))

    def error(self, event: str, **fields: Any) -> None:
        self.lines.append(("error", event, fields))

    def of(self, event: str) -> list[dict[str, Any]]:
        return [fields for _, name, fields in self.lines if name == event]


class NoExchanges:
    """Opens nothing: a scripted retriever sends nothing. Remembers each deadline that it was given."""

    def __init__(self) -> None:
        self.opened: list[tuple[str, float]] = []

    def open(self, source: Source, *, deadline: Any) -> Exchange:
        self.opened.append((source.id, deadline.at_s))
        return None  # type: ignore[return-value]


class ScriptedRetriever:
    """Plays `acts[source id]` (an async function of the question) and notes what it was asked."""

    def __init__(self, *, query_characters: int = 1024, results: int = 50, timeout_s: float = 10.0) -> None:
        self.limits = RetrieverLimits(query_characters=query_characters, results=results, timeout_s=timeout_s)
        self.acts: dict[str, Act] = {}
        self.asked: list[tuple[Source, Question, SigningSecrets]] = []

    async def retrieve(
        self, source: Source, question: Question, *, secrets: SigningSecrets, exchange: Exchange
    ) -> Retrieval:
        self.asked.append((source, question, secrets))
        act = self.acts.get(source.id)
        return await act(question) if act else Retrieval()

    async def declare(self, source: Source, *, secrets: SigningSecrets, exchange: Exchange) -> Any:
        raise AssertionError("a search never asks for a declaration")

    @property
    def asked_ids(self) -> list[str]:
        return [source.id for source, _, _ in self.asked]


@dataclass(frozen=True)
class Answered:
    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text, parse_constant=_no_constant)


def _no_constant(word: str) -> Any:
    raise AssertionError(f"{word} is not JSON")


def event_of(name: str) -> dict[str, Any]:
    """An event as API Gateway sends it, from `fixtures/events`."""
    event: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text())
    return event


_EVENTS = {
    name: event_of(name)
    for name in ("search_agent", "search_assistant", "dify_retrieval", "widget_search", "widget_preflight")
}


def sealed_for(source_id: str, text: str, *, exposure: ExposureProfile, purpose: str = "signing") -> SealedSecret:
    """What a `FakeUnsealer` of that exposure opens."""
    return SealedSecret(
        ciphertext=json.dumps([exposure.value, source_id, purpose, text]).encode(), fingerprint="f" * 16
    )


class Stage:
    """`agent`, `assistant`, `dify` and `widget` send one request each; `play` sets what a provider does."""

    def __init__(self, *, cache_s: float = 0.0, retriever: Any = None, exchanges: Any = None, log: Any = None) -> None:
        """`retriever` and `exchanges` take the place of the scripted ones, `log` that of one that only records."""
        self.clock = exchanges.clock if exchanges else FakeClock()
        self.store = FakeStore(clock=self.clock)
        self.log = log or RecordedLog()
        self.retriever = retriever or ScriptedRetriever()
        self.exchanges = exchanges or NoExchanges()
        self.loop = ProcessLoop()
        self.credentials = FakeCredentials(self.store.credentials.values())
        self.rate_limits = FakeRateLimits(clock=self.clock)
        self.catalog = FakeCatalog(self.store.registrations.values())
        self.customer_catalog = FakeCustomerCatalog(self.store.customer_sources())
        self.shelf = Shelf(self.store)
        self.card_reader = FakeCardReader(self.shelf)
        self.customer_card_reader = FakeCustomerCardReader(self.shelf)
        self.vocabularies = FakeVocabularies(self.shelf)
        self.customer_vocabularies = FakeCustomerVocabularies(self.shelf)
        self.origins = FakeOrigins(self.store.credentials.values(), clock=self.clock)
        self.circuits = {lane: FakeCircuitStore() for lane in Lane}
        self.journals = {lane: FakeJournal(self.clock) for lane in Lane}
        self.unsealers = {exposure: FakeUnsealer(exposure=exposure) for exposure in ExposureProfile}
        self.search_api = search_api(self._search_parts(cache_s))
        self.widget_api = widget_api(self._widget_parts())
        self.agent_credential = self.add_credential(credential_class=CredentialClass.AGENT)
        self.assistant_credential = self.add_credential(
            credential_class=CredentialClass.ASSISTANT, grants=frozenset({Grant.READ_PUBLIC})
        )
        self.widget_credential = self.add_credential(credential_class=CredentialClass.PUBLIC, origins=(ORIGIN,))

    def close(self) -> None:
        self.loop.close()

    def add_credential(self, **over: Any) -> Credential:
        credential = a_credential(**over)
        self.store.credentials[credential.id] = credential
        return credential

    def add(self, *passages: Passage, act: Act | None = None, **over: Any) -> Provider:
        """Registers a provider (fields of `a_provider`) that answers with `passages` or plays `act`."""
        provider = a_provider(**over)
        sealed = sealed_for(provider.id, "kgs_" + "5c" * 32, exposure=provider.exposure_profile)
        provider = replace(provider, source=replace(provider.source, signing=sealed))
        self.store.registrations[provider.id] = provider
        self.play(provider, act or answering(*passages))
        return provider

    def play(self, provider: Provider, act: Act) -> None:
        self.retriever.acts[provider.id] = act

    def agent(self, query: str = "ferry pass", *, token: str | None = "", headers: Any = None, **body: Any) -> Answered:
        token = a_token(self.agent_credential) if token == "" else token
        return self.send_search(event_for("search_agent", token, {"query": query, **body}, headers))

    def assistant(
        self, query: str = "ferry pass", *, token: str | None = "", headers: Any = None, **body: Any
    ) -> Answered:
        token = a_token(self.assistant_credential) if token == "" else token
        return self.send_search(event_for("search_assistant", token, {"query": query, **body}, headers))

    def dify(
        self, query: str = "ferry pass", *, token: str | None = "", headers: Any = None, top_k: Any = 10, **body: Any
    ) -> Answered:
        """A retrieval as Dify sends it, with an assistant's key unless told otherwise."""
        token = a_token(self.assistant_credential) if token == "" else token
        whole = {
            "retrieval_setting": {"top_k": top_k, "score_threshold": 0.5},
            "query": query,
            "knowledge_id": "public",
            "metadata_condition": None,
            **body,
        }
        return self.send_search(event_for("dify_retrieval", token, whole, headers))

    def widget(
        self,
        query: str = "ferry pass",
        *,
        token: str | None = "",
        origin: str | None = ORIGIN,
        address: str = "203.0.113.7",
        headers: Any = None,
        **body: Any,
    ) -> Answered:
        token = a_token(self.widget_credential) if token == "" else token
        event = event_for("widget_search", token, {"query": query, **body}, {"origin": origin, **(headers or {})})
        event["requestContext"]["http"]["sourceIp"] = address
        return self.send_widget(event)

    def preflight(self, *, origin: str | None = ORIGIN, headers: Any = None) -> Answered:
        return self.send_widget(event_for("widget_preflight", None, None, {"origin": origin, **(headers or {})}))

    def send_search(self, event: dict[str, Any]) -> Answered:
        return _answered(self.search_api.handle(event, None))

    def send_widget(self, event: dict[str, Any]) -> Answered:
        return _answered(self.widget_api.handle(event, None))

    def _search_parts(self, cache_s: float) -> SearchParts:
        admit = Admit(credentials=self.credentials, rate_limits=self.rate_limits, clock=self.clock)
        asking = self._asking(Lane.AGENT)
        search = Search(
            opening=OpenSearch(admit=admit, catalog=self.catalog, asking=asking, clock=self.clock, logger=self.log),
            unsealers=self.unsealers,
            asking=asking,
            find_cards=FindCards(
                vocabularies=self.vocabularies, cards=self.card_reader, clock=self.clock, logger=self.log
            ),
            cache=AgentCache(ttl_s=cache_s, clock=self.clock),
            clock=self.clock,
            logger=self.log,
        )
        return SearchParts(
            search=search,
            search_for_assistant=SearchForAssistant(
                search=self._search_for_customer(),
                find_cards=FindCards(
                    vocabularies=self.customer_vocabularies,
                    cards=self.customer_card_reader,
                    clock=self.clock,
                    logger=self.log,
                ),
            ),
            admit_assistant=AdmitAssistant(admit=admit),
            clock=self.clock,
            loop=self.loop,
            logger=self.log,
        )

    def _widget_parts(self) -> WidgetParts:
        return WidgetParts(
            search_for_customer=self._search_for_customer(),
            admit_widget=AdmitWidget(credentials=self.credentials, rate_limits=self.rate_limits, clock=self.clock),
            admit_preflight=AdmitPreflight(origins=self.origins),
            clock=self.clock,
            loop=self.loop,
            logger=self.log,
        )

    def _search_for_customer(self) -> SearchForCustomer:
        return SearchForCustomer(
            catalog=self.customer_catalog,
            unsealer=self.unsealers[ExposureProfile.CUSTOMER_SAFE],
            asking=self._asking(Lane.CUSTOMER),
            clock=self.clock,
            logger=self.log,
        )

    def _asking(self, lane: Lane) -> GuardedAsking:
        keeper = CircuitKeeper(
            lane=lane,
            circuits=self.circuits[lane],
            journal=self.journals[lane],
            customer_circuits=self.circuits[Lane.CUSTOMER] if lane is Lane.AGENT else None,
            clock=self.clock,
            logger=self.log,
            jitter=lambda: 0.0,
        )
        return GuardedAsking(fan_out=self._fan_out(), keeper=keeper, clock=self.clock)

    def _fan_out(self) -> FanOut:
        signed = AskSigned(retriever=self.retriever, exchanges=self.exchanges, clock=self.clock)
        return FanOut(askers={ProviderKind.CONTRACT: signed}, clock=self.clock, logger=self.log)


def event_for(name: str, token: str | None, body: Any, headers: Any = None) -> dict[str, Any]:
    """The recorded event with this token, body (an object, or text as it is) and headers (None = without)."""
    event = copy.deepcopy(_EVENTS[name])
    every = {**event["headers"], "authorization": f"Bearer {token}" if token else None, **(headers or {})}
    event["headers"] = {key: value for key, value in every.items() if value is not None}
    event["body"] = body if body is None or isinstance(body, str) else json.dumps(body)
    return event


def _answered(response: dict[str, Any]) -> Answered:
    assert response.get("isBase64Encoded") in (None, False)
    return Answered(status=response["statusCode"], headers=response["headers"], text=response.get("body") or "")


def answering(*passages: Passage, **over: Any) -> Act:
    async def act(question: Question) -> Retrieval:
        return Retrieval(passages=passages[: question.limit], **over)

    return act


def raising(error: BaseException) -> Act:
    async def act(_question: Question) -> Retrieval:
        raise error

    return act


def passages(count: int, **over: Any) -> tuple[Passage, ...]:
    return tuple(a_passage(**over) for _ in range(count))
