"""One search of three products, an external server and a contract provider: the order and the shares of text are the
same whoever is fast, and whoever fails takes nothing from the others.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from shared.assembly.server_askers import server_askers
from shared.domain.bindings import CommonConfig
from shared.domain.budget import SNIPPET_BUDGET_CHARACTERS
from shared.domain.deadlines import Deadline
from shared.domain.exposure import ExposureProfile
from shared.domain.registrations import Capabilities, Provider, ProviderKind, SealedSecret, Source
from shared.errors import BlockedAddress, ConnectionFailed, ExchangeTimeout
from shared.ports.exchange import Exchange, OutboundAnswer, OutboundRequest
from shared.providers.contract import ContractRetriever
from shared.services.ask_signed import AskSigned
from shared.services.fan_out import FanOut
from tests.support.builders import a_binding, a_provider, an_external_provider, an_instance
from tests.support.fake_exchanges import FakeExchange, FakeExchanges, Step, json_answer
from tests.support.fakes import FakeClock
from tests.support.search_stage import Answered, Stage, sealed_for

KINDS = ("contract", "dify", "fastgpt", "ragflow", "dify_external")  # in the order of their registration
EACH = 6
LIMIT = EACH * len(KINDS)
LONG = 4_000  # characters of each text, and as much as a binding shows of one by default
# Nobody's scores are on anybody's scale.
SCORES: dict[str, list[float | None]] = {
    "contract": [0.1, 0.6, 0.4, None, 0.2, 0.5],
    "dify": [None] * EACH,
    "fastgpt": [2.5, 0.0, 31.0, 2.5, 0.5, 1.0],
    "ragflow": [0.0] * EACH,
    "dify_external": [0.99] * EACH,
}
BY_SCORE = [1, 5, 2, 4, 0, 3]  # of the contract provider, the one that declares scoring
WHOLE = [f"contract {rank}" for rank in BY_SCORE] + [f"{kind} {rank}" for rank in range(EACH) for kind in KINDS[1:]]


def text(kind: str, rank: int) -> str:
    return f"{kind} {rank} ".ljust(LONG, "x")


def of_contract() -> Any:
    rows = [
        {
            "documentId": f"contract-{rank}",
            "title": f"contract {rank}",
            "snippet": text("contract", rank),
            "score": score,
            "url": None,
            "locale": "en",
            "audience": "public",
        }
        for rank, score in enumerate(SCORES["contract"])
    ]
    return {"contractVersion": 1, "results": rows}


def of_dify() -> Any:
    return {
        "records": [
            {
                "segment": {"id": f"s{rank}", "content": text("dify", rank), "document": {"name": f"dify {rank}"}},
                "score": score,
            }
            for rank, score in enumerate(SCORES["dify"])
        ]
    }


def of_fastgpt() -> Any:
    rows = [
        {
            "id": f"d{rank}",
            "q": text("fastgpt", rank),
            "a": "",
            "sourceName": f"fastgpt {rank}",
            "score": [{"type": "embedding", "value": score, "index": rank}],
        }
        for rank, score in enumerate(SCORES["fastgpt"])
    ]
    return {"code": 200, "data": {"list": rows}}


def of_ragflow() -> Any:
    chunks = [
        {"id": f"c{rank}", "content": text("ragflow", rank), "document_keyword": f"ragflow {rank}", "similarity": score}
        for rank, score in enumerate(SCORES["ragflow"])
    ]
    return {"code": 0, "data": {"chunks": chunks}}


def of_dify_external() -> Any:
    rows = [
        {"content": text("dify_external", rank), "title": f"dify_external {rank}", "score": score}
        for rank, score in enumerate(SCORES["dify_external"])
    ]
    return {"records": rows}


GOOD: dict[str, Callable[[], Any]] = {
    "contract": of_contract,
    "dify": of_dify,
    "fastgpt": of_fastgpt,
    "ragflow": of_ragflow,
    "dify_external": of_dify_external,
}


class InTurn(FakeExchanges):
    """Answers come in the order of `turns`, ids of sources, whoever was asked first. `answered` is what came of it."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        super().__init__(clock=self.clock)
        self.turns: list[str] = []
        self.answered: list[str] = []
        self.come: dict[str, asyncio.Event] = {}

    def in_order(self, ids: list[str]) -> None:
        self.turns, self.answered = ids, []
        self.come = {each: asyncio.Event() for each in ids}

    def open(self, source: Source, *, deadline: Deadline) -> Exchange:
        return WaitsItsTurn(source=source, deadline=deadline, clock=self.clock, owner=self, turns=self)

    async def turn_of(self, source_id: str) -> None:
        place = self.turns.index(source_id)
        if place:
            await self.come[self.turns[place - 1]].wait()
        self.answered.append(source_id)
        self.come[source_id].set()


