"""What `ports.knowledge_server` promises, kept by Dify: recorded answers of many versions, and a real server."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shared.adapters.clock import SystemClock
from shared.domain.bindings import (
    CommonConfig,
    DifyConfig,
    DifyRerankMode,
    DifyRerankModel,
    DifyRetrievalModel,
    DifySearchMethod,
    DifyWeights,
)
from shared.domain.passages import Passage, Question
from shared.domain.remote_catalogs import RemoteEntry
from shared.errors import Refused
from shared.providers.dify import DifyServer
from tests.support.builders import a_binding, an_instance
from tests.support.dify_stage import ID, KEY, NOTHING, QUESTION, Stage, failure_of
from tests.support.fake_exchanges import json_answer
from tests.support.live_cases import answer_of, cases, check_failure, good
from tests.support.read_only import READING
from tests.support.real_asks import ask_for_real
from tests.support.scripted_service import scripted_service


def model_of(recorded: dict[str, Any]) -> DifyRetrievalModel:
    rerank, weights, mode = (recorded.get(name) for name in ("rerank_model", "weights", "rerank_mode"))
    return DifyRetrievalModel(
        search_method=DifySearchMethod(recorded["search_method"]),
        score_threshold=recorded.get("score_threshold"),
        rerank_mode=None if mode is None else DifyRerankMode(mode),
        rerank_model=None if rerank is None else DifyRerankModel(**rerank),
        weights=None if weights is None else DifyWeights(**weights),
    )


def stage_of(case: dict[str, Any]) -> Stage:
    ask = case["ask"]
    model = ask.get("retrieval_model")
    product = DifyConfig(
        retrieval_model=None if model is None else model_of(model), is_economy=ask.get("is_economy", False)
    )
    common = CommonConfig(result_limit=20, max_snippet_characters=ask.get("max_snippet_characters", 4_000))
    answers = map(answer_of, case["answers"])
    return Stage(*answers, product=product, common=common, remote_id=ask.get("id", ID))


def as_recorded(passage: Passage) -> dict[str, Any]:
    kept = {
        "document_id": "documentId",
        "chunk_id": "chunkId",
        "title": "title",
        "snippet": "snippet",
        "score": "score",
    }
    cut = {"truncated": True} if passage.truncated else {}
    return {name: getattr(passage, field) for field, name in kept.items()} | cut


def as_listed(entry: RemoteEntry) -> dict[str, Any]:
    kept = {
        "id": "id",
        "name": "name",
        "description": "description",
        "documents": "documents",
        "is_economy": "isEconomy",
    }
    why = {} if entry.not_searchable is None else {"notSearchable": entry.not_searchable.value}
    return {name: getattr(entry, field) for field, name in kept.items()} | why


def searched(case: dict[str, Any]) -> Stage:
    """Plays a recorded search and compares what becomes of it."""
    stage, ask, outcome = stage_of(case), case["ask"], case["outcome"]
    question = Question(query=ask["query"], limit=ask["limit"])
    if "code" in outcome:
        check_failure(failure_of(lambda: stage.retrieve(question)), outcome)
    else:
        found = stage.retrieve(question)
        assert [as_recorded(each) for each in found.passages] == outcome["passages"]
        assert [each.value for each in found.warnings] == outcome.get("warnings", [])
        assert "UPSTREAM-WORDS" not in repr(found)
    assert stage.asked == [f"POST /datasets/{ask['id']}/retrieve"]
    return stage


def listed(case: dict[str, Any]) -> Stage:
    stage, outcome = stage_of(case), case["outcome"]
    if "code" in outcome:
        check_failure(failure_of(lambda: stage.catalog(**case["ask"])), outcome)
        return stage
    page = stage.catalog(**case["ask"])
    expected = sorted(outcome["entries"], key=lambda each: each["id"])
    assert sorted(map(as_listed, page.entries), key=lambda each: each["id"]) == expected
    assert (page.total, page.page, page.has_more, page.is_cut) == (outcome["total"], 1, False, False)
    assert "UPSTREAM-WORDS" not in repr(page)
    return stage


def described(case: dict[str, Any]) -> Stage:
    stage, outcome, remote_id = stage_of(case), case["outcome"], case["ask"]["id"]
    if "code" in outcome:
        check_failure(failure_of(lambda: stage.detail(remote_id)), outcome)
    else:
        entry = stage.detail(remote_id)
        assert as_listed(entry) == outcome["entry"]
        assert "UPSTREAM-WORDS" not in repr(entry)
    assert stage.asked[0] == f"GET /datasets/{remote_id}"
    assert len(stage.asked) == len(case["answers"])
    return stage


def check_version(case: dict[str, Any]) -> None:
    """Every answer names it, whatever it answers."""
    stage = stage_of(case)
    assert stage.version() == case["version"]
    assert stage.asked == ["GET /datasets?page=1&limit=1"]


@cases("dify", "searches")
def test_a_search_of_a_real_server(case: dict[str, Any]) -> None:
    check_version(case)
    stage = searched(case)
    if "sent" in case:
        assert stage.body == case["sent"]


@cases("dify", "later_searches")
def test_a_search_of_a_later_version(case: dict[str, Any]) -> None:
    searched(case)


@cases("dify", "refusals")
def test_a_refusal(case: dict[str, Any]) -> None:
    searched(case)


@cases("dify", "broken")
def test_a_broken_answer(case: dict[str, Any]) -> None:
    searched(case)


@cases("dify", "lists")
def test_a_list_of_a_real_server(case: dict[str, Any]) -> None:
    check_version(case)
    listed(case)


@cases("dify", "later_lists")
def test_a_list_of_a_later_version(case: dict[str, Any]) -> None:
    check_version(case)
    listed(case)


@cases("dify", "details")
def test_a_detail_of_a_real_server(case: dict[str, Any]) -> None:
    check_version(case)
    described(case)


@cases("dify", "later_details")
def test_a_detail_of_a_later_version(case: dict[str, Any]) -> None:
    check_version(case)
    described(case)


@cases("dify", "other_pages")
def test_a_page_that_is_never_asked_for_names_the_version_too(case: dict[str, Any]) -> None:
    check_version(case)


@pytest.mark.parametrize("said", ["", "UPSTREAM-WORDS", "1.8.1 or so", "v1", "1" * 99, "1.2\n3", "1.8.1-" + "x" * 21])
def test_what_is_no_version_is_none(said: str) -> None:
    assert Stage(json_answer({}, headers={"x-version": said})).version() is None


@pytest.mark.parametrize("said", ["1.8.1", "0.15.8", "1.14", "2.0.0-rc.1", "1.9.2+build7"])
def test_versions_of_many_forms(said: str) -> None:
    assert Stage(json_answer({}, status=401, headers={"x-version": said})).version() == said


def test_a_server_without_the_header_has_no_version() -> None:
    assert Stage(NOTHING).version() is None


def every_case() -> list[dict[str, Any]]:
    topics = ("searches", "later_searches", "refusals", "broken", "lists", "later_lists", "details", "later_details")
    return [{**case, "topic": topic} for topic in topics for case in cases("dify", topic).args[1]]


def test_nothing_that_was_ever_sent_changes_anything_on_a_server() -> None:
    """All recorded answers, good and bad, in reply to each of the four calls."""
    shapes = set()
    for case in every_case():
        for call in (Stage.retrieve, Stage.catalog, Stage.detail, Stage.version):
            stage = stage_of(case)
            try:
                call(stage)
            except Refused:
                assert stage.asked
            shapes |= stage.exchanges.shapes
            for sent in stage.exchanges.sent:
                assert KEY not in sent.request.url + sent.request.body.decode()
                assert [name for name, value in sent.request.headers if KEY in value] == ["Authorization"]
    assert shapes == set(READING) - {("POST", "/retrieval")}


def test_a_real_server_is_asked_with_the_credential_that_was_sealed() -> None:
    record = {"segment": {"id": "s-1", "content": "Huts open in June."}, "score": None}
    with scripted_service(good({"query": "huts", "records": [record]})) as service:
        source = a_binding(an_instance(base_url=f"{service.origin}/v1"), remote_id=ID).source
        dify = DifyServer(clock=SystemClock(), allow_test_names=True)
        found = ask_for_real(dify, source, QUESTION, key=KEY)
        (asked,) = service.asked
    assert [each.snippet for each in found.passages] == ["Huts open in June."]
    assert (asked.method, asked.path) == ("POST", f"/v1/datasets/{ID}/retrieve")
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert json.loads(asked.body) == {"query": "huts"}


def test_a_real_server_that_refuses_is_not_quoted() -> None:
    refusal = {"code": "unauthorized", "message": "UPSTREAM-WORDS", "status": 401}
    with scripted_service(json_answer(refusal, status=401)) as service:
        source = a_binding(an_instance(base_url=service.origin), remote_id=ID).source
        dify = DifyServer(clock=SystemClock(), allow_test_names=True)
        check_failure(failure_of(lambda: ask_for_real(dify, source, QUESTION, key=KEY)), {"code": "unauthorized"})
        assert [asked.path for asked in service.asked] == [f"/v1/datasets/{ID}/retrieve"]
