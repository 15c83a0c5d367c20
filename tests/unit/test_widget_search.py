"""The widget's search and its preflight through the real routes and services, over fakes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from shared.domain.exposure import CredentialClass, ExposureProfile
from shared.errors import Refused, Unavailable
from shared.observability import WIDGET_REFUSED
from tests.support.builders import NOW, a_passage, a_token
from tests.support.search_stage import ORIGIN, Answered, Stage, event_of, passages, raising

ALLOW = "Access-Control-Allow-Origin"
FIVE = {"title", "snippet", "url", "locale", "localeFallback"}


@pytest.fixture
def stage() -> Iterator[Stage]:
    made = Stage()
    yield made
    made.close()


def cors_headers(answer: Answered) -> set[str]:
    return {name for name in answer.headers if name.startswith("Access-Control-")}


def test_a_visitor_sees_public_passages_in_five_fields_and_nothing_else(stage: Stage) -> None:
    stage.add(a_passage(title="Public <b>x</b>", locale=None))
    stage.add(a_passage(title="Internal"), exposure_profile=ExposureProfile.AGENT_ONLY)
    answer = stage.widget(locale="en")
    assert answer.status == 200
    assert set(answer.json) == {"results"}
    (result,) = answer.json["results"]
    assert set(result) == FIVE
    assert (result["title"], result["localeFallback"]) == ("Public <b>x</b>", None)
    assert answer.headers["Cache-Control"] == "private, no-store"


def test_the_listed_page_may_read_the_answer_and_its_headers_without_credentials(stage: Stage) -> None:
    answer = stage.widget()
    assert answer.headers[ALLOW] == ORIGIN
    assert answer.headers["Vary"] == "Origin"
    assert answer.headers["Access-Control-Expose-Headers"] == "X-Request-Id, Retry-After"
    assert "Access-Control-Allow-Credentials" not in answer.headers


def test_the_origin_is_echoed_as_the_browser_sent_it(stage: Stage) -> None:
    assert stage.widget(origin="https://HELP.fern-desk.test").headers[ALLOW] == "https://HELP.fern-desk.test"


# --- the one refusal -----------------------------------------------------------------------------


def refusals(stage: Stage) -> dict[str, Answered]:
    good = a_token(stage.widget_credential)
    revoked = stage.add_credential(credential_class=CredentialClass.PUBLIC, origins=(ORIGIN,), status="disabled")
    expired = stage.add_credential(credential_class=CredentialClass.PUBLIC, origins=(ORIGIN,), expires_at=NOW)
    without_origins = stage.add_credential(credential_class=CredentialClass.PUBLIC, origins=())
    return {
        "missing": stage.widget(token=None),
        "malformed": stage.widget(token="nonsense"),
        "unknown": stage.widget(token="kg_pub_aaaaaaaaaaaaaaaa_" + "5e" * 32),
        "wrong secret": stage.widget(token=a_token(stage.widget_credential, secret="00" * 32)),
        "revoked": stage.widget(token=a_token(revoked)),
        "expired": stage.widget(token=a_token(expired)),
        "no origins": stage.widget(token=a_token(without_origins)),
        "another class": stage.widget(token=a_token(stage.agent_credential)),
        "another class's id": stage.widget(token=a_token(stage.assistant_credential).replace("_ast_", "_pub_")),
        "no origin": stage.widget(token=good, origin=None),
        "null origin": stage.widget(token=good, origin="null"),
        "wrong origin": stage.widget(token=good, origin="https://evil.test"),
        "wrong origin and body": stage.widget(token=good, origin="https://evil.test", limit="many", audience="agent"),
        "wrong key and no body": stage.widget(token=None, query=None),
    }


def test_every_refusal_has_the_same_bytes_and_the_same_headers(stage: Stage) -> None:
    stage.add(*passages(1))
    stage.widget()  # so that the good key is known to the process
    asked = len(stage.retriever.asked)
    answers = refusals(stage)
    assert {name: answer.status for name, answer in answers.items()} == dict.fromkeys(answers, 403)
    assert len({answer.text for answer in answers.values()}) == 1
    without_id = [
        {name: value for name, value in answer.headers.items() if name != "X-Request-Id"} for answer in answers.values()
    ]
    assert all(headers == without_id[0] for headers in without_id)
    assert len(stage.retriever.asked) == asked
    assert len(stage.log.of(WIDGET_REFUSED)) == len(answers)


def test_the_refusal_is_a_problem_whose_request_id_is_in_the_header_alone(stage: Stage) -> None:
    answer = stage.widget(token=None, headers={"x-request-id": "visit-1"})
    assert answer.headers["X-Request-Id"] == "visit-1"
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json["code"] == "forbidden"
    assert "visit-1" not in answer.text
    assert cors_headers(answer) == set()


@pytest.mark.parametrize(
    "origin",
    [
        "https://help.fern-desk.test.evil.test",
        "https://helpXfern-desk.test",
        "http://help.fern-desk.test",
        "https://help.fern-desk.test:8443",
        "https://help.fern-desk.test/",
        "https://help.fern-desk.test,https://help.fern-desk.test",
        "https://help.fern-desk.test, https://evil.test",
    ],
)
def test_only_the_exact_origin_is_let_in(stage: Stage, origin: str) -> None:
    answer = stage.widget(origin=origin)
    assert answer.status == 403
    assert cors_headers(answer) == set()
    preflight = stage.preflight(origin=origin)
    assert cors_headers(preflight) == set()


def test_a_key_works_on_its_own_pages_alone(stage: Stage) -> None:
    other = stage.add_credential(credential_class=CredentialClass.PUBLIC, origins=("https://shop.fern-desk.test",))
    assert stage.widget(token=a_token(other)).status == 403
    assert stage.widget(token=a_token(other), origin="https://shop.fern-desk.test").status == 200


def test_a_revoked_key_is_refused_from_the_next_request_on(stage: Stage) -> None:
    assert stage.widget().status == 200
    stage.store.credentials[stage.widget_credential.id] = replace(stage.widget_credential, status="disabled")
    answer = stage.widget()
    assert answer.status == 403
    assert cors_headers(answer) == set()


def test_an_origin_taken_off_the_list_is_refused_from_the_next_request_on(stage: Stage) -> None:
    assert stage.widget().status == 200
    moved = replace(stage.widget_credential, origins=("https://new.fern-desk.test",))
    stage.store.credentials[moved.id] = moved
    answer = stage.widget()
    assert answer.status == 403
    assert cors_headers(answer) == set()


# --- limits --------------------------------------------------------------------------------------


def limited(stage: Stage, **over: Any) -> str:
    return a_token(stage.add_credential(credential_class=CredentialClass.PUBLIC, origins=(ORIGIN,), **over))


def statuses(stage: Stage, token: str, *addresses: str) -> list[int]:
    return [stage.widget(token=token, address=address).status for address in addresses]


def test_an_address_over_its_limit_is_refused_and_another_is_not(stage: Stage) -> None:
    token = limited(stage, address_rate_per_minute=2)
    assert statuses(stage, token, *["203.0.113.7"] * 3, "203.0.113.8") == [200, 200, 429, 200]


def test_an_ipv6_site_is_one_address(stage: Stage) -> None:
    token = limited(stage, address_rate_per_minute=2)
    assert statuses(stage, token, "2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8:0:1::1") == [
        200,
        200,
        429,
        200,
    ]


def test_a_key_over_its_limit_is_refused_wherever_its_visitors_are(stage: Stage) -> None:
    token = limited(stage, rate_per_minute=2)
    assert statuses(stage, token, "203.0.113.1", "203.0.113.2", "203.0.113.3") == [200, 200, 429]


def test_both_limits_refuse_in_the_same_words(stage: Stage) -> None:
    by_key, by_address = limited(stage, rate_per_minute=0), limited(stage, address_rate_per_minute=0)
    one, other = (stage.widget(token=token, headers={"x-request-id": "v"}) for token in (by_key, by_address))
    assert (one.status, one.text, one.headers) == (other.status, other.text, other.headers)
    assert one.headers["Retry-After"] == "30"
    assert one.json["code"] == "rate_limited"
    assert one.headers[ALLOW] == ORIGIN
    assert "Retry-After" in one.headers["Access-Control-Expose-Headers"]


def test_the_time_to_come_back_is_the_same_all_through_the_minute(stage: Stage) -> None:
    token = limited(stage, rate_per_minute=0)
    waits = set()
    for _ in range(4):
        waits.add(stage.widget(token=token).headers["Retry-After"])
        stage.clock.advance(17)
    assert waits == {"30"}


def test_a_new_minute_is_a_new_count(stage: Stage) -> None:
    token = limited(stage, address_rate_per_minute=1)
    assert statuses(stage, token, "203.0.113.7", "203.0.113.7") == [200, 429]
    stage.clock.advance(60)
    assert statuses(stage, token, "203.0.113.7") == [200]


@pytest.mark.parametrize("header", ["x-forwarded-for", "forwarded", "cloudfront-viewer-address", "x-real-ip"])
def test_a_forwarding_header_is_nobodys_address(stage: Stage, header: str) -> None:
    token = limited(stage, address_rate_per_minute=2)
    claimed = [stage.widget(token=token, headers={header: f"198.51.100.{n}"}).status for n in range(3)]
    assert claimed == [200, 200, 429]


def test_addresses_are_kept_as_keyed_hashes_alone(stage: Stage) -> None:
    stage.widget(address="203.0.113.7")
    subjects = {subject for subject, _ in stage.rate_limits.counts}
    assert len(subjects) == 2
    assert stage.widget_credential.id in subjects
    assert not any("203.0.113" in subject for subject in subjects)
    assert "203.0.113" not in str(stage.log.lines)


def test_refused_visits_write_nothing_and_use_up_nobodys_limit(stage: Stage) -> None:
    stage.widget()
    counted = sum(stage.rate_limits.counts.values())
    refusals(stage)
    assert sum(stage.rate_limits.counts.values()) == counted


# --- what a page can read when something is wrong ------------------------------------------------


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"query": ""}, 422),
        ({"query": "x" * 301}, 422),
        ({"limit": 11}, 422),
        ({"limit": "5"}, 422),
        ({"locale": "de_DE"}, 422),
        ({"audience": "agent"}, 422),
        ({"providers": ["cs_aaaaaaaaaaaaaaaa"]}, 422),
        ({"deadlineMs": 500}, 422),
        ({"collections": ["x"]}, 422),
        ({"localeFallback": "en"}, 422),
    ],
)
def test_a_wrong_field_is_named_and_the_page_may_read_it(stage: Stage, body: dict[str, Any], status: int) -> None:
    answer = stage.widget(**body)
    assert (answer.status, answer.headers[ALLOW]) == (status, ORIGIN)
    assert answer.json["errors"][0]["pointer"] == "/" + next(iter(body))


@pytest.mark.parametrize(("body", "status"), [("{", 400), (None, 400), ("[]", 400), ("{" + " " * 1_048_577 + "}", 413)])
def test_a_body_that_cannot_be_read_is_readable_as_such(stage: Stage, body: str | None, status: int) -> None:
    event = event_of("widget_search")
    event["headers"]["authorization"] = f"Bearer {a_token(stage.widget_credential)}"
    answer = stage.send_widget({**event, "body": body})
    assert (answer.status, answer.headers[ALLOW]) == (status, ORIGIN)


@pytest.mark.parametrize("part", ["customer_catalog", "rate_limits"])
def test_a_store_that_fails_behind_the_door_is_a_readable_503(stage: Stage, part: str) -> None:
    getattr(stage, part).failure = Unavailable()
    answer = stage.widget()
    assert (answer.status, answer.headers.get(ALLOW)) == (503, ORIGIN)
    assert int(answer.headers["Retry-After"]) >= 1


def test_a_store_that_fails_at_the_door_is_readable_by_pages_admitted_a_moment_ago(stage: Stage) -> None:
    stage.credentials.failure = Unavailable()
    assert cors_headers(stage.widget()) == set()
    stage.credentials.failure = None
    assert stage.widget().status == 200
    stage.credentials.failure = Unavailable()
    answer = stage.widget()
    assert (answer.status, answer.headers[ALLOW]) == (503, ORIGIN)
    assert cors_headers(stage.widget(origin="https://evil.test")) == set()
    stage.clock.advance(60)
    assert cors_headers(stage.widget()) == set()


def test_a_fault_of_the_gateway_is_readable_and_says_nothing(stage: Stage) -> None:
    async def broken() -> Any:
        raise RuntimeError("inner words")

    stage.customer_catalog.sources = broken  # type: ignore[method-assign]
    answer = stage.widget()
    assert (answer.status, answer.headers[ALLOW]) == (500, ORIGIN)
    assert "inner words" not in answer.text + str(stage.log.lines)


@pytest.mark.parametrize("code", ["unauthorized", "forbidden", "rate_limited"])
def test_a_providers_refusal_is_an_empty_answer_not_the_gateways_refusal(stage: Stage, code: str) -> None:
    stage.add(act=raising(Refused(code)))
    answer = stage.widget()
    assert (answer.status, answer.json) == (200, {"results": []})
    assert "WWW-Authenticate" not in answer.headers


def test_the_widget_never_waits_longer_than_eight_seconds(stage: Stage) -> None:
    stage.add(*passages(1))
    stage.retriever.limits = replace(stage.retriever.limits, timeout_s=30.0)
    stage.widget()
    ((_, at_s),) = stage.exchanges.opened
    assert at_s - stage.clock.monotonic() == 8.0


# --- preflight -----------------------------------------------------------------------------------


def test_a_preflight_of_a_listed_page_is_answered_without_any_key(stage: Stage) -> None:
    answer = stage.preflight()
    assert (answer.status, answer.text) == (204, "")
    assert answer.headers[ALLOW] == ORIGIN
    assert answer.headers["Access-Control-Allow-Methods"] == "POST"
    assert answer.headers["Access-Control-Allow-Headers"] == "authorization, content-type, x-request-id"
    assert int(answer.headers["Access-Control-Max-Age"]) > 0
    assert answer.headers["Vary"] == "Origin"
    assert "Access-Control-Allow-Credentials" not in answer.headers


@pytest.mark.parametrize("origin", ["https://evil.test", "null", None, "", "*"])
def test_a_preflight_of_any_other_page_gets_no_allow_header_and_no_error(stage: Stage, origin: str | None) -> None:
    answer = stage.preflight(origin=origin)
    assert answer.status == 204
    assert cors_headers(answer) == set()
    assert answer.headers["Vary"] == "Origin"


def test_a_page_of_a_disabled_key_is_no_longer_listed(stage: Stage) -> None:
    stage.store.credentials[stage.widget_credential.id] = replace(stage.widget_credential, status="disabled")
    assert cors_headers(stage.preflight()) == set()


def test_a_preflight_while_the_store_is_down_is_no_fault_of_the_gateway(stage: Stage) -> None:
    stage.origins.failure = Unavailable()
    answer = stage.preflight()
    assert answer.status == 503
    assert cors_headers(answer) == set()


def test_a_preflight_of_an_unknown_path_is_not_found_and_never_a_500(stage: Stage) -> None:
    event = event_of("widget_preflight")
    event["rawPath"] = event["requestContext"]["http"]["path"] = "/api/v1/knowledge/elsewhere"
    assert stage.send_widget(event).status == 404
    bare = json.loads(json.dumps(event))
    bare["headers"] = None
    assert stage.send_widget(bare).status == 404


def test_events_with_missing_parts_are_answered(stage: Stage) -> None:
    event = event_of("widget_search")
    assert stage.send_widget({**event, "headers": None, "queryStringParameters": None, "body": None}).status == 403
    assert stage.send_widget({}).status == 404
    del event["requestContext"]["http"]["sourceIp"]
    event["headers"]["authorization"] = f"Bearer {a_token(stage.widget_credential)}"
    assert stage.send_widget(event).status == 200