@dataclass(slots=True)
class WaitsItsTurn(FakeExchange):
    turns: InTurn = field(kw_only=True)

    async def _send(self, build: Callable[[], OutboundRequest]) -> OutboundAnswer:
        await self.turns.turn_of(self.source.id)
        return await FakeExchange._send(self, build)


class Mixed(Stage):
    """The five providers of one exposure profile, each asked by its real kind."""

    def __init__(self, exposure: ExposureProfile) -> None:
        self.turns = InTurn()
        super().__init__(exchanges=self.turns)
        self.exposure = exposure
        self.ids = {kind: self.registered(kind) for kind in KINDS}
        for kind in KINDS:
            self.answers(kind, json_answer(GOOD[kind]()))
        self.turns.in_order(list(self.ids.values()))

    def registered(self, kind: str) -> str:
        provider = self.as_registered(kind)
        self.store.registrations[provider.id] = provider
        return provider.id

    def as_registered(self, kind: str) -> Provider:
        if kind == "contract":
            scoring = Capabilities(scoring=True)
            provider = a_provider(exposure_profile=self.exposure, capabilities=scoring)
            sealed = self.sealed(provider.id, purpose="signing")
            return replace(provider, source=replace(provider.source, signing=sealed))
        if kind == "dify_external":
            provider = an_external_provider(exposure_profile=self.exposure, config={"common": CommonConfig()})
            assert provider.source.link is not None
            sealed = self.sealed(provider.id, purpose="instance")
            link = replace(provider.source.link, credential=sealed)
            return replace(provider, source=replace(provider.source, link=link))
        instance = an_instance(kind=ProviderKind(kind), exposure_profile=self.exposure)
        return a_binding(replace(instance, credential=self.sealed(instance.id, purpose="instance")))

    def sealed(self, owner_id: str, *, purpose: str) -> SealedSecret:
        secret = "kgs_" + "5c" * 32 if purpose == "signing" else "key-for-tests"
        return sealed_for(owner_id, secret, exposure=self.exposure, purpose=purpose)

    def answers(self, kind: str, step: Step) -> None:
        self.turns.script(self.ids[kind], step)

    def in_order(self, *kinds: str) -> None:
        self.turns.in_order([self.ids[kind] for kind in kinds])

    def _fan_out(self) -> FanOut:
        contract = ContractRetriever(clock=self.clock, allow_test_names=True)
        signed = AskSigned(retriever=contract, exchanges=self.exchanges, clock=self.clock)
        servers = server_askers(exchanges=self.exchanges, allow_test_names=True, clock=self.clock)
        return FanOut(askers={ProviderKind.CONTRACT: signed, **servers}, clock=self.clock, logger=self.log)


@pytest.fixture(params=ExposureProfile, ids=lambda profile: profile.value)
def mixed(request: pytest.FixtureRequest) -> Iterator[Mixed]:
    stage = Mixed(request.param)
    yield stage
    stage.close()


def titles(answered: Answered) -> list[str]:
    assert answered.status == 200, answered.text
    return [result["title"] for result in answered.json["results"]]


def test_the_order_is_that_of_registrations_scores_and_turns(mixed: Mixed) -> None:
    assert titles(mixed.agent(limit=LIMIT)) == WHOLE


def test_whoever_answers_first_the_answer_is_the_same_to_the_byte(mixed: Mixed) -> None:
    told = set()
    for kinds in itertools.permutations(KINDS):
        mixed.in_order(*kinds)
        told.add(mixed.agent(limit=LIMIT).text)
        assert mixed.turns.answered == [mixed.ids[kind] for kind in kinds]

    assert len(told) == 1


