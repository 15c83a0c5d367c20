"""What `ports.knowledge_server` promises, kept by Dify's External Knowledge API: recorded cases, and a real server."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from shared.adapters.clock import SystemClock
from shared.domain.bindings import CommonConfig
from shared.domain.deadlines import Deadline
from shared.domain.exposure import Audience, ExposureProfile
from shared.domain.passages import Evidence, Freshness, Passage, Question, Retrieval
from shared.errors import ConnectionFailed, ExchangeError, ExchangeTimeout
from shared.providers.dify_external import LIMITS, DifyExternalRetriever
from tests.support.builders import an_external_provider
from tests.support.fake_exchanges import HANGS, Step, json_answer
from tests.support.fakes import FakeClock
from tests.support.live_cases import answer_of, cases, check_failure, good
from tests.support.read_only import ReadOnlyExchanges
from tests.support.real_asks import ask_for_real
from tests.support.scripted_service import scripted_service

KEY = "external-SENTINEL"
BASE = "https://knowledge.example.com/api/v1/dify"
NOTHING = good({"records": []})
QUESTION = Question(query="huts")


class Stage:
    """One server that plays its answers."""

    def __init__(self, *steps: Step, exposure: ExposureProfile = ExposureProfile.AGENT_ONLY, **config: Any) -> None:
        self.clock = FakeClock()
        self.exchanges = ReadOnlyExchanges(clock=self.clock)
        self.retriever = DifyExternalRetriever(clock=self.clock, allow_test_names=True)
        self.source = an_external_provider(exposure_profile=exposure, base_url=BASE, config=config).source
        self.exchanges.script(self.source.id, *steps)

    def retrieve(self, question: Question = QUESTION, *, key: str | None = KEY, within_s: float = 25.0) -> Retrieval:
        deadline = Deadline.after(within_s, now_s=self.clock.monotonic())
        line = self.exchanges.open(self.source, deadline=deadline)
        return asyncio.run(self.retriever.retrieve(self.source, question, credential=key, exchange=line))

    @property
    def body(self) -> Any:
        (sent,) = self.exchanges.sent
        return json.loads(sent.request.body)


def stage_of(case: dict[str, Any]) -> Stage:
    ask = case["ask"]
    common = CommonConfig(
        result_limit=ask.get("result_limit", 6), max_snippet_characters=ask.get("max_snippet_characters", 4_000)
    )
    config = {name: ask[name] for name in ("knowledge_id", "score_threshold") if name in ask}
    return Stage(*map(answer_of, case["answers"]), common=common, **config)


def failure_of(work: Any) -> ExchangeError:
    with pytest.raises(ExchangeError) as caught:
        work()
    assert KEY not in repr(caught.value) + str(caught.value)
    return caught.value


def as_recorded(passage: Passage) -> dict[str, Any]:
    kept = {"document_id": "documentId", "title": "title", "snippet": "snippet", "score": "score"}
    assert (passage.chunk_id, passage.url) == (None, None)
    cut = {"truncated": True} if passage.truncated else {}
    return {name: getattr(passage, field) for field, name in kept.items()} | cut


def played(case: dict[str, Any]) -> Stage:
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
    (sent,) = stage.exchanges.sent
    assert (sent.request.method, sent.request.url) == ("POST", f"{BASE}/retrieval")
    assert KEY not in sent.request.body.decode()
    assert [name for name, value in sent.request.headers if KEY in value] == ["Authorization"]
    return stage


@cases("dify_external", "requests")
def test_exactly_what_dify_asks_is_asked(case: dict[str, Any]) -> None:
    stage = played(case)
    assert stage.body == case["sent"]
    assert list(stage.body) == ["retrieval_setting", "query", "knowledge_id", "metadata_condition"]


@cases("dify_external", "answers")
def test_what_is_found(case: dict[str, Any]) -> None:
    played(case)


@cases("dify_external", "refusals")
def test_a_refusal_or_a_broken_answer(case: dict[str, Any]) -> None:
    played(case)


def test_the_headers_are_dify_s_own() -> None:
    stage = Stage(NOTHING)
    stage.retrieve()
    assert stage.exchanges.sent[0].headers == {
        "authorization": f"Bearer {KEY}",
        "accept": "application/json",
        "user-agent": "knowledge-gateway/1",
        "content-type": "application/json",
    }


def test_without_a_credential_none_is_sent() -> None:
    stage = Stage(NOTHING)
    stage.retrieve(key=None)
    assert "authorization" not in stage.exchanges.sent[0].headers


def test_a_credential_that_cannot_stand_in_a_header_is_never_sent() -> None:
    stage = Stage(NOTHING)
    assert failure_of(lambda: stage.retrieve(key="a\r\nX-Other: b")).code == "not_configured"
    assert stage.exchanges.sent == []


@pytest.mark.parametrize(
    ("exposure", "audience"),
    [(ExposureProfile.CUSTOMER_SAFE, Audience.PUBLIC), (ExposureProfile.AGENT_ONLY, Audience.INTERNAL)],
)
def test_the_registration_says_who_may_see_a_passage(exposure: ExposureProfile, audience: Audience) -> None:
    record = {"content": "Huts open.", "score": 0.9, "title": "huts.md", "metadata": {"audience": "public"}}
    (passage,) = Stage(good({"records": [record]}), exposure=exposure).retrieve().passages
    assert passage == Passage(
        document_id="handbook",
        title="huts.md",
        snippet="Huts open.",
        audience=audience,
        evidence=Evidence.SOURCE_EXCERPT,
        score=0.9,
        freshness=Freshness.UNKNOWN,
    )


def test_a_question_of_1024_characters_is_asked_whole_and_a_longer_one_not_at_all() -> None:
    stage = Stage(NOTHING)
    stage.retrieve(Question(query="🏔" * 1_024))
    assert stage.body["query"] == "🏔" * 1_024
    stage = Stage(NOTHING)
    assert failure_of(lambda: stage.retrieve(Question(query="🏔" * 1_025))).code == "query_too_long"
    assert stage.exchanges.sent == []
    assert LIMITS.query_characters == 1_024


def test_what_has_no_config_of_this_kind_is_not_asked() -> None:
    stage = Stage(NOTHING)
    stage.source = replace(stage.source, config=None)
    assert failure_of(stage.retrieve).code == "not_configured"
    assert stage.exchanges.sent == []


@pytest.mark.parametrize(("step", "code"), [(ConnectionFailed(), "connection_failed"), (HANGS, "timeout")])
def test_a_failing_line_fails_the_question(step: Step, code: str) -> None:
    stage = Stage(step)
    with pytest.raises((ConnectionFailed, ExchangeTimeout)) as caught:
        stage.retrieve(within_s=0.05)
    assert caught.value.code == code
    assert len(stage.exchanges.sent) == 1


def test_forty_thousand_brackets_are_no_answer() -> None:
    stage = Stage(replace(NOTHING, body=b'{"records":' + b"[" * 20_000 + b"]" * 20_000 + b"}"))
    assert failure_of(stage.retrieve).code == "invalid_response"


def test_a_real_server_is_asked_with_the_credential_that_was_sealed() -> None:
    record = {"content": "Huts open.", "score": 0.9, "title": "huts.md", "metadata": {"document_id": "d-1"}}
    with scripted_service(good({"records": [record]})) as service:
        source = an_external_provider(base_url=f"{service.origin}/api").source
        retriever = DifyExternalRetriever(clock=SystemClock(), allow_test_names=True)
        found = ask_for_real(retriever, source, QUESTION, key=KEY)
        (asked,) = service.asked
    assert [(each.document_id, each.snippet) for each in found.passages] == [("d-1", "Huts open.")]
    assert (asked.method, asked.path) == ("POST", "/api/retrieval")
    assert (asked.headers["authorization"], asked.headers["content-type"]) == (f"Bearer {KEY}", "application/json")
    assert json.loads(asked.body) == {
        "retrieval_setting": {"top_k": 6, "score_threshold": 0.0},
        "query": "huts",
        "knowledge_id": "handbook",
        "metadata_condition": None,
    }


def test_a_real_server_that_refuses_is_not_quoted() -> None:
    refusal = json_answer({"error_code": 2001, "error_msg": "UPSTREAM-WORDS"}, status=404)
    with scripted_service(refusal) as service:
        source = an_external_provider(base_url=service.origin).source
        retriever = DifyExternalRetriever(clock=SystemClock(), allow_test_names=True)
        check_failure(failure_of(lambda: ask_for_real(retriever, source, QUESTION, key=KEY)), {"code": "not_found"})
        assert len(service.asked) == 1
