"""What a wish for fresh text comes to in a search, at every live service alike."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Final

import pytest

from shared.domain.live_configs import (
    SEARCHING_KINDS,
    Context7Config,
    DeepWikiConfig,
    ExaConfig,
    MintlifyConfig,
)
from shared.domain.passages import FreshnessWish, Question, Retrieval, Warning_
from shared.domain.registrations import ProviderKind
from shared.errors import NotAsked
from shared.providers.context7 import Context7Retriever
from shared.providers.deepwiki import DeepWikiRetriever
from shared.providers.exa import ExaRetriever
from shared.providers.mintlify import MintlifyRetriever
from tests.support.builders import a_source
from tests.support.fake_exchanges import json_answer
from tests.support.fakes import FakeClock
from tests.support.hostile_answers import HostileLine, json_bytes
from tests.support.live_cases import LiveStage

HOSTS = ("docs.example.com",)
KINDS: Final[dict[ProviderKind, tuple[Any, Any]]] = {
    ProviderKind.CONTEXT7: (Context7Retriever, Context7Config(approved_hosts=HOSTS, library="/acme/widgets")),
    ProviderKind.DEEPWIKI: (DeepWikiRetriever, DeepWikiConfig(repositories=("acme/widgets",))),
    ProviderKind.EXA: (ExaRetriever, ExaConfig(approved_hosts=HOSTS)),
    ProviderKind.MINTLIFY: (MintlifyRetriever, MintlifyConfig(approved_hosts=HOSTS)),
}
SAID = {"jsonrpc": "2.0", "id": "$id", "result": {"content": [{"type": "text", "text": "Opened by hand."}]}}
ANSWERS: Final[dict[ProviderKind, Any]] = {
    ProviderKind.CONTEXT7: {"infoSnippets": [{"pageId": "https://docs.example.com/a"}], "codeSnippets": []},
    ProviderKind.DEEPWIKI: SAID,
    ProviderKind.EXA: {"results": [{"url": "https://docs.example.com/a", "text": "Opened by hand."}]},
    ProviderKind.MINTLIFY: SAID,
}
EVERY_KIND = pytest.mark.parametrize("kind", KINDS)


def question(wish: FreshnessWish) -> Question:
    return Question(query="open a widget", freshness=wish)


def retriever_of(kind: ProviderKind) -> Any:
    return KINDS[kind][0](clock=FakeClock(), allow_test_names=False)


def answered(kind: ProviderKind, wish: FreshnessWish) -> Retrieval:
    source = a_source(kind=kind, signing=None, config=KINDS[kind][1])
    line = HostileLine(json_bytes(ANSWERS[kind]))
    retrieval: Retrieval = asyncio.run(retriever_of(kind).retrieve(source, question(wish), meter=line))
    assert retrieval.passages or retrieval.discoveries
    return retrieval


def test_each_live_kind_that_searches_is_looked_at() -> None:
    assert KINDS.keys() == SEARCHING_KINDS


@EVERY_KIND
def test_a_forced_search_asks_no_live_service(kind: ProviderKind) -> None:
    stage = LiveStage(a_source(kind=kind, signing=None, config=KINDS[kind][1]), json_answer(ANSWERS[kind]))
    work = retriever_of(kind).retrieve(stage.source, question(FreshnessWish.FORCE), meter=stage.meter)
    with pytest.raises(NotAsked) as refusal:
        asyncio.run(work)
    assert refusal.value.code == "capability_unavailable"
    assert (stage.meter.operations, stage.exchanges.sent) == (0, [])


@EVERY_KIND
def test_a_service_that_cannot_be_asked_for_a_new_fetch_says_so(kind: ProviderKind) -> None:
    may_be_asked = kind is ProviderKind.EXA
    assert answered(kind, FreshnessWish.NORMAL).warnings == ()
    assert answered(kind, FreshnessWish.FRESH).warnings == (() if may_be_asked else (Warning_.NOT_FRESH,))


def test_exa_is_asked_for_a_new_fetch() -> None:
    stage = LiveStage(
        a_source(kind=ProviderKind.EXA, signing=None, config=KINDS[ProviderKind.EXA][1]),
        json_answer(ANSWERS[ProviderKind.EXA]),
    )
    exa = retriever_of(ProviderKind.EXA)
    asyncio.run(exa.retrieve(stage.source, question(FreshnessWish.FRESH), meter=stage.meter))
    (sent,) = stage.exchanges.sent
    assert json.loads(sent.request.body)["contents"]["maxAgeHours"] == 0
