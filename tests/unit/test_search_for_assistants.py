"""The assistant's search through its real route and services, over fakes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from shared.domain.exposure import Audience, CredentialClass, ExposureProfile, Grant
from shared.domain.registrations import ProviderStatus
from shared.errors import Refused, Unavailable
from shared.observability import SEARCH_ANSWERED
from tests.support.builders import a_passage, a_token
from tests.support.search_stage import Stage, passages, raising

FIVE = {"title", "snippet", "url", "locale", "localeFallback"}


@pytest.fixture
def stage() -> Iterator[Stage]:
    made = Stage()
    yield made
    made.close()


def test_an_assistant_sees_public_passages_in_five_fields_and_nothing_else(stage: Stage) -> None:
    stage.add(a_passage(title="Public", score=0.9, revision="r", chunk_id="c", locale="de"))
    stage.add(a_passage(title="Internal"), exposure_profile=ExposureProfile.AGENT_ONLY)
    answer = stage.assistant(locale="de")
    assert answer.status == 200
    assert set(answer.json) == {"results"}
    (result,) = answer.json["results"]
    assert set(result) == FIVE
    assert (result["title"], result["localeFallback"]) == ("Public", False)


def test_an_internal_provider_is_not_even_asked(stage: Stage) -> None:
    public = stage.add(*passages(1))
    stage.add(*passages(1), exposure_profile=ExposureProfile.AGENT_ONLY)
    stage.assistant()
    assert stage.retriever.asked_ids == [public.id]


def test_an_internal_result_of_a_public_provider_is_dropped(stage: Stage) -> None:
    stage.add(a_passage(title="fine"), a_passage(title="slip", audience=Audience.INTERNAL))
    answer = stage.assistant()
    assert [r["title"] for r in answer.json["results"]] == ["fine"]
    assert stage.log.of(SEARCH_ANSWERED)[0]["providers"][0]["warnings"] == ["internal_dropped"]


def test_no_public_provider_is_an_empty_answer(stage: Stage) -> None:
    stage.add(*passages(1), exposure_profile=ExposureProfile.AGENT_ONLY)
    stage.add(*passages(1), status=ProviderStatus.DISABLED)
    assert stage.assistant().json == {"results": []}


def test_a_failed_provider_leaves_no_trace_in_the_answer(stage: Stage) -> None:
    stage.add(act=raising(Refused("unauthorized", retry_at=1_790_000_100.0)))
    answer = stage.assistant()
    assert (answer.status, answer.json) == (200, {"results": []})
    assert "Retry-After" not in answer.headers


@pytest.mark.parametrize("grants", [frozenset(), frozenset({Grant.READ_INTERNAL})])
def test_without_the_grant_an_assistant_is_refused_and_nobody_asked(stage: Stage, grants: frozenset[Grant]) -> None:
    stage.add(*passages(1))
    credential = stage.add_credential(credential_class=CredentialClass.ASSISTANT, grants=grants)
    answer = stage.assistant(token=a_token(credential))
    assert (answer.status, answer.json["code"]) == (403, "forbidden")
    assert stage.retriever.asked == []


@pytest.mark.parametrize(
    "field",
    [
        {"providers": ["cs_aaaaaaaaaaaaaaaa"]},
        {"context": {"conversationId": "c-1"}},
        {"product": "x"},
        {"repository": "x"},
        {"version": "1"},
        {"freshness": "normal"},
        {"audience": "agent"},
        {"exposureProfile": "agent_only"},
        {"grants": ["knowledge:read_internal"]},
        {"query": "x" * 1025},
    ],
)
def test_a_field_that_an_assistant_may_not_send_is_a_422(stage: Stage, field: dict[str, Any]) -> None:
    stage.add(*passages(1))
    answer = stage.assistant(**field)
    assert (answer.status, answer.json["errors"][0]["pointer"]) == (422, "/" + next(iter(field)))
    assert stage.retriever.asked == []


def test_all_that_an_assistant_may_send_is_taken(stage: Stage) -> None:
    stage.add()
    answer = stage.assistant("x" * 1024, limit=50, locale="de", localeFallback="en", deadlineMs=500, collections=[])
    assert (answer.status, answer.json) == (200, {"results": []})
    question = stage.retriever.asked[0][1]
    assert (question.limit, question.locale, question.locale_fallback, question.conversation_id) == (
        50,
        "de",
        "en",
        None,
    )


def test_cards_are_there_only_when_collections_are_named(stage: Stage) -> None:
    assert stage.assistant(collections=["glossary"]).json == {"results": [], "cards": []}
    assert stage.assistant().json == {"results": []}


@pytest.mark.parametrize("part", ["customer_catalog", "credentials", "rate_limits"])
def test_a_store_that_cannot_be_read_is_a_503(stage: Stage, part: str) -> None:
    getattr(stage, part).failure = Unavailable()
    answer = stage.assistant()
    assert answer.status == 503
    assert int(answer.headers["Retry-After"]) >= 1


def test_a_failure_of_the_agents_catalogue_is_nothing_to_an_assistant(stage: Stage) -> None:
    stage.add(*passages(1))
    stage.catalog.failure = Unavailable()
    assert len(stage.assistant().json["results"]) == 1
