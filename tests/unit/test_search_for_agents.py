"""The agent's search through its real route and services, over fakes."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from shared.domain.exposure import Audience, CredentialClass, ExposureProfile, Grant
from shared.domain.passages import Freshness, Question, Retrieval
from shared.domain.registrations import Capabilities, ProviderStatus
from shared.errors import ConnectionFailed, Refused, Unavailable
from shared.observability import SEARCH_ANSWERED
from tests.support.builders import NOW, a_passage, a_token
from tests.support.search_stage import Answered, Stage, answering, event_of, passages, raising

AGENT_ONLY = ExposureProfile.AGENT_ONLY


@pytest.fixture
def stage() -> Iterator[Stage]:
    made = Stage()
    yield made
    made.close()


def outcomes(answer: Answered) -> dict[str, tuple[str, str | None]]:
    return {one["id"]: (one["status"], one["errorCode"]) for one in answer.json["providers"]}


def test_an_agent_sees_public_and_internal_passages_with_their_providers(stage: Stage) -> None:
    public = stage.add(a_passage(title="Public"), priority=1)
    internal = stage.add(
        a_passage(title="Internal", audience=Audience.INTERNAL), exposure_profile=AGENT_ONLY, priority=2
    )
    answer = stage.agent()
    assert answer.status == 200
    assert [(r["title"], r["provider"]["id"]) for r in answer.json["results"]] == [
        ("Public", public.id),
        ("Internal", internal.id),
    ]
    assert answer.json["results"][1]["provider"] == {
        "id": internal.id,
        "name": internal.source.name,
        "kind": "contract",
    }
    assert outcomes(answer) == {public.id: ("success", None), internal.id: ("success", None)}
    assert answer.json["status"] == "complete"


def test_the_answer_has_exactly_the_documented_fields(stage: Stage) -> None:
    stage.add(
        a_passage(
            document_id="d-1",
            revision="r-2",
            chunk_id="c-3",
            score=0.5,
            locale="de-AT",
            freshness=Freshness.CURRENT,
            review_due_at="2027-01-01",
            translation_group_id="g-4",
        )
    )
    answer = stage.agent(locale="de", headers={"x-request-id": "case-77"}).json
    assert set(answer) == {
        "requestId",
        "status",
        "results",
        "discoveries",
        "cards",
        "cardsStatus",
        "providers",
        "returnedLocale",
    }
    assert answer["requestId"] == "case-77"
    assert (answer["discoveries"], answer["cards"], answer["returnedLocale"]) == ([], [], "de-AT")
    assert answer["cardsStatus"] is None
    (result,) = answer["results"]
    assert result.pop("provider")["kind"] == "contract"
    assert result.pop("title")
    assert result.pop("snippet")
    assert result.pop("url").startswith("https://")
    assert result == {
        "documentId": "d-1",
        "revision": "r-2",
        "chunkId": "c-3",
        "locator": {"documentId": "d-1", "revision": "r-2", "chunkId": "c-3"},
        "audience": "public",
        "evidence": "source_excerpt",
        "locale": "de-AT",
        "localeFallback": False,
        "providerScore": 0.5,
        "freshness": "current",
        "reviewDueAt": "2027-01-01",
        "translationGroupId": "g-4",
        "truncated": False,
    }
    (outcome,) = answer["providers"]
    assert set(outcome) == {
        "id",
        "name",
        "status",
        "errorCode",
        "durationMs",
        "resultCount",
        "truncated",
        "retryAt",
        "warnings",
    }


def test_what_a_provider_did_not_return_is_null_and_not_in_the_locator(stage: Stage) -> None:
    stage.add(a_passage(document_id="d-1", locale=None, url=None))
    (result,) = stage.agent(locale="de").json["results"]
    assert result["locator"] == {"documentId": "d-1"}
    for name in ("revision", "chunkId", "url", "locale", "localeFallback", "providerScore", "reviewDueAt"):
        assert result[name] is None
    assert result["freshness"] == "unknown"


def test_one_failing_leg_never_spoils_the_answer(stage: Stage) -> None:
    sound = stage.add(*passages(2))
    down = stage.add(act=raising(Refused("upstream_error")))
    broken = stage.add(act=raising(Refused("invalid_response")))
    faulty = stage.add(act=raising(KeyError("x")))
    cancelled = stage.add(act=raising(asyncio.CancelledError()))
    answer = stage.agent()
    assert answer.status == 200
    assert len(answer.json["results"]) == 2
    assert answer.json["status"] == "partial"
    assert outcomes(answer) == {
        sound.id: ("success", None),
        down.id: ("failed", "upstream_error"),
        broken.id: ("failed", "invalid_response"),
        faulty.id: ("failed", "internal_error"),
        cancelled.id: ("failed", "internal_error"),
    }


def test_one_that_never_answers_costs_the_deadline_and_its_own_outcome(stage: Stage) -> None:
    for _ in range(3):
        stage.add(*passages(1))

    async def hang(_question: Question) -> Retrieval:
        await asyncio.Event().wait()
        raise AssertionError

    hanging = stage.add(act=hang)
    begun = time.monotonic()
    answer = stage.agent(deadlineMs=500)
    assert 0.49 <= time.monotonic() - begun < 3.0
    assert len(answer.json["results"]) == 3
    assert outcomes(answer)[hanging.id] == ("failed", "timeout")
    assert stage.agent(providers=[]).status == 200  # the loop is usable afterwards


@pytest.mark.parametrize("code", ["unauthorized", "forbidden", "rate_limited", "not_found"])
def test_a_providers_refusal_never_becomes_the_gateways(stage: Stage, code: str) -> None:
    stage.add(act=raising(Refused(code)))
    answer = stage.agent()
    assert answer.status == 200
    assert "WWW-Authenticate" not in answer.headers
    assert answer.json["status"] == "failed"
    assert answer.json["providers"][0]["errorCode"] == code


def test_no_eligible_provider_is_a_complete_answer_without_results(stage: Stage) -> None:
    stage.add(*passages(1), status=ProviderStatus.DISABLED)
    answer = stage.agent().json
    assert (answer["status"], answer["results"], answer["providers"]) == ("complete", [], [])
    assert answer["returnedLocale"] is None


def test_naming_providers_narrows_and_unknown_malformed_and_forbidden_ids_look_alike(stage: Stage) -> None:
    allowed, forbidden = stage.add(*passages(1)), stage.add(*passages(1), exposure_profile=AGENT_ONLY)
    disabled = stage.add(*passages(1), status=ProviderStatus.DISABLED)
    credential = stage.add_credential(
        credential_class=CredentialClass.AGENT, allowed_providers=(allowed.id, disabled.id)
    )
    named = [allowed.id, forbidden.id, disabled.id, "ao_aaaaaaaaaaaaaaaa", "who?"]
    answer = stage.agent(token=a_token(credential), providers=named).json
    told = {one.pop("id"): one for one in answer["providers"]}
    assert told[forbidden.id] == told["ao_aaaaaaaaaaaaaaaa"] == told["who?"]
    assert (told["who?"]["status"], told["who?"]["errorCode"], told["who?"]["name"]) == ("skipped", "not_found", None)
    assert told[disabled.id]["errorCode"] == "disabled"
    assert stage.retriever.asked_ids == [allowed.id]
    assert answer["status"] == "complete"


def test_the_credentials_own_list_is_a_ceiling_without_any_filter(stage: Stage) -> None:
    allowed = stage.add(*passages(1))
    stage.add(*passages(1), exposure_profile=AGENT_ONLY)
    credential = stage.add_credential(credential_class=CredentialClass.AGENT, allowed_providers=(allowed.id,))
    assert list(outcomes(stage.agent(token=a_token(credential)))) == [allowed.id]


def test_an_internal_result_of_a_customer_safe_provider_is_dropped_for_agents_too(stage: Stage) -> None:
    stage.add(a_passage(title="fine"), a_passage(title="slip", audience=Audience.INTERNAL))
    answer = stage.agent()
    assert [r["title"] for r in answer.json["results"]] == ["fine"]
    assert answer.json["providers"][0]["warnings"] == ["internal_dropped"]
    assert "slip" not in answer.text


def test_a_conversation_goes_to_those_registered_for_it_and_to_no_other(stage: Stage) -> None:
    enabled = stage.add(exposure_profile=AGENT_ONLY, send_conversation_id=True)
    stage.add(exposure_profile=AGENT_ONLY)
    stage.add(send_conversation_id=True)  # customer_safe: the setting counts for nothing
    stage.agent(context={"conversationId": "conv-1"})
    told = {source.id: question.conversation_id for source, question, _ in stage.retriever.asked}
    assert len(told) == 3
    assert {id_ for id_, conversation in told.items() if conversation} == {enabled.id}


def test_what_is_asked_reaches_the_provider_as_it_was_sent(stage: Stage) -> None:
    stage.add()
    stage.agent(" 50 % off — naïve café ", limit=7, locale="de", localeFallback="en")
    question = stage.retriever.asked[0][1]
    assert question == Question(query=" 50 % off — naïve café ", limit=7, locale="de", locale_fallback="en")


def test_a_query_too_long_for_a_kind_is_that_providers_outcome(stage: Stage) -> None:
    provider = stage.add(*passages(1))
    answer = stage.agent("x" * 1025)
    assert outcomes(answer) == {provider.id: ("skipped", "query_too_long")}
    assert answer.json["status"] == "failed"


def test_the_merged_answer_is_cut_at_the_limit(stage: Stage) -> None:
    stage.add(*passages(5))
    stage.add(*passages(5))
    answer = stage.agent(limit=3).json
    assert len(answer["results"]) == 3
    assert [one["resultCount"] for one in answer["providers"]] == [3, 3]


def test_a_snippet_cut_for_the_budget_marks_its_result_and_its_provider(stage: Stage) -> None:
    long = stage.add(*passages(7, snippet="s" * 8000))
    short = stage.add(a_passage(snippet="s"), priority=1)
    answer = stage.agent().json
    assert sum(len(r["snippet"]) for r in answer["results"]) == 48_000
    assert [r["truncated"] for r in answer["results"]] == [False] * 6 + [True, True]
    told = {one["id"]: one["truncated"] for one in answer["providers"]}
    assert told == {long.id: True, short.id: False}


def test_the_returned_locale_is_computed_from_what_survived(stage: Stage) -> None:
    stage.add(a_passage(locale="de"), a_passage(locale="en", audience=Audience.INTERNAL), priority=1)
    stage.add(a_passage(locale="de"), priority=2)
    assert stage.agent(locale="de").json["returnedLocale"] == "de"
    stage.add(a_passage(locale="en"), priority=3)
    answer = stage.agent(locale="de").json
    assert answer["returnedLocale"] is None
    assert [r["localeFallback"] for r in answer["results"]] == [False, False, True]


def test_results_of_scoring_providers_are_merged_by_score(stage: Stage) -> None:
    scoring = Capabilities(scoring=True)
    stage.add(a_passage(title="b", score=0.5), a_passage(title="d"), capabilities=scoring)
    stage.add(a_passage(title="a", score=0.9), a_passage(title="c", score=0.1), capabilities=scoring)
    stage.add(a_passage(title="e", score=99.0))
    assert [r["title"] for r in stage.agent().json["results"]] == ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_score_that_json_cannot_write_becomes_null(stage: Stage, score: float) -> None:
    stage.add(a_passage(score=score), capabilities=Capabilities(scoring=True))
    assert stage.agent().json["results"][0]["providerScore"] is None


def test_when_every_provider_says_when_to_come_back_so_does_the_answer(stage: Stage) -> None:
    stage.clock._now = 1_790_000_000.0
    for wait_s in (300, 39.2, 90):
        stage.add(act=raising(Refused("rate_limited", retry_at=1_790_000_000.0 + wait_s)))
    answer = stage.agent()
    assert (answer.status, answer.headers["Retry-After"], answer.json["status"]) == (200, "40", "failed")
    assert answer.json["providers"][0]["retryAt"] == "2026-09-21T14:18:20.000Z"


@pytest.mark.parametrize("wait_s", [-30, 0])
def test_the_time_to_come_back_is_never_zero_or_past(stage: Stage, wait_s: float) -> None:
    stage.add(act=raising(Refused("rate_limited", retry_at=NOW + wait_s)))
    assert stage.agent().headers["Retry-After"] == "1"


def test_one_provider_that_does_not_say_leaves_the_time_out(stage: Stage) -> None:
    stage.add(act=raising(Refused("rate_limited", retry_at=NOW + 40)))
    stage.add(act=raising(ConnectionFailed()))
    assert "Retry-After" not in stage.agent().headers
    assert "Retry-After" not in stage.agent(providers=[]).headers


# --- who may ask ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "token",
    [
        None,
        "nonsense",
        "kg_agt_aaaaaaaaaaaaaaaa_" + "5e" * 32,
        "kg_agt_root_" + "5e" * 32,
    ],
)
def test_without_a_valid_token_nobody_is_asked(stage: Stage, token: str | None) -> None:
    stage.add(*passages(1))
    answer = stage.agent(token=token)
    assert (answer.status, answer.json["code"]) == (401, "unauthenticated")
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert stage.retriever.asked == []


def test_a_wrong_secret_admits_nobody_and_uses_up_nobodys_rate(stage: Stage) -> None:
    stage.agent(providers=[])
    counted = sum(stage.rate_limits.counts.values())
    for _ in range(5):
        assert stage.agent(token=a_token(stage.agent_credential, secret="00" * 32)).status == 401
    assert sum(stage.rate_limits.counts.values()) == counted


@pytest.mark.parametrize("credential_class", [CredentialClass.ADMIN, CredentialClass.PUBLIC])
def test_admins_and_widgets_are_refused_here(stage: Stage, credential_class: CredentialClass) -> None:
    credential = stage.add_credential(credential_class=credential_class)
    assert stage.agent(token=a_token(credential)).status == 401
    assert stage.credentials.reads == 0


def test_a_token_that_claims_another_class_than_its_credential_is_refused(stage: Stage) -> None:
    claimed = a_token(stage.assistant_credential).replace("_ast_", "_agt_")
    assert stage.agent(token=claimed).status == 401


@pytest.mark.parametrize("change", [{"expires_at": NOW}, {"status": "disabled"}])
def test_a_credential_that_ended_is_refused_from_the_next_request_on(stage: Stage, change: dict[str, Any]) -> None:
    assert stage.agent(providers=[]).status == 200
    stage.store.credentials[stage.agent_credential.id] = replace(stage.agent_credential, **change)
    assert stage.agent(providers=[]).status == 401


def test_an_unauthenticated_caller_learns_nothing_of_what_is_wrong_with_the_body(stage: Stage) -> None:
    wrong = stage.agent(token="kg_agt_aaaaaaaaaaaaaaaa_" + "5e" * 32, limit="many", audience="internal")
    assert wrong.status == 401
    assert "errors" not in wrong.json


def test_over_its_rate_a_credential_is_told_when_to_come_back(stage: Stage) -> None:
    credential = stage.add_credential(credential_class=CredentialClass.AGENT, rate_per_minute=2)
    stage.clock._now = 1_790_000_015.0  # 35 s into the minute: 25 s are left
    statuses = [stage.agent(token=a_token(credential), providers=[]).status for _ in range(3)]
    assert statuses == [200, 200, 429]
    refused = stage.agent(token=a_token(credential), providers=[])
    assert refused.headers["Retry-After"] == "25"
    assert refused.headers["RateLimit"] == '"default";r=0;t=25'
    stage.clock.advance(25)
    assert stage.agent(token=a_token(credential), providers=[]).status == 200


@pytest.mark.parametrize("part", ["catalog", "credentials", "rate_limits"])
def test_a_store_that_cannot_be_read_is_a_503_that_says_when_to_come_back(stage: Stage, part: str) -> None:
    stage.add(*passages(1))
    getattr(stage, part).failure = Unavailable()
    answer = stage.agent()
    assert (answer.status, answer.json["code"]) == (503, "store_unavailable")
    assert int(answer.headers["Retry-After"]) >= 1
    assert stage.retriever.asked == []


def test_a_bad_token_is_refused_in_the_same_words_while_the_store_of_registrations_is_down(stage: Stage) -> None:
    stage.catalog.failure = Unavailable()
    assert stage.agent(token="kg_agt_aaaaaaaaaaaaaaaa_" + "5e" * 32).status == 401


def test_a_store_slower_than_the_deadline_is_a_503_in_time(stage: Stage) -> None:
    async def never() -> Any:
        await asyncio.Event().wait()

    stage.catalog.providers = never  # type: ignore[method-assign]
    begun = time.monotonic()
    answer = stage.agent(deadlineMs=500)
    assert 0.49 <= time.monotonic() - begun < 3.0
    assert answer.status == 503
    assert int(answer.headers["Retry-After"]) >= 1


# --- what may be asked ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        {"query": ""},
        {"query": "   "},
        {"query": "x" * 4001},
        {"query": None},
        {"limit": 0},
        {"limit": 51},
        {"limit": "5"},
        {"limit": 5.0},
        {"limit": True},
        {"limit": 1e9},
        {"deadlineMs": 499},
        {"deadlineMs": 25_001},
        {"locale": "de_DE"},
        {"locale": ""},
        {"locale": "*"},
        {"localeFallback": "x" * 36},
        {"freshness": "live"},
        {"providers": "all"},
        {"providers": ["x" * 129]},
        {"context": {"conversationId": "c", "audience": "agent"}},
        {"audience": "internal"},
        {"exposureProfile": "agent_only"},
        {"deadline_ms": 1000},
        {"locale_fallback": "en"},
    ],
)
def test_a_wrong_or_unknown_field_is_a_422_that_names_it(stage: Stage, body: dict[str, Any]) -> None:
    stage.add(*passages(1))
    answer = stage.agent(**body)
    assert (answer.status, answer.json["code"]) == (422, "invalid_request")
    assert next(iter(body)) in answer.json["errors"][0]["pointer"]
    assert stage.retriever.asked == []


def test_all_documented_fields_are_taken(stage: Stage) -> None:
    answer = stage.agent(
        limit=50,
        locale="zh-Hant-TW",
        localeFallback="en",
        context={"conversationId": "c-1"},
        providers=[],
        collections=["glossary"],
        product="Ferry",
        repository="fern/ferry",
        version="2.1",
        freshness="force",
        deadlineMs=25_000,
    )
    assert (answer.status, answer.json["cards"]) == (200, [])


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (None, 400),
        ("", 400),
        ("null", 400),
        ("[]", 400),
        ('"x"', 400),
        ("{", 400),
        ("[" * 20_000 + "]" * 20_000, 400),
        ('{"query":"x","query":"y"}', 400),
        ('{"query":"x","limit":NaN}', 400),
        ('{"query":"\\ud800"}', 400),
        ("{}", 422),
        ("{" + " " * 1_048_576 + "}", 413),
    ],
)
def test_a_body_that_is_no_search_is_refused_in_one_shape(stage: Stage, body: str | None, status: int) -> None:
    event = event_of("search_agent")
    event["headers"]["authorization"] = f"Bearer {a_token(stage.agent_credential)}"
    answer = stage.send_search({**event, "body": body})
    assert answer.status == status
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert {"type", "title", "status", "code", "requestId"} <= set(answer.json)


@pytest.mark.parametrize(("media_type", "status"), [("text/plain", 400), (None, 200), ("application/json", 200)])
def test_the_media_type_is_json_or_left_out(stage: Stage, media_type: str | None, status: int) -> None:
    assert stage.agent(providers=[], headers={"content-type": media_type}).status == status


def test_a_base64_body_is_decoded_first(stage: Stage) -> None:
    import base64

    event = event_of("search_agent")
    event["headers"]["authorization"] = f"Bearer {a_token(stage.agent_credential)}"
    text = "\ufeff" + json.dumps({"query": "渡輪通行證"}, ensure_ascii=False)
    stage.add()
    sent = {**event, "body": base64.b64encode(text.encode()).decode(), "isBase64Encoded": True}
    assert stage.send_search(sent).status == 200
    assert stage.retriever.asked[0][1].query == "渡輪通行證"
    assert stage.send_search({**event, "body": "!", "isBase64Encoded": True}).status == 400


def test_events_with_missing_parts_are_answered(stage: Stage) -> None:
    minimal = event_of("search_minimal")
    assert stage.send_search(minimal).status == 401
    assert stage.send_search({"requestContext": {}, "rawPath": "/api/v1/knowledge/search"}).status == 404
    assert stage.send_search({}).status == 404
    without_body = {**minimal, "headers": {"Authorization": f"bearer {a_token(stage.agent_credential)}"}}
    assert stage.send_search(without_body).status == 400


def test_the_stage_in_front_of_the_path_is_no_part_of_it(stage: Stage) -> None:
    event = event_of("search_agent")
    event["headers"]["authorization"] = f"Bearer {a_token(stage.agent_credential)}"
    event["rawPath"] = "/prod/api/v1/knowledge/search"
    event["requestContext"]["stage"] = "prod"
    assert stage.send_search(event).status == 200


@pytest.mark.parametrize("agent_id", ["", "a b", "tab\tinside", "é", "x" * 129])
def test_an_attribution_that_is_no_identifier_is_refused(stage: Stage, agent_id: str) -> None:
    assert stage.agent(headers={"x-helpthread-agent-id": agent_id}).status == 422


# --- manners -------------------------------------------------------------------------------------


def test_an_answer_is_never_stored_by_anybody(stage: Stage) -> None:
    for answer in (stage.agent(), stage.agent(token=None), stage.agent(limit=0)):
        assert answer.headers["Cache-Control"] == "private, no-store"
        assert answer.headers["X-Request-Id"]


def test_the_log_line_counts_and_names_nothing_that_was_asked_or_found(stage: Stage) -> None:
    sound = stage.add(a_passage(title="found-title", snippet="found-text"))
    stage.add(act=raising(Refused("timeout")), name="Slow centre")
    stage.agent("the-secret-query", headers={"x-helpthread-agent-id": "kim-7"})
    (line,) = stage.log.of(SEARCH_ANSWERED)
    assert (line["lane"], line["status"], line["result_count"], line["agent_id"]) == ("agent", "partial", 1, "kim-7")
    assert [(p["status"], p["code"]) for p in line["providers"]] == [("success", None), ("failed", "timeout")]
    assert line["providers"][0]["id"] == sound.id
    text = str(stage.log.lines)
    for word in ("the-secret-query", "found-title", "found-text", a_token(stage.agent_credential)[-64:]):
        assert word not in text


def test_an_assistants_credential_may_not_borrow_an_attribution(stage: Stage) -> None:
    stage.assistant(headers={"x-helpthread-agent-id": "kim-7"})
    (line,) = stage.log.of(SEARCH_ANSWERED)
    assert line["agent_id"] is None


def test_fifty_warm_searches_in_one_process_all_succeed(stage: Stage) -> None:
    stage.add(*passages(1))
    credential = stage.add_credential(credential_class=CredentialClass.AGENT, grants=frozenset[Grant]())
    for _ in range(50):
        answer = stage.agent(token=a_token(credential))
        assert (answer.status, len(answer.json["results"])) == (200, 1)


def test_the_same_question_gets_the_same_bytes_again(stage: Stage) -> None:
    for _ in range(4):
        stage.add(*passages(3))
    first, second = (stage.agent(headers={"x-request-id": "r-1"}) for _ in range(2))
    assert first.text == second.text


def test_a_provider_that_answers_to_its_deadline_keeps_the_loop_clean_for_the_next(stage: Stage) -> None:
    provider = stage.add(*passages(1))

    async def slow(_question: Question) -> Retrieval:
        await asyncio.sleep(30)
        return Retrieval()

    stage.play(provider, slow)
    assert outcomes(stage.agent(deadlineMs=500)) == {provider.id: ("failed", "timeout")}
    stage.play(provider, answering(*passages(1)))
    assert outcomes(stage.agent()) == {provider.id: ("success", None)}
