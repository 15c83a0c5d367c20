"""What Dify is asked, and what it is never asked: settings, limits, hostile ids, credentials."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from shared.domain.bindings import (
    Binding,
    CommonConfig,
    DifyConfig,
    DifyRerankMode,
    DifyRetrievalModel,
    DifySearchMethod,
    DifyWeights,
    FastGptConfig,
)
from shared.domain.deadlines import Deadline
from shared.domain.exposure import Audience, ExposureProfile
from shared.domain.passages import Evidence, Freshness, Passage, Question
from shared.errors import ConnectionFailed, ExchangeTimeout
from shared.providers.dify import LIMITS, DifyServer
from tests.support.dify_stage import ID, KEY, NOTHING, QUESTION, Stage, failure_of
from tests.support.fake_exchanges import HANGS, Step
from tests.support.fakes import FakeClock
from tests.support.live_cases import answer_of, good


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("https://kb.example.com", "https://kb.example.com/v1"),
        ("https://kb.example.com/", "https://kb.example.com/v1"),
        ("https://kb.example.com/v1", "https://kb.example.com/v1"),
        ("https://kb.example.com/v1/", "https://kb.example.com/v1"),
        ("https://kb.example.com:8443/dify", "https://kb.example.com:8443/dify/v1"),
        ("https://kb.example.com/dify/v1/", "https://kb.example.com/dify/v1"),
        ("https://kb.example.com/v11", "https://kb.example.com/v11/v1"),
    ],
)
def test_base_urls_are_taken_with_and_without_the_prefix(given: str, asked: str) -> None:
    dify = DifyServer(clock=FakeClock(), allow_test_names=False)
    assert dify.at(given) == asked
    assert dify.at(asked) == asked


def test_a_bare_question_lets_the_data_set_s_own_settings_apply() -> None:
    stage = Stage(NOTHING)
    stage.retrieve()
    assert stage.body == {"query": "huts"}
    (sent,) = stage.exchanges.sent
    assert sent.headers == {
        "authorization": f"Bearer {KEY}",
        "accept": "application/json",
        "user-agent": "knowledge-gateway/1",
        "content-type": "application/json",
    }


def test_an_economy_data_set_is_asked_for_keywords() -> None:
    stage = Stage(NOTHING, product=DifyConfig(is_economy=True))
    stage.retrieve()
    least = {"search_method": "keyword_search", "reranking_enable": False, "score_threshold_enabled": False, "top_k": 6}
    assert stage.body == {"query": "huts", "retrieval_model": least}


@pytest.mark.parametrize("is_economy", [False, True])
def test_a_chosen_model_is_sent_whole(is_economy: bool) -> None:
    model = DifyRetrievalModel(
        search_method=DifySearchMethod.HYBRID,
        score_threshold=0.25,
        rerank_mode=DifyRerankMode.WEIGHTS,
        weights=DifyWeights(
            vector_weight=0.6, keyword_weight=0.4, embedding_provider_name="acme", embedding_model_name="embed"
        ),
    )
    stage = Stage(NOTHING, product=DifyConfig(retrieval_model=model, is_economy=is_economy))
    stage.retrieve()
    assert stage.body["retrieval_model"] == {
        "search_method": "hybrid_search",
        "reranking_enable": True,
        "reranking_mode": "weighted_score",
        "reranking_model": {"reranking_provider_name": "", "reranking_model_name": ""},
        "weights": {
            "weight_type": "customized",
            "vector_setting": {
                "vector_weight": 0.6,
                "embedding_provider_name": "acme",
                "embedding_model_name": "embed",
            },
            "keyword_setting": {"keyword_weight": 0.4},
        },
        "top_k": 6,
        "score_threshold_enabled": True,
        "score_threshold": 0.25,
    }


@pytest.mark.parametrize("method", list(DifySearchMethod))
def test_no_field_of_a_chosen_model_is_ever_left_out(method: DifySearchMethod) -> None:
    stage = Stage(NOTHING, product=DifyConfig(retrieval_model=DifyRetrievalModel(search_method=method)))
    stage.retrieve()
    assert stage.body["retrieval_model"] == {
        "search_method": method.value,
        "reranking_enable": False,
        "reranking_mode": None,
        "reranking_model": {"reranking_provider_name": "", "reranking_model_name": ""},
        "weights": None,
        "top_k": 6,
        "score_threshold_enabled": False,
        "score_threshold": None,
    }


def test_a_threshold_of_zero_is_switched_on() -> None:
    model = DifyRetrievalModel(search_method=DifySearchMethod.SEMANTIC, score_threshold=0.0)
    stage = Stage(NOTHING, product=DifyConfig(retrieval_model=model))
    stage.retrieve()
    assert stage.body["retrieval_model"]["score_threshold_enabled"] is True


@pytest.mark.parametrize(("limit", "result_limit", "top_k"), [(1, 6, 1), (50, 6, 6), (10, 20, 10), (3, 3, 3)])
def test_never_more_is_asked_for_than_search_and_binding_take(limit: int, result_limit: int, top_k: int) -> None:
    product, common = DifyConfig(is_economy=True), CommonConfig(result_limit=result_limit)
    stage = Stage(NOTHING, product=product, common=common)
    stage.retrieve(Question(query="huts", limit=limit))
    assert stage.body["retrieval_model"]["top_k"] == top_k


def test_nineteen_long_records_become_the_three_that_were_asked_for() -> None:
    records = [{"segment": {"id": f"s-{n}", "content": "x" * 40_000}, "score": 1 - n / 100} for n in range(19)]
    stage = Stage(good({"records": records}), product=DifyConfig(is_economy=True))
    found = stage.retrieve(Question(query="huts", limit=3))
    assert [each.chunk_id for each in found.passages] == ["s-0", "s-1", "s-2"]
    assert [len(each.snippet) for each in found.passages] == [4_000] * 3
    assert [each.value for each in found.warnings] == ["surplus_cut", "snippet_cut"]


@pytest.mark.parametrize("query", ["q" * 250, "é" * 250, "🏔" * 250])
def test_two_hundred_and_fifty_characters_are_asked_whole(query: str) -> None:
    stage = Stage(NOTHING)
    stage.retrieve(Question(query=query))
    assert stage.body["query"] == query


@pytest.mark.parametrize("query", ["q" * 251, "🏔" * 251])
def test_a_longer_question_is_refused_before_anything_is_sent_and_never_cut(query: str) -> None:
    stage = Stage(NOTHING)
    assert failure_of(lambda: stage.retrieve(Question(query=query))).code == "query_too_long"
    assert stage.asked == []
    assert LIMITS.query_characters == 250


@pytest.mark.parametrize(
    ("exposure", "audience"),
    [(ExposureProfile.CUSTOMER_SAFE, Audience.PUBLIC), (ExposureProfile.AGENT_ONLY, Audience.INTERNAL)],
)
def test_the_registration_says_who_may_see_a_passage(exposure: ExposureProfile, audience: Audience) -> None:
    record = {"segment": {"id": "s-1", "content": "Huts open in June.", "audience": "public"}, "score": 1}
    (passage,) = Stage(good({"records": [record]}), exposure=exposure).retrieve().passages
    assert passage == Passage(
        document_id=ID,
        title="",
        snippet="Huts open in June.",
        audience=audience,
        evidence=Evidence.SOURCE_EXCERPT,
        chunk_id="s-1",
        score=1.0,
        freshness=Freshness.UNKNOWN,
    )


@pytest.mark.parametrize("nested", [b"[" * 20_000 + b"]" * 20_000, b'{"records":' + b"[" * 20_000])
def test_forty_thousand_brackets_are_no_answer(nested: bytes) -> None:
    stage = Stage(replace(NOTHING, body=nested))
    assert failure_of(stage.retrieve).code == "invalid_response"


@pytest.mark.parametrize(
    ("remote_id", "path"),
    [
        ("a/b?x=1#y", "a%2Fb%3Fx%3D1%23y"),
        ("../../admin", "..%2F..%2Fadmin"),
        ("%2e%2e%2f", "%252e%252e%252f"),
        ("a\\b c", "a%5Cb%20c"),
        ("山", "%E5%B1%B1"),
        ("x\r\nHost: elsewhere", "x%0D%0AHost%3A%20elsewhere"),
        ("...a", "...a"),
    ],
)
def test_a_hostile_id_stays_one_segment_of_the_path(remote_id: str, path: str) -> None:
    stage = Stage(NOTHING, remote_id=remote_id)
    stage.retrieve()
    assert stage.asked == [f"POST /datasets/{path}/retrieve"]
    stage = Stage(answer_of({"status": 404, "body": {}}))
    assert failure_of(lambda: stage.detail(remote_id)).code == "not_found"
    assert stage.asked == [f"GET /datasets/{path}"]


@pytest.mark.parametrize("remote_id", ["", ".", "..", "..."])
def test_an_id_that_names_another_path_is_never_sent(remote_id: str) -> None:
    stage = Stage(NOTHING, remote_id=remote_id)
    assert failure_of(stage.retrieve).code == "not_found"
    assert failure_of(lambda: stage.detail(remote_id)).code == "not_found"
    assert stage.asked == []


@pytest.mark.parametrize("key", ["new\nline", "Schlüssel", "tab\t"])
def test_a_credential_that_cannot_stand_in_a_header_is_never_sent(key: str) -> None:
    stage = Stage(NOTHING)
    assert failure_of(lambda: stage.retrieve(key=key)).code == "not_configured"
    assert stage.asked == []


def test_without_a_credential_none_is_sent() -> None:
    stage = Stage(answer_of({"status": 401, "body": {"code": "unauthorized"}}))
    assert failure_of(lambda: stage.retrieve(key=None)).code == "unauthorized"
    assert "authorization" not in stage.exchanges.sent[0].headers


@pytest.mark.parametrize("config", [None, FastGptConfig()], ids=["no_binding", "another_product"])
def test_what_is_bound_to_nothing_here_is_not_asked(config: FastGptConfig | None) -> None:
    stage = Stage(NOTHING)
    bound = stage.source.config
    assert isinstance(bound, Binding)
    stage.source = replace(stage.source, config=None if config is None else replace(bound, product=config))
    assert failure_of(stage.retrieve).code == "not_configured"
    assert stage.asked == []


@pytest.mark.parametrize(("step", "code"), [(ConnectionFailed(), "connection_failed"), (HANGS, "timeout")])
def test_a_failing_line_fails_the_question(step: Step, code: str) -> None:
    stage = Stage(step)
    soon = Deadline.after(0.05, now_s=stage.clock.monotonic())
    line = stage.exchanges.open(stage.source, deadline=soon)
    with pytest.raises((ConnectionFailed, ExchangeTimeout)) as caught:
        asyncio.run(stage.dify.retrieve(stage.source, QUESTION, credential=KEY, exchange=line))
    assert caught.value.code == code
    assert len(stage.asked) == 1
