"""Both answers on the wire: their fields, their size, and that a browser can always read them."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.domain.agent_answers import AgentAnswer, agent_answer
from shared.domain.customer_answers import CustomerAnswer, CustomerResult, customer_answer
from shared.domain.exposure import Audience
from shared.domain.merging import merged
from shared.domain.passages import Evidence, Freshness, Passage, Retrieval
from shared.domain.registrations import Capabilities
from shared.domain.replies import Reply, reply_with
from shared.web import agent_answers, customer_answers
from shared.web.answer_size import MAX_ANSWER_BYTES, delivered_bytes, how_many_fit
from tests.support.builders import a_passage, a_source

FIVE = {"title", "snippet", "url", "locale", "localeFallback"}
AGENT_RESULT = {
    "provider",
    "locator",
    "documentId",
    "title",
    "snippet",
    "audience",
    "evidence",
    "revision",
    "chunkId",
    "url",
    "locale",
    "localeFallback",
    "providerScore",
    "freshness",
    "reviewDueAt",
    "translationGroupId",
    "truncated",
}

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
optional = st.none() | texts
some_passages = st.builds(
    Passage,
    document_id=texts,
    title=texts,
    snippet=texts,
    audience=st.sampled_from(Audience),
    evidence=st.sampled_from(Evidence),
    revision=optional,
    chunk_id=optional,
    url=optional,
    locale=optional,
    score=st.none() | st.floats(),
    freshness=st.sampled_from(Freshness),
    review_due_at=optional,
    translation_group_id=optional,
    truncated=st.booleans(),
)
some_replies = st.lists(
    st.builds(
        lambda found, scoring: reply_with(
            a_source(capabilities=Capabilities(scoring=scoring)), Retrieval(passages=tuple(found))
        ),
        st.lists(some_passages, max_size=4),
        st.booleans(),
    ),
    max_size=4,
)


def agents(replies: list[Reply], **over: Any) -> AgentAnswer:
    return agent_answer(replies, (), **{"limit": 50, "locale": "en", **over})


def read(text: str) -> Any:
    def refuse(word: str) -> Any:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


@settings(deadline=None)
@given(some_replies, st.integers(1, 50), st.sampled_from([None, "en"]))
def test_a_customers_answer_has_five_fields_a_result_and_no_other_key_at_any_depth(
    replies: list[Reply], limit: int, locale: str | None
) -> None:
    answer = read(customer_answers.encoded(customer_answer(merged(replies, limit=limit), locale=locale)))
    assert set(answer) == {"results"}
    for result in answer["results"]:
        assert set(result) == FIVE
        assert all(not isinstance(value, dict | list) for value in result.values())
        assert isinstance(result["title"], str)
        assert isinstance(result["snippet"], str)
    assert len(answer["results"]) == min(limit, sum(len(reply.passages) for reply in replies))


@settings(deadline=None)
@given(some_replies, st.integers(1, 50))
def test_an_agents_answer_can_always_be_read_and_has_the_documented_fields(replies: list[Reply], limit: int) -> None:
    answer = read(agent_answers.encoded(agents(replies, limit=limit), request_id="r"))
    for result in answer["results"]:
        assert set(result) == AGENT_RESULT
        assert set(result["provider"]) == {"id", "name", "kind"}
        assert {"documentId"} <= set(result["locator"]) <= {"documentId", "revision", "chunkId"}
        assert None not in result["locator"].values()


def test_the_customers_result_is_a_type_of_five_fields() -> None:
    assert {field.name for field in fields(CustomerResult)} == {"title", "snippet", "url", "locale", "locale_fallback"}
    assert {field.name for field in fields(CustomerAnswer)} == {"results"}
    assert set(customer_answers.CustomerResultOut.model_fields) == {field.name for field in fields(CustomerResult)}


def test_a_field_of_a_wrong_type_never_leaves_on_a_customer_path() -> None:
    answer = CustomerAnswer(
        results=(CustomerResult(title={"a": 1}, snippet="", url=None, locale=None, locale_fallback=None),)
    )
    with pytest.raises(ValueError, match="title"):
        customer_answers.encoded(answer)


# --- size ----------------------------------------------------------------------------------------

WIDEST = '"\\\U0001f6f3'  # each grows when it is written


def wide_replies() -> list[Reply]:
    one = Passage(
        document_id=WIDEST[:1] * 512,
        title="\u0001" * 512,
        snippet="🛳" * 8000,
        audience=Audience.PUBLIC,
        revision="\\" * 512,
        chunk_id='"' * 512,
        url="https://a.example/" + "é" * 2000,
        translation_group_id="\u0002" * 512,
    )
    return [reply_with(a_source(name="n" * 200), Retrieval(passages=(one,) * 50)) for _ in range(200)]


def test_the_largest_answer_that_providers_can_cause_stays_within_four_mebibytes() -> None:
    text = agent_answers.encoded(agents(wide_replies()), request_id="r")
    assert len(read(text)["results"]) == 50
    assert delivered_bytes(text) <= MAX_ANSWER_BYTES


@pytest.mark.parametrize("cap", [400_000, 250_000, 150_000])
def test_an_answer_over_the_cap_loses_results_from_its_tail_and_says_so(cap: int) -> None:
    whole = agents(wide_replies()[:4])
    text = agent_answers.encoded(whole, request_id="r", cap=cap)
    answer = read(text)
    kept = len(answer["results"])
    assert 0 < kept < 50
    assert delivered_bytes(text) <= cap
    one_more = agent_answers.encoded(whole.first(kept + 1), request_id="r")
    assert delivered_bytes(one_more) > cap
    dropped = {result.provider_id for result in whole.results[kept:]}
    assert {one["id"] for one in answer["providers"] if one["truncated"]} >= dropped


def test_a_customers_answer_over_the_cap_loses_results_from_its_tail() -> None:
    whole = customer_answer(merged(wide_replies()[:4], limit=50), locale=None)
    text = customer_answers.encoded(whole, cap=100_000)
    kept = read(text)["results"]
    assert 0 < len(kept) < 50
    assert delivered_bytes(text) <= 100_000
    assert read(customer_answers.encoded(whole))["results"][: len(kept)] == kept


def test_cutting_the_tail_computes_the_returned_locale_anew() -> None:
    reply = reply_with(a_source(), Retrieval(passages=(a_passage(locale="de"), a_passage(locale="en"))))
    whole = agents([reply])
    assert whole.returned_locale is None
    assert whole.first(1).returned_locale == "de"
    assert whole.first(1).outcomes[0].truncated
    assert not whole.first(2).outcomes[0].truncated


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_the_counted_bytes_are_those_of_the_text_inside_another_json_string(text: str) -> None:
    inner = json.dumps(text, ensure_ascii=False)
    outer = json.dumps(inner, ensure_ascii=False)
    assert delivered_bytes(inner) == len(outer.encode()) - 2


@pytest.mark.parametrize(
    ("sizes", "room", "count"), [([], 0, 0), ([5, 5], 10, 2), ([5, 6], 10, 1), ([11, 1], 10, 0), ([1], -1, 0)]
)
def test_items_fit_while_there_is_room(sizes: list[int], room: int, count: int) -> None:
    assert how_many_fit(sizes, room=room) == count
