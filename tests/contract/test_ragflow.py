"""What `ports.knowledge_server` promises, kept by RAGFlow: answers of many versions, and a real server."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from shared.adapters.clock import SystemClock
from shared.domain.bindings import Binding, CommonConfig, FastGptConfig, RagflowConfig
from shared.domain.exposure import Audience, ExposureProfile
from shared.domain.passages import Evidence, Freshness, Passage, Question
from shared.domain.registrations import ProviderConfig, ProviderKind
from shared.errors import ConnectionFailed, ExchangeError
from shared.providers.ragflow import LIMITS, RagflowServer
from tests.support.builders import a_binding, an_instance
from tests.support.fake_exchanges import HANGS, Step, after, json_answer
from tests.support.fakes import FakeClock
from tests.support.live_cases import answer_of, cases, check_failure, good
from tests.support.read_only import RAGFLOW_READING
from tests.support.real_asks import ask_for_real
from tests.support.scripted_service import scripted_service
from tests.support.server_stage import (
    ASKED,
    KEY,
    ServerStage,
    entry_as_recorded,
    failure_of,
    passage_as_recorded,
)

BASE = "https://ragflow.example.com/api/v1"
ID = "3f2a9c0e5b1d11f0a1b20242ac120006"
TOPICS = ("searches", "refusals", "broken", "lists", "details")
SEARCH, LIST = "POST /retrieval", "GET /datasets?page=1&page_size=100"
CONFIRMATION = "GET /datasets?page=1&page_size=10"
NOTHING = good({"code": 0, "data": {"total": 0, "chunks": [], "doc_aggs": []}})
DOUBTFUL = json_answer({"code": 401, "data": None, "message": "UPSTREAM-WORDS"}, status=401)


def stage_with(*steps: Step, **binding: Any) -> ServerStage:
    clock = FakeClock()
    server = RagflowServer(clock=clock, allow_test_names=True)
    values = {"remote_id": ID, "clock": clock, "base_url": BASE} | binding
    stage = ServerStage(server, ProviderKind.RAGFLOW, *steps, **values)
    stage.exchanges.reading = RAGFLOW_READING
    return stage


def stage_of(case: dict[str, Any]) -> ServerStage:
    ask = case["ask"]
    product = RagflowConfig(use_kg=ask.get("use_kg", False), has_graph=ask.get("has_graph", False))
    common = CommonConfig(result_limit=20, max_snippet_characters=ask.get("max_snippet_characters", 4_000))
    answers = map(answer_of, case["answers"])
    return stage_with(*answers, product=product, common=common, remote_id=ask.get("id", ID))


def searched(case: dict[str, Any]) -> ServerStage:
    stage, outcome = stage_of(case), case["outcome"]
    question = Question(query=ASKED, limit=case["ask"]["limit"])
    if "code" in outcome:
        check_failure(failure_of(lambda: stage.retrieve(question)), outcome)
    else:
        found = stage.retrieve(question)
        assert [passage_as_recorded(each) for each in found.passages] == outcome["passages"]
        assert [each.value for each in found.warnings] == outcome.get("warnings", [])
        assert "UPSTREAM" not in repr(found)
    assert stage.asked == [SEARCH, CONFIRMATION][: len(case["answers"])]
    stage.check_secrets()
    return stage


@cases("ragflow", "searches")
def test_a_search(case: dict[str, Any]) -> None:
    stage = searched(case)
    if "sent" in case:
        assert stage.bodies == [case["sent"]]


@cases("ragflow", "refusals")
def test_a_refusal(case: dict[str, Any]) -> None:
    searched(case)


@cases("ragflow", "broken")
def test_a_broken_answer(case: dict[str, Any]) -> None:
    searched(case)


@cases("ragflow", "lists")
def test_a_list(case: dict[str, Any]) -> None:
    stage, outcome = stage_of(case), case["outcome"]
    if "code" in outcome:
        check_failure(failure_of(lambda: stage.catalog(**case["ask"])), outcome)
    else:
        page = stage.catalog(**case["ask"])
        assert [entry_as_recorded(each) for each in page.entries] == outcome["entries"]
        assert (page.total, page.page, page.has_more, page.is_cut) == (outcome["total"], 1, False, False)
        assert "UPSTREAM" not in repr(page)
    assert stage.asked == [LIST]
    stage.check_secrets()


@cases("ragflow", "details")
def test_a_detail(case: dict[str, Any]) -> None:
    stage, outcome, remote_id = stage_of(case), case["outcome"], case["ask"]["id"]
    if "code" in outcome:
        check_failure(failure_of(lambda: stage.detail(remote_id)), outcome)
    else:
        entry = stage.detail(remote_id)
        assert entry_as_recorded(entry) == outcome["entry"]
        assert "UPSTREAM" not in repr(entry)
    assert stage.asked == [f"{CONFIRMATION}&id={remote_id}", CONFIRMATION][: len(case["answers"])]
    stage.check_secrets()


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("https://kb.example.com", "https://kb.example.com/api/v1"),
        ("https://kb.example.com/", "https://kb.example.com/api/v1"),
        ("https://kb.example.com/api", "https://kb.example.com/api/v1"),
        ("https://kb.example.com/api/", "https://kb.example.com/api/v1"),
        ("https://kb.example.com/v1", "https://kb.example.com/api/v1"),
        ("https://kb.example.com/api/v1", "https://kb.example.com/api/v1"),
        ("https://kb.example.com/api/v1/", "https://kb.example.com/api/v1"),
        ("https://kb.example.com:9380", "https://kb.example.com:9380/api/v1"),
        ("https://kb.example.com:9380/rag/", "https://kb.example.com:9380/rag/api/v1"),
        ("https://kb.example.com/rag/api/v1/", "https://kb.example.com/rag/api/v1"),
        ("https://kb.example.com/myapi", "https://kb.example.com/myapi/api/v1"),
        ("http://api", "http://api/api/v1"),
        ("http://v1/", "http://v1/api/v1"),
    ],
)
def test_base_urls_are_taken_with_and_without_the_prefix(given: str, asked: str) -> None:
    server = RagflowServer(clock=FakeClock(), allow_test_names=False)
    assert server.at(given) == asked
    assert server.at(asked) == asked


def test_a_search_sends_ten_fields_and_no_more() -> None:
    product = RagflowConfig(similarity_threshold=0.35, vector_similarity_weight=0.9, top_k=64)
    stage = stage_with(NOTHING, product=product)
    stage.retrieve(Question(query='caf\u00e9 "quoted" \u6e21\u8f2a'))
    assert stage.bodies == [
        {
            "question": 'caf\u00e9 "quoted" \u6e21\u8f2a',
            "dataset_ids": [ID],
            "page": 1,
            "page_size": 20,
            "similarity_threshold": 0.35,
            "vector_similarity_weight": 0.9,
            "top_k": 64,
            "highlight": "false",
            "keyword": False,
            "include_knowledge_compilation": False,
        }
    ]
    assert stage.exchanges.sent[0].headers == {
        "authorization": f"Bearer {KEY}",
        "accept": "application/json",
        "user-agent": "knowledge-gateway/1",
        "content-type": "application/json",
    }


@pytest.mark.parametrize("use_kg", [False, True])
@pytest.mark.parametrize("has_graph", [False, True])
def test_a_language_model_works_for_a_wished_and_built_graph_alone(use_kg: bool, has_graph: bool) -> None:
    stage = stage_with(NOTHING, product=RagflowConfig(use_kg=use_kg, has_graph=has_graph))
    stage.retrieve()
    (body,) = stage.bodies
    assert ("use_kg" in body) is (use_kg and has_graph)
    assert (body["keyword"], body["include_knowledge_compilation"]) == (False, False)
    assert not {"toc_enhance", "cross_languages", "rerank_id", "knn_top_k"} & set(body)


@pytest.mark.parametrize("limit", [-7, -1, 0, 1, 20, 10**9])
def test_our_number_of_results_never_reaches_the_server(limit: int) -> None:
    chunks = [{"content": f"Tide {n}."} for n in range(30)]
    stage = stage_with(good({"code": 0, "data": {"chunks": chunks}}), common=CommonConfig(result_limit=20))
    found = stage.retrieve(Question(query=ASKED, limit=limit))
    assert len(found.passages) == max(0, min(limit, 20))
    assert (stage.bodies[0]["page_size"], stage.bodies[0]["top_k"]) == (20, 1_024)


@pytest.mark.parametrize(
    "product",
    [
        RagflowConfig(top_k=0),
        RagflowConfig(top_k=-1),
        RagflowConfig(top_k=10**9),
        RagflowConfig(similarity_threshold=1.5),
        RagflowConfig(vector_similarity_weight=-0.1),
        RagflowConfig(similarity_threshold=float("nan")),
    ],
    ids=["no_pool", "minus_one", "a_billion", "threshold", "weight", "nan"],
)
def test_settings_out_of_bounds_are_never_sent(product: RagflowConfig) -> None:
    stage = stage_with(NOTHING, product=product)
    assert failure_of(stage.retrieve).code == "not_configured"
    assert stage.asked == []


def test_nineteen_long_chunks_become_the_three_that_were_asked_for() -> None:
    chunks = [
        {"id": f"c-{n}", "document_id": "d", "content": "x" * 40_000, "similarity": 1 - n / 100} for n in range(19)
    ]
    found = stage_with(good({"code": 0, "data": {"chunks": chunks}})).retrieve(Question(query=ASKED, limit=3))
    assert [each.chunk_id for each in found.passages] == ["c-0", "c-1", "c-2"]
    assert [len(each.snippet) for each in found.passages] == [4_000] * 3
    assert [each.value for each in found.warnings] == ["surplus_cut", "snippet_cut"]


@pytest.mark.parametrize(("length", "is_sent"), [(4_000, True), (4_001, False)])
def test_a_question_is_asked_whole_or_not_at_all(length: int, is_sent: bool) -> None:
    stage, query = stage_with(NOTHING), "\u6f6e" * length
    if is_sent:
        stage.retrieve(Question(query=query))
        assert stage.bodies[0]["question"] == query
    else:
        assert failure_of(lambda: stage.retrieve(Question(query=query))).code == "query_too_long"
        assert stage.asked == []
    assert LIMITS.query_characters == 4_000


@pytest.mark.parametrize(
    ("exposure", "audience"),
    [(ExposureProfile.CUSTOMER_SAFE, Audience.PUBLIC), (ExposureProfile.AGENT_ONLY, Audience.INTERNAL)],
)
def test_the_registration_says_who_may_see_a_passage(exposure: ExposureProfile, audience: Audience) -> None:
    chunk = {"id": "c-1", "document_id": "d-1", "content": "Ebb.", "audience": "public", "similarity": 0.5}
    stage = stage_with(good({"code": 0, "data": {"chunks": [chunk]}}), exposure=exposure)
    (passage,) = stage.retrieve().passages
    assert passage == Passage(
        document_id="d-1",
        title="",
        snippet="Ebb.",
        audience=audience,
        evidence=Evidence.SOURCE_EXCERPT,
        chunk_id="c-1",
        score=0.5,
        freshness=Freshness.UNKNOWN,
    )


def test_a_doubt_over_the_key_costs_one_more_call_inside_the_same_time() -> None:
    stage = stage_with(DOUBTFUL, DOUBTFUL)
    assert failure_of(stage.retrieve).code == "unauthorized"
    assert stage.asked == [SEARCH, CONFIRMATION]


def test_without_time_for_that_call_the_key_is_not_blamed() -> None:
    stage = stage_with(DOUBTFUL)
    assert failure_of(lambda: stage.retrieve(timeout_s=0.4)).code == "upstream_error"
    assert stage.asked == [SEARCH]


@pytest.mark.parametrize("step", [ConnectionFailed(), after(0.0, ConnectionFailed())], ids=["at_once", "later"])
def test_a_list_that_cannot_be_read_confirms_nothing(step: Step) -> None:
    stage = stage_with(DOUBTFUL, step)
    assert failure_of(stage.retrieve).code == "upstream_error"
    assert stage.asked == [SEARCH, CONFIRMATION]


def test_a_list_that_hangs_confirms_nothing_and_is_over_in_time() -> None:
    stage = stage_with(DOUBTFUL, HANGS)
    assert failure_of(lambda: stage.retrieve(timeout_s=0.55)).code == "upstream_error"
    assert stage.asked == [SEARCH, CONFIRMATION]


def test_there_are_no_folders() -> None:
    stage = stage_with(NOTHING)
    assert failure_of(lambda: stage.catalog(parent="shelf")).code == "not_found"
    assert stage.asked == []


@pytest.mark.parametrize(
    ("answer", "version"),
    [
        ({"code": 0, "message": "success", "data": "v0.26.4"}, "0.26.4"),
        ({"code": 0, "data": "0.25.0"}, "0.25.0"),
        ({"code": 0, "data": "v0.27.0-rc1"}, "0.27.0-rc1"),
        ({"code": 0, "data": "v0.17.2 slim"}, "0.17.2"),
        ({"code": 0, "data": "v0.17.2-12-gab12cd full"}, "0.17.2-12-gab12cd"),
        ({"code": 0, "data": "UPSTREAM-WORDS"}, None),
        ({"code": 0, "data": {"version": "v0.26.4"}}, None),
        ({"code": 0, "data": False}, None),
        ({"code": 401, "data": "v0.26.4"}, None),
        ({"code": 404, "data": None, "error": "Not Found"}, None),
        ([], None),
    ],
    ids=["0.26", "plain", "candidate", "slim", "full", "words", "object", "false", "refused", "no_page", "list"],
)
def test_the_version_is_what_the_server_itself_says(answer: object, version: str | None) -> None:
    stage = stage_with(json_answer(answer))
    assert stage.version() == version
    assert stage.asked == ["GET /system/version"]


@pytest.mark.parametrize("status", [401, 404, 500])
def test_a_refusal_names_no_version(status: int) -> None:
    assert stage_with(json_answer({"code": 0, "data": "v0.26.4"}, status=status)).version() is None


@pytest.mark.parametrize(
    ("remote_id", "sent"),
    [
        ("a/b?x=1#y&z=2", "a%2Fb%3Fx%3D1%23y%26z%3D2"),
        ("../../admin", "..%2F..%2Fadmin"),
        ("%2e%2e%2f", "%252e%252e%252f"),
        ("..", ".."),
        ("a+b c", "a%2Bb+c"),
        ("\u6f6e", "%E6%BD%AE"),
        ("x\r\nHost: elsewhere", "x%0D%0AHost%3A+elsewhere"),
    ],
)
def test_a_hostile_id_stays_one_value_of_the_query(remote_id: str, sent: str) -> None:
    stage = stage_with(good({"code": 0, "data": []}), remote_id=remote_id)
    assert failure_of(lambda: stage.detail(remote_id)).code == "not_found"
    assert failure_of(stage.retrieve).code == "invalid_response"
    assert stage.asked == [f"{CONFIRMATION}&id={sent}", SEARCH]
    assert stage.bodies[0]["dataset_ids"] == [remote_id]


@pytest.mark.parametrize("remote_id", ["", " "])
def test_without_an_id_nothing_is_described(remote_id: str) -> None:
    stage = stage_with(NOTHING)
    assert failure_of(lambda: stage.detail(remote_id)).code == "not_found"
    assert stage.asked == []


@pytest.mark.parametrize("key", ["new\nline", "Schl\u00fcssel", "tab\t"])
def test_a_credential_that_cannot_stand_in_a_header_is_never_sent(key: str) -> None:
    stage = stage_with(NOTHING)
    assert failure_of(lambda: stage.retrieve(key=key)).code == "not_configured"
    assert stage.asked == []


def test_without_a_credential_none_is_sent() -> None:
    stage = stage_with(good({"code": 0, "data": False, "message": "`Authorization` can't be empty"}))
    assert failure_of(lambda: stage.retrieve(key=None)).code == "unauthorized"
    assert "authorization" not in stage.exchanges.sent[0].headers


@pytest.mark.parametrize("is_bound", [False, True], ids=["no_binding", "another_product"])
def test_what_is_bound_to_nothing_here_is_not_asked(is_bound: bool) -> None:
    stage = stage_with(NOTHING)
    bound = stage.source.config
    assert isinstance(bound, Binding)
    config: ProviderConfig | None = replace(bound, product=FastGptConfig()) if is_bound else None
    stage.source = replace(stage.source, config=config)
    assert failure_of(stage.retrieve).code == "not_configured"
    assert stage.asked == []


@pytest.mark.parametrize("nested", [b"[" * 20_000 + b"]" * 20_000, b'{"code":0,"data":' + b"[" * 20_000])
def test_forty_thousand_brackets_are_no_answer(nested: bytes) -> None:
    answer = replace(good({}), body=nested)
    assert failure_of(stage_with(answer).retrieve).code == "invalid_response"


@pytest.mark.parametrize(("step", "code"), [(ConnectionFailed(), "connection_failed"), (HANGS, "timeout")])
def test_a_failing_line_fails_the_question_and_is_not_tried_again(step: Step, code: str) -> None:
    stage = stage_with(step)
    assert failure_of(lambda: stage.retrieve(timeout_s=0.05)).code == code
    assert stage.asked == [SEARCH]


def every_case() -> list[dict[str, Any]]:
    return [case for topic in TOPICS for case in cases("ragflow", topic).args[1]]


def test_nothing_that_was_ever_sent_changes_anything_on_a_server() -> None:
    """All recorded answers, good and bad, in reply to each of the calls."""
    shapes = set()
    calls: tuple[Callable[[ServerStage], object], ...] = (
        ServerStage.retrieve,
        ServerStage.catalog,
        ServerStage.version,
        lambda stage: stage.detail(ID),
    )
    for case in every_case():
        for call in calls:
            stage = stage_of(case)
            with contextlib.suppress(ExchangeError):
                call(stage)
            stage.check_secrets()
            shapes |= stage.exchanges.shapes
    assert shapes == set(RAGFLOW_READING)


def test_a_real_server_is_asked_with_the_credential_that_was_sealed() -> None:
    chunk = b'{"id": "c-1", "document_id": "d-1", "document_keyword": "t.md", "content": "Ebb.", "similarity": NaN}'
    answer = replace(NOTHING, body=b'{"code": 0, "data": {"total": 1, "chunks": [' + chunk + b'], "doc_aggs": {}}}')
    with scripted_service(answer) as service:
        instance = an_instance(kind=ProviderKind.RAGFLOW, base_url=service.origin)
        source = a_binding(instance, remote_id=ID).source
        server = RagflowServer(clock=SystemClock(), allow_test_names=True)
        found = ask_for_real(server, source, Question(query="tides"), key=KEY)
        (asked,) = service.asked
    assert [(each.title, each.snippet, each.score) for each in found.passages] == [("t.md", "Ebb.", None)]
    assert (asked.method, asked.path) == ("POST", "/api/v1/retrieval")
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    body = json.loads(asked.body)
    assert (body["question"], body["dataset_ids"], body["top_k"]) == ("tides", [ID], 1_024)


def test_a_real_server_whose_model_is_refused_does_not_cost_the_key_its_name() -> None:
    with scripted_service(DOUBTFUL, good({"code": 0, "data": []})) as service:
        source = a_binding(an_instance(kind=ProviderKind.RAGFLOW, base_url=service.origin), remote_id=ID).source
        server = RagflowServer(clock=SystemClock(), allow_test_names=True)
        failure = failure_of(lambda: ask_for_real(server, source, Question(query=ASKED), key=KEY))
        asked = [f"{each.method} {each.path}" for each in service.asked]
    check_failure(failure, {"code": "upstream_error"})
    assert asked == ["POST /api/v1/retrieval", "GET /api/v1/datasets?page=1&page_size=10"]
