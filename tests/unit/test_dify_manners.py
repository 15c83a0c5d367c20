"""The path of Dify: its refusals for a while, its log, its time, its size."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest

from shared.domain.exposure import CredentialClass, Grant
from shared.domain.passages import Question, Retrieval
from shared.errors import Unavailable
from shared.observability import REQUEST_FAULT, REQUEST_REFUSED, SEARCH_ANSWERED
from shared.web.answer_size import MAX_ANSWER_BYTES, delivered_bytes
from tests.support.builders import a_passage, a_token
from tests.support.dify_calls import NOT_ACCEPTED, an_agent, records, refusal
from tests.support.search_stage import Stage, passages


@pytest.fixture
def stage() -> Iterator[Stage]:
    made = Stage()
    yield made
    made.close()


@pytest.fixture
def granted(stage: Stage) -> str:
    return a_token(an_agent(stage))


def test_an_answer_is_never_stored_by_anybody(stage: Stage) -> None:
    for answer in (stage.dify(), stage.dify(token=None), stage.dify(top_k=0), stage.dify(knowledge_id="x")):
        assert answer.headers["Cache-Control"] == "private, no-store"
        assert answer.headers["X-Request-Id"]


@pytest.mark.parametrize("caller", ["assistant", "agent"])
def test_too_many_retrievals_are_told_when_to_come_back(stage: Stage, caller: str) -> None:
    """429, so that no version of Dify takes it for an empty list. Nobody is asked."""
    if caller == "assistant":
        grants = frozenset({Grant.READ_PUBLIC})
        credential = stage.add_credential(credential_class=CredentialClass.ASSISTANT, grants=grants, rate_per_minute=1)
    else:
        credential = an_agent(stage, rate_per_minute=1)
    key = {"token": a_token(credential), "knowledge_id": "public" if caller == "assistant" else "all"}
    assert records(stage.dify(**key)) == []
    stage.add(*passages(1))
    answer = stage.dify(**key)
    assert refusal(answer) == (429, 4002)
    assert 1 <= int(answer.headers["Retry-After"]) <= 60
    assert stage.retriever.asked == []


def test_retrievals_and_searches_are_counted_together(stage: Stage) -> None:
    stage.dify()
    stage.assistant()
    assert sum(stage.rate_limits.counts.values()) == 2
    assert {subject for subject, _ in stage.rate_limits.counts} == {stage.assistant_credential.id}


@pytest.mark.parametrize("part", ["customer_catalog", "credentials", "rate_limits"])
def test_a_store_that_cannot_be_read_is_a_503_which_dify_asks_again(stage: Stage, part: str) -> None:
    getattr(stage, part).failure = Unavailable()
    answer = stage.dify()
    assert refusal(answer) == (503, 5002)
    assert int(answer.headers["Retry-After"]) >= 1
    assert [line["status"] for line in stage.log.of(REQUEST_REFUSED)] == [503]


def test_the_grant_is_missed_also_while_the_catalogue_is_down(stage: Stage) -> None:
    stage.catalog.failure = Unavailable()
    assert refusal(stage.dify(token=a_token(stage.agent_credential), knowledge_id="all")) == NOT_ACCEPTED


def test_a_fault_nobody_expected_has_difys_shape_too(stage: Stage) -> None:
    async def broken() -> Any:
        raise KeyError("inside words")

    stage.customer_catalog.sources = broken  # type: ignore[method-assign]
    answer = stage.dify()
    assert refusal(answer) == (500, 5003)
    assert "inside words" not in answer.text + str(stage.log.lines)
    assert len(stage.log.of(REQUEST_FAULT)) == 1


def test_the_shape_belongs_to_this_path_alone(stage: Stage) -> None:
    stage.dify(token=None)
    assert stage.assistant(token=None).headers["Content-Type"] == "application/problem+json"


def test_the_log_line_is_that_of_a_search_and_says_nothing_of_what_was_asked_or_found(
    stage: Stage, granted: str
) -> None:
    stage.add(a_passage(title="zqTitle", snippet="zqSnippet"))
    stage.dify("zqQuery")
    stage.dify("zqQuery", token=granted, knowledge_id="all", headers={"x-helpthread-agent-id": "zqAgent"})
    stage.dify("zqQuery", knowledge_id="zqKnowledge")
    stage.dify("zqQuery", token="kg_ast_zqToken")
    lanes = [(line["lane"], line["result_count"], line["agent_id"]) for line in stage.log.of(SEARCH_ANSWERED)]
    assert lanes == [("customer", 1, None), ("agent", 1, None)]
    assert re.search("zq[A-Z]", str(stage.log.lines)) is None  # two letters alone may stand in an id


def test_no_answer_comes_later_than_dify_waits(stage: Stage, granted: str) -> None:
    """Four seconds of the five, on the gateway's clock; what a caller sends changes nothing."""
    stage.add()
    for key in ({}, {"token": granted, "knowledge_id": "all"}):
        stage.dify(deadlineMs=25_000, deadline_ms=25_000, **key)
    assert [at_s - stage.clock.monotonic() for _, at_s in stage.exchanges.opened] == [4.0, 4.0]


def test_a_slow_source_costs_the_deadline_and_its_own_records(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("functions.search.dify.DEADLINE_MS", 200)

    async def hang(_question: Question) -> Retrieval:
        await asyncio.Event().wait()
        raise AssertionError

    stage.add(*passages(2))
    stage.add(act=hang)
    begun = time.monotonic()
    assert len(records(stage.dify())) == 2
    assert time.monotonic() - begun < 3.0


def test_the_largest_answer_can_be_delivered(stage: Stage, granted: str) -> None:
    wide = {
        "title": "\x01" * 512,
        "document_id": '"' * 512,
        "locale": "x" * 35,
        "url": "https://a.example/" + "\\" * 2030,
    }
    stage.add(*(a_passage(snippet='"' * 8_000, **wide) for _ in range(50)))
    for key in ({}, {"token": granted, "knowledge_id": "all"}):
        answer = stage.dify(top_k=50, **key)
        assert len(records(answer)) == 50
        assert delivered_bytes(answer.text) <= MAX_ANSWER_BYTES