def test_the_budget_of_text_is_shared_in_that_order(mixed: Mixed) -> None:
    """A thousand characters to each of thirty, and what is left to the first six."""
    results = mixed.agent(limit=LIMIT).json["results"]

    assert [len(result["snippet"]) for result in results] == [LONG] * 6 + [1_000] * (LIMIT - 6)
    assert sum(len(result["snippet"]) for result in results) == SNIPPET_BUDGET_CHARACTERS
    assert [result["truncated"] for result in results] == [False] * 6 + [True] * (LIMIT - 6)


@pytest.mark.parametrize("limit", [1, 7, 13])
def test_a_limit_takes_the_first_of_the_same_order(mixed: Mixed, limit: int) -> None:
    """Each provider is asked for no more, so that a scored one may have had better ones further down."""
    found = titles(mixed.agent(limit=limit))

    assert len(found) == limit
    assert found == [title for title in WHOLE if int(title[-1]) < limit][:limit]


@pytest.mark.parametrize("limit", [-1, 0, 51, 10**9])
def test_a_senseless_limit_is_refused_here_and_reaches_nobody(mixed: Mixed, limit: int) -> None:
    """A server might call it a wrong key."""
    refused = mixed.agent(limit=limit)

    assert (refused.status, refused.json["errors"][0]["pointer"]) == (422, "/limit")
    assert mixed.turns.sent == []


BROKEN: dict[str, tuple[Step, str]] = {
    "cannot-be-reached": (ConnectionFailed(), "connection_failed"),
    "takes-too-long": (ExchangeTimeout(), "timeout"),
    "is-blocked": (BlockedAddress(), "blocked_address"),
    "refuses": (json_answer({"message": "no", "code": "unauthorized", "status": 401}, status=401), "unauthorized"),
    "speaks-nonsense": (json_answer([]), "invalid_response"),
    "is-at-fault": (json_answer({}, status=500), "upstream_error"),
    "breaks-the-gateway": (KeyError("segment"), "internal_error"),
    "cancels-itself": (asyncio.CancelledError(), "internal_error"),
}


@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("kind", KINDS)
def test_one_that_fails_takes_nothing_from_the_others(mixed: Mixed, kind: str, how: str) -> None:
    step, code = BROKEN[how]
    mixed.answers(kind, step)
    answered = mixed.agent(limit=LIMIT)

    assert titles(answered) == [title for title in WHOLE if not title.startswith(f"{kind} ")]
    assert answered.json["status"] == "partial"
    outcomes = {each["id"]: each["errorCode"] for each in answered.json["providers"]}
    assert outcomes == dict.fromkeys(mixed.ids.values()) | {mixed.ids[kind]: code}


def test_where_all_fail_but_one_its_passages_get_all_of_the_text(mixed: Mixed) -> None:
    for kind in KINDS:
        if kind != "ragflow":
            mixed.answers(kind, ConnectionFailed())
    results = mixed.agent(limit=LIMIT).json["results"]

    assert [result["title"] for result in results] == [f"ragflow {rank}" for rank in range(EACH)]
    assert [len(result["snippet"]) for result in results] == [LONG] * EACH


@pytest.mark.parametrize("lane", ["assistant", "widget", "dify"])
def test_customers_get_the_same_order_and_no_word_of_what_failed(lane: str) -> None:
    mixed = Mixed(ExposureProfile.CUSTOMER_SAFE)
    try:
        search = getattr(mixed, lane)
        whole = shown_to_customers(search())
        mixed.in_order(*reversed(KINDS))
        assert shown_to_customers(search()) == whole == WHOLE[:10]
        mixed.answers("fastgpt", json_answer({"code": 514, "statusText": "unAuthApiKey", "data": None}, status=500))
        without = search()
    finally:
        mixed.close()

    assert shown_to_customers(without) == [title for title in WHOLE if not title.startswith("fastgpt")][:10]
    assert "unauthorized" not in without.text


@pytest.mark.parametrize("lane", ["assistant", "widget", "dify"])
def test_customers_reach_nothing_of_an_instance_for_agents(lane: str) -> None:
    mixed = Mixed(ExposureProfile.AGENT_ONLY)
    try:
        assert shown_to_customers(getattr(mixed, lane)()) == []
    finally:
        mixed.close()

    assert mixed.turns.sent == []


def shown_to_customers(answered: Answered) -> list[str]:
    assert answered.status == 200, answered.text
    return [result["title"] for result in answered.json.get("results", answered.json.get("records"))]
