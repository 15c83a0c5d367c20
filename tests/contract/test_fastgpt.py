"""What `ports.knowledge_server` promises, kept by FastGPT: answers of many versions, and a real server."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from shared.adapters.clock import SystemClock
from shared.domain.bindings import Binding, CommonConfig, FastGptConfig, FastGptSearchMode, RagflowConfig
from shared.domain.exposure import Audience, ExposureProfile
from shared.domain.passages import Evidence, Freshness, NamedScore, Passage, Question
from shared.domain.registrations import ProviderConfig, ProviderKind
from shared.errors import ConnectionFailed, ExchangeError
from shared.providers.fastgpt import LIMITS, FastGptServer
from tests.support.builders import a_binding, an_instance
from tests.support.fake_exchanges import HANGS, Step, json_answer
from tests.support.fakes import FakeClock
from tests.support.live_cases import answer_of, cases, check_failure, good
from tests.support.read_only import FASTGPT_READING
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

BASE = "https://fastgpt.example.com/api"
ID = "66f0c0ffee0000000000aa01"
TOPICS = ("searches", "refusals", "broken", "lists", "details")
SEARCH, LIST = "POST /core/dataset/searchTest", "POST /core/dataset/list"


def enveloped(data: object) -> Step:
    return good({"code": 200, "statusText": "", "message": "", "data": data})


NOTHING = enveloped({"list": []})


def stage_with(*steps: Step, **binding: Any) -> ServerStage:
    clock = FakeClock()
    server = FastGptServer(clock=clock, allow_test_names=True)
    values = {"remote_id": ID, "clock": clock, "base_url": BASE} | binding
    stage = ServerStage(server, ProviderKind.FASTGPT, *steps, **values)
    stage.exchanges.reading = FASTGPT_READING
    return stage


def stage_of(case: dict[str, Any]) -> ServerStage:
    ask = case["ask"]
    product = FastGptConfig(
        search_mode=FastGptSearchMode(ask.get("search_mode", "embedding")), using_rerank=ask.get("using_rerank", False)
    )
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
    assert stage.asked == [SEARCH]
    stage.check_secrets()
    return stage


@cases("fastgpt", "searches")
def test_a_search(case: dict[str, Any]) -> None:
    stage = searched(case)
    if "sent" in case:
        assert stage.bodies == [case["sent"]]


@cases("fastgpt", "refusals")
def test_a_refusal(case: dict[str, Any]) -> None:
    searched(case)


@cases("fastgpt", "broken")
def test_a_broken_answer(case: dict[str, Any]) -> None:
    searched(case)


@cases("fastgpt", "lists")
def test_a_list(case: dict[str, Any]) -> None:
    stage, outcome = stage_of(case), case["outcome"]
    if "code" in outcome:
        check_failure(failure_of(lambda: stage.catalog(**case["ask"])), outcome)
    else:
        page = stage.catalog(**case["ask"])
        assert [entry_as_recorded(each) for each in page.entries] == outcome["entries"]
        assert (page.total, page.page, page.has_more, page.is_cut) == (outcome["total"], 1, False, False)
        assert "UPSTREAM" not in repr(page)
    assert (stage.asked, stage.bodies) == ([LIST], [case["sent"]])
    stage.check_secrets()


@cases("fastgpt", "details")
def test_a_detail(case: dict[str, Any]) -> None:
    stage, outcome, remote_id = stage_of(case), case["outcome"], case["ask"]["id"]
    if "code" in outcome:
        check_failure(failure_of(lambda: stage.detail(remote_id)), outcome)
    else:
        entry = stage.detail(remote_id)
        assert entry_as_recorded(entry) == outcome["entry"]
        assert "UPSTREAM" not in repr(entry)
    assert stage.asked == [f"GET /core/dataset/detail?id={remote_id}"]
    stage.check_secrets()


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("https://kb.example.com", "https://kb.example.com/api"),
        ("https://kb.example.com/", "https://kb.example.com/api"),
        ("https://kb.example.com/api", "https://kb.example.com/api"),
        ("https://kb.example.com/api/", "https://kb.example.com/api"),
        ("https://kb.example.com/api/v1", "https://kb.example.com/api"),
        ("https://kb.example.com:3000/gpt", "https://kb.example.com:3000/gpt/api"),
        ("https://kb.example.com/gpt/api/", "https://kb.example.com/gpt/api"),
        ("https://kb.example.com/myapi", "https://kb.example.com/myapi/api"),
        ("http://api", "http://api/api"),
        ("http://api/", "http://api/api"),
    ],
)
def test_base_urls_are_taken_with_and_without_the_prefix(given: str, asked: str) -> None:
    server = FastGptServer(clock=FakeClock(), allow_test_names=False)
    assert server.at(given) == asked
    assert server.at(asked) == asked


def test_a_search_sends_six_fields_and_no_more() -> None:
    product = FastGptConfig(search_mode=FastGptSearchMode.MIXED, token_limit=1_500, similarity=0.35, using_rerank=True)
    stage = stage_with(NOTHING, product=product)
    stage.retrieve(Question(query='caf\u00e9 "quoted" \u6e21\u8f2a'))
    assert stage.bodies == [
        {
            "datasetId": ID,
            "text": 'caf\u00e9 "quoted" \u6e21\u8f2a',
            "limit": 1_500,
            "similarity": 0.35,
            "searchMode": "mixedRecall",
            "usingReRank": True,
        }
    ]
    assert stage.exchanges.sent[0].headers == {
        "authorization": f"Bearer {KEY}",
        "accept": "application/json",
        "user-agent": "knowledge-gateway/1",
        "content-type": "application/json",
    }


@pytest.mark.parametrize("mode", list(FastGptSearchMode))
@pytest.mark.parametrize("using_rerank", [False, True])
def test_no_language_model_is_ever_asked_for(mode: FastGptSearchMode, using_rerank: bool) -> None:
    stage = stage_with(NOTHING, product=FastGptConfig(search_mode=mode, using_rerank=using_rerank))
    stage.retrieve()
    (body,) = stage.bodies
    assert set(body) == {"datasetId", "text", "limit", "similarity", "searchMode", "usingReRank"}


@pytest.mark.parametrize("limit", [-7, -1, 0, 1, 20, 10**9])
def test_our_number_of_results_never_reaches_the_server(limit: int) -> None:
    rows = [{"q": f"Tide {n}."} for n in range(30)]
    stage = stage_with(enveloped({"list": rows}), common=CommonConfig(result_limit=20))
    found = stage.retrieve(Question(query=ASKED, limit=limit))
    assert len(found.passages) == max(0, min(limit, 20))
    assert stage.bodies[0]["limit"] == 5_000


@pytest.mark.parametrize(
    "product",
    [
        FastGptConfig(token_limit=0),
        FastGptConfig(token_limit=-1),
        FastGptConfig(token_limit=10**9),
        FastGptConfig(similarity=1.5),
        FastGptConfig(similarity=float("nan")),
    ],
    ids=["no_tokens", "minus_one", "a_billion", "above_one", "nan"],
)
def test_settings_out_of_bounds_are_never_sent(product: FastGptConfig) -> None:
    stage = stage_with(NOTHING, product=product)
    assert failure_of(stage.retrieve).code == "not_configured"
    assert stage.asked == []


def test_nineteen_long_rows_become_the_three_that_were_asked_for() -> None:
    rows = [
        {"id": f"c-{n}", "q": "x" * 40_000, "score": [{"type": "embedding", "value": 1 - n / 100}]} for n in range(19)
    ]
    found = stage_with(enveloped({"list": rows})).retrieve(Question(query=ASKED, limit=3))
    assert [each.chunk_id for each in found.passages] == ["c-0", "c-1", "c-2"]
    assert [len(each.snippet) for each in found.passages] == [4_000] * 3
    assert [each.value for each in found.warnings] == ["surplus_cut", "snippet_cut"]


def test_a_binding_s_own_limit_holds_as_well() -> None:
    rows = [{"q": f"Tide {n}."} for n in range(9)]
    stage = stage_with(enveloped({"list": rows}), common=CommonConfig(result_limit=2))
    assert len(stage.retrieve(Question(query=ASKED, limit=50)).passages) == 2


@pytest.mark.parametrize(("length", "is_sent"), [(4_000, True), (4_001, False)])
def test_a_question_is_asked_whole_or_not_at_all(length: int, is_sent: bool) -> None:
    stage, query = stage_with(NOTHING), "\u6f6e" * length
    if is_sent:
        stage.retrieve(Question(query=query))
        assert stage.bodies[0]["text"] == query
    else:
        assert failure_of(lambda: stage.retrieve(Question(query=query))).code == "query_too_long"
        assert stage.asked == []
    assert LIMITS.query_characters == 4_000


@pytest.mark.parametrize(
    ("exposure", "audience"),
    [(ExposureProfile.CUSTOMER_SAFE, Audience.PUBLIC), (ExposureProfile.AGENT_ONLY, Audience.INTERNAL)],
)
def test_the_registration_says_who_may_see_a_passage(exposure: ExposureProfile, audience: Audience) -> None:
    row = {"id": "c-1", "q": "Ebb.", "audience": "public", "score": [{"type": "embedding", "value": 0.5, "index": 0}]}
    (passage,) = stage_with(enveloped({"list": [row]}), exposure=exposure).retrieve().passages
    assert passage == Passage(
        document_id=ID,
        title="",
        snippet="Ebb.",
        audience=audience,
        evidence=Evidence.SOURCE_EXCERPT,
        chunk_id="c-1",
        score=0.5,
        scores=(NamedScore(kind="embedding", value=0.5),),
        freshness=Freshness.UNKNOWN,
    )


def named(count: int) -> Step:
    return enveloped([{"_id": f"{n:024x}", "name": f"Shelf {n}", "type": "dataset"} for n in range(count)])


@pytest.mark.parametrize(
    ("count", "page", "shown", "has_more", "is_cut"),
    [
        (130, 1, range(100), True, False),
        (130, 2, range(100, 130), False, False),
        (130, 3, range(0), False, False),
        (200, 2, range(100, 200), False, False),
        (500, 5, range(400, 500), False, False),
        (501, 5, range(400, 500), False, True),
        (501, 6, range(0), False, True),
    ],
)
def test_one_long_list_is_shown_in_pages(count: int, page: int, shown: range, has_more: bool, is_cut: bool) -> None:
    stage = stage_with(named(count))
    answer = stage.catalog(page=page)
    assert [each.name for each in answer.entries] == [f"Shelf {n}" for n in shown]
    assert (answer.page, answer.total, answer.has_more, answer.is_cut) == (page, count, has_more, is_cut)
    assert stage.bodies == [{"parentId": None}]


@pytest.mark.parametrize("parent", ["", "tides", "66f0c0ffee0000000000aa0", "66f0c0ffee0000000000aa0g", "\u0661" * 24])
def test_a_folder_of_another_form_is_not_asked_for_since_that_would_list_everything(parent: str) -> None:
    stage = stage_with(named(3))
    assert failure_of(lambda: stage.catalog(parent=parent)).code == "not_found"
    assert stage.asked == []


def test_nothing_is_sent_for_the_version() -> None:
    stage = stage_with(NOTHING)
    assert stage.version() is None
    assert stage.asked == []


@pytest.mark.parametrize(
    ("remote_id", "sent"),
    [
        ("a/b?x=1#y&z=2", "a%2Fb%3Fx%3D1%23y%26z%3D2"),
        ("../../admin", "..%2F..%2Fadmin"),
        ("%2e%2e%2f", "%252e%252e%252f"),
        ("..", ".."),
        ("a+b c", "a%2Bb%20c"),
        ("\u6f6e", "%E6%BD%AE"),
        ("x\r\nHost: elsewhere", "x%0D%0AHost%3A%20elsewhere"),
    ],
)
def test_a_hostile_id_stays_one_value_of_the_query(remote_id: str, sent: str) -> None:
    stage = stage_with(enveloped(None), remote_id=remote_id)
    assert failure_of(lambda: stage.detail(remote_id)).code == "invalid_response"
    assert failure_of(stage.retrieve).code == "invalid_response"
    assert stage.asked == [f"GET /core/dataset/detail?id={sent}", SEARCH]
    assert stage.bodies[0]["datasetId"] == remote_id


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
    refusal = {"code": 403, "statusText": "unAuthorization", "message": "", "data": None}
    stage = stage_with(json_answer(refusal, status=500))
    assert failure_of(lambda: stage.retrieve(key=None)).code == "unauthorized"
    assert "authorization" not in stage.exchanges.sent[0].headers


@pytest.mark.parametrize("is_bound", [False, True], ids=["no_binding", "another_product"])
def test_what_is_bound_to_nothing_here_is_not_asked(is_bound: bool) -> None:
    stage = stage_with(NOTHING)
    bound = stage.source.config
    assert isinstance(bound, Binding)
    config: ProviderConfig | None = replace(bound, product=RagflowConfig()) if is_bound else None
    stage.source = replace(stage.source, config=config)
    assert failure_of(stage.retrieve).code == "not_configured"
    assert stage.asked == []


@pytest.mark.parametrize("nested", [b"[" * 20_000 + b"]" * 20_000, b'{"code":200,"data":' + b"[" * 20_000])
def test_forty_thousand_brackets_are_no_answer(nested: bytes) -> None:
    answer = replace(good({}), body=nested)
    assert failure_of(stage_with(answer).retrieve).code == "invalid_response"


@pytest.mark.parametrize(("step", "code"), [(ConnectionFailed(), "connection_failed"), (HANGS, "timeout")])
def test_a_failing_line_fails_the_question_and_is_not_tried_again(step: Step, code: str) -> None:
    stage = stage_with(step)
    assert failure_of(lambda: stage.retrieve(timeout_s=0.05)).code == code
    assert stage.asked == [SEARCH]


def every_case() -> list[dict[str, Any]]:
    return [case for topic in TOPICS for case in cases("fastgpt", topic).args[1]]


def test_nothing_that_was_ever_sent_changes_anything_on_a_server() -> None:
    """All recorded answers, good and bad, in reply to each of the calls."""
    shapes = set()
    calls: tuple[Callable[[ServerStage], object], ...] = (
        ServerStage.retrieve,
        ServerStage.catalog,
        lambda stage: stage.detail(ID),
    )
    for case in every_case():
        for call in calls:
            stage = stage_of(case)
            with contextlib.suppress(ExchangeError):
                call(stage)
            stage.check_secrets()
            shapes |= stage.exchanges.shapes
    assert shapes == set(FASTGPT_READING)


def test_a_real_server_is_asked_with_the_credential_that_was_sealed() -> None:
    row = {"id": "c-1", "q": "When?", "a": "At low water.", "collectionId": "d-1", "sourceName": "tides.md"}
    with scripted_service(enveloped({"list": [row]})) as service:  # type: ignore[arg-type]
        instance = an_instance(kind=ProviderKind.FASTGPT, base_url=service.origin)
        source = a_binding(instance, remote_id=ID).source
        server = FastGptServer(clock=SystemClock(), allow_test_names=True)
        found = ask_for_real(server, source, Question(query="tides"), key=KEY)
        (asked,) = service.asked
    assert [(each.title, each.snippet) for each in found.passages] == [("tides.md", "When?\nAt low water.")]
    assert (asked.method, asked.path) == ("POST", "/api/core/dataset/searchTest")
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert json.loads(asked.body) == {
        "datasetId": ID,
        "text": "tides",
        "limit": 5_000,
        "similarity": 0.0,
        "searchMode": "embedding",
        "usingReRank": False,
    }


def test_a_real_server_that_refuses_is_not_quoted() -> None:
    refusal = {"code": 514, "statusText": "unAuthApiKey", "message": "UPSTREAM-WORDS", "data": None}
    with scripted_service(json_answer(refusal, status=500)) as service:
        source = a_binding(an_instance(kind=ProviderKind.FASTGPT, base_url=service.origin), remote_id=ID).source
        server = FastGptServer(clock=SystemClock(), allow_test_names=True)
        failure = failure_of(lambda: ask_for_real(server, source, Question(query=ASKED), key=KEY))
    check_failure(failure, {"code": "unauthorized"})
