"""Retrievals as Dify and others send them, read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from shared.domain.passages import Question
from tests.support.builders import a_token
from tests.support.dify_calls import an_agent, records, refusal, sent_as
from tests.support.search_stage import Stage, event_of, passages


@pytest.fixture
def stage() -> Iterator[Stage]:
    made = Stage()
    yield made
    made.close()


@pytest.fixture
def granted(stage: Stage) -> str:
    return a_token(an_agent(stage))


def test_the_recorded_request_asks_for_what_was_typed(stage: Stage, granted: str) -> None:
    stage.add(*passages(1))
    event = event_of("dify_retrieval")
    records(stage.send_search(sent_as(event, a_token(stage.assistant_credential))))
    records(stage.send_search(sent_as(event, granted, knowledge_id="all")))
    questions = [question for _, question, _ in stage.retriever.asked]
    assert questions == [Question(query='night "ferry" pass', limit=5)] * 2


@pytest.mark.parametrize(
    ("sent", "asked"),
    [
        (r"ferry \"dawn\"", 'ferry "dawn"'),
        (r"a \\\" b", r"a \\" + '" b'),  # a quote after two backslashes was typed
        ('say "x" and \\"y', 'say "x" and \\"y'),  # not Dify's: a quote of it has no backslash
        (r"C:\ferry", r"C:\ferry"),
        (" 50 % off — naïve café 🚢 ", " 50 % off — naïve café 🚢 "),
    ],
    ids=["quotes", "backslashes", "not-dify", "no-quote", "as-it-is"],
)
def test_difys_backslashes_are_taken_away_and_nothing_else_is(stage: Stage, sent: str, asked: str) -> None:
    stage.add()
    records(stage.dify(sent))
    assert stage.retriever.asked[0][1].query == asked


def test_fields_that_are_not_known_are_ignored(stage: Stage) -> None:
    stage.add(*passages(1))
    setting = {"top_k": 3, "score_threshold": 0.9, "reranking_enable": True, "topK": "x"}
    answer = stage.dify(retrieval_setting=setting, use_kg=True, attachment_ids=[], providers=["ao_x"], audience="agent")
    assert len(records(answer)) == 1
    assert stage.retriever.asked[0][1].limit == 3


@pytest.mark.parametrize(("top_k", "limit"), [(1, 1), (7, 7), (50, 50), (51, 50), (1024, 50), (10**30, 50), (None, 10)])
def test_top_k_is_the_most_records_and_never_more_than_fifty(stage: Stage, top_k: int | None, limit: int) -> None:
    stage.add(*passages(60))
    assert len(records(stage.dify(top_k=top_k))) == limit
    assert stage.retriever.asked[0][1].limit == limit


@pytest.mark.parametrize("setting", [None, {}, {"score_threshold": None}])
def test_a_setting_may_be_left_out(stage: Stage, setting: Any) -> None:
    stage.add(*passages(12))
    assert len(records(stage.dify(retrieval_setting=setting))) == 10


def test_a_flat_request_is_enough(stage: Stage) -> None:
    """As whoever has a plain form of names and values sends it."""
    stage.add(*passages(1))
    event = event_of("dify_retrieval")
    event["headers"]["authorization"] = f"Bearer {a_token(stage.assistant_credential)}"
    event["body"] = json.dumps({"knowledge_id": "public", "query": "ferry"})
    assert len(records(stage.send_search(event))) == 1


@pytest.mark.parametrize("threshold", [0, 0.0, 0.99, 1, None])
def test_a_threshold_keeps_nothing_away(stage: Stage, threshold: float | None) -> None:
    stage.add(*passages(4))
    found = records(stage.dify(retrieval_setting={"top_k": 4, "score_threshold": threshold}))
    assert [record["score"] for record in found] == [1.0, 0.5, 1 / 3, 0.25]


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"query": ""}, "query"),
        ({"query": " \t\n"}, "query"),
        ({"query": None}, "query"),
        ({"query": 5}, "query"),
        ({"query": ["ferry"]}, "query"),
        ({"knowledge_id": None}, "knowledge_id"),
        ({"knowledge_id": 1}, "knowledge_id"),
        ({"top_k": 0}, "retrieval_setting/top_k"),
        ({"top_k": -1}, "retrieval_setting/top_k"),
        ({"top_k": "3"}, "retrieval_setting/top_k"),
        ({"top_k": 2.5}, "retrieval_setting/top_k"),
        ({"top_k": True}, "retrieval_setting/top_k"),
        ({"retrieval_setting": []}, "retrieval_setting"),
        ({"retrieval_setting": {"top_k": 1, "score_threshold": "0.5"}}, "retrieval_setting/score_threshold"),
        ({"metadata_condition": []}, "metadata_condition"),
        ({"metadata_condition": {"conditions": {}}}, "metadata_condition/conditions"),
    ],
    ids=lambda value: json.dumps(value) if isinstance(value, dict) else None,
)
def test_a_field_of_another_type_or_beyond_its_bounds_is_refused_by_name(
    stage: Stage, body: dict[str, Any], named: str
) -> None:
    stage.add(*passages(1))
    answer = stage.dify(**body)
    assert refusal(answer) == (400, 4001)
    assert f"{named}: " in answer.json["error_msg"]
    assert stage.retriever.asked == []


@pytest.mark.parametrize("left_out", ["query", "knowledge_id"])
def test_what_is_asked_and_of_what_are_needed(stage: Stage, left_out: str) -> None:
    event = sent_as(event_of("dify_retrieval"), a_token(stage.assistant_credential))
    body = json.loads(event["body"])
    del body[left_out]
    answer = stage.send_search({**event, "body": json.dumps(body)})
    assert refusal(answer) == (400, 4001)
    assert f"{left_out}: This field is required." in answer.json["error_msg"]


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", '"x"', "{", "[" * 20_000 + "]" * 20_000, '{"query":"x","query":"y"}', '{"top_k":NaN}'],
    ids=["empty", "null", "array", "string", "cut", "deep", "twice", "nan"],
)
def test_a_body_that_is_no_object_is_refused_in_difys_shape(stage: Stage, text: str) -> None:
    event = sent_as(event_of("dify_retrieval"), a_token(stage.assistant_credential))
    assert refusal(stage.send_search({**event, "body": text})) == (400, 4001)
    assert refusal(stage.send_search({**event, "body": "!", "isBase64Encoded": True})) == (400, 4001)
    assert refusal(stage.dify(headers={"content-type": "text/plain"})) == (400, 4001)


def test_a_body_beyond_a_mebibyte_is_refused(stage: Stage) -> None:
    assert refusal(stage.dify("x" * 1_048_576)) == (400, 4001)


@pytest.mark.parametrize(("caller", "most"), [("assistant", 1_024), ("agent", 4_000)])
def test_a_query_is_as_long_as_the_class_may_ask_and_is_never_cut(
    stage: Stage, granted: str, caller: str, most: int
) -> None:
    stage.retriever.limits = type(stage.retriever.limits)(query_characters=4_000, results=50, timeout_s=10.0)
    stage.add(*passages(1))
    key: dict[str, Any] = {} if caller == "assistant" else {"token": granted, "knowledge_id": "all"}
    longest = '"' + "é" * (most - 1)
    assert len(records(stage.dify(longest.replace('"', '\\"'), **key))) == 1
    assert stage.retriever.asked[0][1].query == longest
    refused = stage.dify(longest + "é", **key)
    assert refusal(refused) == (400, 4001)
    assert f"At most {most:,} characters" in refused.json["error_msg"]
    assert len(stage.retriever.asked) == 1


CONDITION = {"name": "author", "comparison_operator": "is", "value": "x"}


@pytest.mark.parametrize("condition", [None, {}, {"logical_operator": "and"}, {"conditions": []}, {"conditions": None}])
def test_a_filter_without_conditions_is_none(stage: Stage, condition: Any) -> None:
    stage.add(*passages(1))
    assert len(records(stage.dify(metadata_condition=condition))) == 1


@pytest.mark.parametrize("conditions", [[CONDITION], [CONDITION] * 3, ["?"]], ids=["one", "three", "odd"])
def test_a_filter_is_refused_because_records_that_were_not_filtered_would_be_wrong(
    stage: Stage, granted: str, conditions: list[Any]
) -> None:
    stage.add(*passages(1))
    condition = {"logical_operator": "and", "conditions": conditions}
    for key in ({}, {"token": granted, "knowledge_id": "all"}):
        answer = stage.dify(metadata_condition=condition, **key)
        assert refusal(answer) == (400, 4001)
        assert "Remove the metadata filter." in answer.json["error_msg"]
    assert stage.retriever.asked == []


def test_what_is_wrong_with_a_body_is_told_to_admitted_callers_alone(stage: Stage) -> None:
    answers = {
        stage.dify(q, token="kg_ast_none", headers={"x-request-id": "r"}).text for q in ("ferry", "", "x" * 9000)
    }
    assert len(answers) == 1
