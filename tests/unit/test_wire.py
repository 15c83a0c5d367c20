"""Reading request bodies: what is wrong, where, and what to do; never a 500 and never the caller's own words."""

import base64
import json
from typing import Annotated, Literal

import pytest
from pydantic import Field

from shared.errors import BadRequest, BodyTooLarge, Invalid
from shared.web.events import Event, bearer_of, body_of, normalised, request_id_of
from shared.web.wire import WireModel, read_body, validated


class Ask(WireModel):
    query: str = Field(min_length=1, max_length=10)
    limit: int = Field(default=10, ge=1, le=50)
    deadline_ms: int | None = None


def an_event(body: str | None, *, encoded: bool = False, content_type: str | None = "application/json") -> Event:
    headers = {} if content_type is None else {"Content-Type": content_type}
    return normalised({"body": body, "isBase64Encoded": encoded, "headers": headers})


def test_names_are_camel_case_on_the_wire() -> None:
    assert read_body(Ask, an_event('{"query":"q","deadlineMs":700}')).deadline_ms == 700


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (None, "body_not_json"),
        ("", "body_not_json"),
        ("null", "body_not_json"),
        ("[]", "body_not_json"),
        ('"x"', "body_not_json"),
        ("{", "body_not_json"),
        ('{"query":"a","query":"b"}', "body_not_json"),
        ('{"query":"a","limit":NaN}', "body_not_json"),
        ('{"query":"a","limit":-Infinity}', "body_not_json"),
        ('{"query":"a","limit":1e999}', "body_not_json"),
        ('{"query":"\\ud800"}', "body_not_json"),
        ("[" * 20_000 + "]" * 20_000, "body_not_json"),
        ('{"query":"a","x":' + "[" * 20_000 + "]" * 20_000 + "}", "body_not_json"),
        ('{"query":"a","limit":' + "9" * 5_000 + "}", "body_not_json"),
    ],
)
def test_what_is_not_a_json_object_is_a_400(body: str | None, code: str) -> None:
    with pytest.raises(BadRequest) as refusal:
        read_body(Ask, an_event(body))
    assert refusal.value.code == code


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ("{}", "/query"),
        ('{"query":""}', "/query"),
        ('{"query":"' + "x" * 11 + '"}', "/query"),
        ('{"query":"a","limit":"5"}', "/limit"),
        ('{"query":"a","limit":5.0}', "/limit"),
        ('{"query":"a","limit":true}', "/limit"),
        ('{"query":"a","limit":0}', "/limit"),
        ('{"query":"a","limit":1000000000}', "/limit"),
        ('{"query":"a","audience":"agent"}', "/audience"),
        ('{"query":"a","a/b~c":1}', "/a~1b~0c"),
    ],
)
def test_a_wrong_field_is_a_422_that_points_at_it(body: str, pointer: str) -> None:
    with pytest.raises(Invalid) as refusal:
        read_body(Ask, an_event(body))
    assert [violation.pointer for violation in refusal.value.violations] == [pointer]


def test_a_refusal_repeats_nothing_that_the_caller_sent() -> None:
    with pytest.raises(Invalid) as refusal:
        read_body(Ask, an_event('{"query":"sentinel-' + "x" * 50 + '","limit":"sentinel"}'))
    assert "sentinel" not in str(refusal.value.violations)


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "At least 1 item is required."),
        (1, None),
        (2, None),
        (3, "At most 2 items are allowed."),
        (50, "At most 2 items are allowed."),
    ],
)
@pytest.mark.parametrize("kind", [tuple[int, ...], list[int], frozenset[int]])
def test_too_many_or_too_few_items_are_told_without_words_of_python(count: int, words: str | None, kind: type) -> None:
    class Several(WireModel):
        numbers: kind = Field(min_length=1, max_length=2)  # type: ignore[valid-type]

    event = an_event(f'{{"numbers":{list(range(count))}}}')
    if words is None:
        assert len(read_body(Several, event).numbers) == count
        return
    with pytest.raises(Invalid) as refusal:
        read_body(Several, event)
    assert [(each.pointer, each.detail) for each in refusal.value.violations] == [("/numbers", words)]


@pytest.mark.parametrize("kind", [tuple[int, ...], list[int]])
def test_a_list_of_wrong_items_is_not_too_short_besides(kind: type) -> None:
    class Several(WireModel):
        numbers: kind = Field(min_length=1)  # type: ignore[valid-type]
        others: kind = Field(min_length=1)  # type: ignore[valid-type]

    with pytest.raises(Invalid) as refusal:
        read_body(Several, an_event('{"numbers":["1",null],"others":[]}'))
    pointers = [each.pointer for each in refusal.value.violations]
    assert pointers == ["/numbers/0", "/numbers/1", "/others"]


def test_base64_bodies_are_decoded_first() -> None:
    text = '\ufeff{"query":"渡轮"}'
    encoded = base64.b64encode(text.encode()).decode()

    assert read_body(Ask, an_event(encoded, encoded=True)).query == "渡轮"


def test_bad_base64_is_a_400() -> None:
    with pytest.raises(BadRequest) as refusal:
        read_body(Ask, an_event("%%%", encoded=True))
    assert refusal.value.code == "body_not_base64"


def test_another_media_type_is_refused() -> None:
    with pytest.raises(BadRequest) as refusal:
        read_body(Ask, an_event('{"query":"a"}', content_type="text/plain"))
    assert refusal.value.code == "unsupported_media_type"


@pytest.mark.parametrize("content_type", [None, "application/json", "Application/JSON; charset=utf-8"])
def test_json_is_accepted_with_and_without_its_media_type(content_type: str | None) -> None:
    assert read_body(Ask, an_event('{"query":"a"}', content_type=content_type)).query == "a"


def test_a_body_over_one_mebibyte_is_a_413() -> None:
    with pytest.raises(BodyTooLarge):
        body_of(an_event("x" * 1_048_577))


def test_a_missing_body_may_stand_for_an_empty_object() -> None:
    class Options(WireModel):
        window_hours: int = 24

    assert read_body(Options, an_event(None), empty=True).window_hours == 24


@pytest.mark.parametrize("event", [{}, {"headers": None, "requestContext": None, "queryStringParameters": None}])
def test_an_event_with_almost_nothing_is_still_an_event(event: dict[str, object]) -> None:
    prepared = normalised(event)

    assert prepared["headers"] == {}
    assert body_of(prepared) == b""
    assert bearer_of(prepared) is None
    assert len(request_id_of(prepared)) == 32


@pytest.mark.parametrize(
    ("stage", "raw_path", "path"),
    [
        ("$default", "/api/v1/x", "/api/v1/x"),
        ("prod", "/prod/api/v1/x", "/api/v1/x"),
        ("prod", "/prod", "/"),
        ("prod", "/production/x", "/production/x"),
        ("api", "/api/api/v1/x", "/api/v1/x"),
    ],
)
def test_a_named_stage_is_taken_off_the_path_once(stage: str, raw_path: str, path: str) -> None:
    assert normalised({"rawPath": raw_path, "requestContext": {"stage": stage}})["rawPath"] == path


@pytest.mark.parametrize(
    ("route_key", "raw_path", "path"),
    [
        ("POST /v1/search", "/kb/v1/search", "/v1/search"),
        ("POST /v1/search", "/support/kb/v1/search", "/v1/search"),
        ("POST /v1/search", "/v1/search", "/v1/search"),
        ("GET /livez", "/kb/livez", "/livez"),
        ("GET /things/{thingId}", "/kb/things/t1", "/things/t1"),
        ("GET /things/{thingId}", "/things/t1", "/things/t1"),
        ("GET /things/{thingId}", "/things/a/b", "/things/a/b"),
        ("GET /things/{thingId}", "/kb/things/", "/kb/things/"),
        ("$default", "/kb/nowhere", "/kb/nowhere"),
        ("", "/kb/nowhere", "/kb/nowhere"),
    ],
)
def test_what_a_mapping_of_a_domain_puts_in_front_is_no_part_of_the_route(
    route_key: str, raw_path: str, path: str
) -> None:
    assert normalised({"rawPath": raw_path, "routeKey": route_key})["rawPath"] == path


@pytest.mark.parametrize("path", ["/api/v1/x\n", "/api/v1/a\nb", "/api/v1/x\x00", "/api/v1/\x85x", "/\x7f"], ids=ascii)
def test_a_path_with_a_control_character_is_nobodys(path: str) -> None:
    assert normalised({"rawPath": path})["rawPath"] == "//"


def test_a_path_in_any_letters_stays_as_it_is() -> None:
    assert normalised({"rawPath": "/api/v1/é 渡轮"})["rawPath"] == "/api/v1/é 渡轮"


@pytest.mark.parametrize("offered", ["abc-1.2:3_4", "x" * 128])
def test_a_well_formed_request_id_is_kept(offered: str) -> None:
    assert request_id_of(normalised({"headers": {"X-Request-Id": offered}})) == offered


@pytest.mark.parametrize("offered", ["", "x" * 129, "a b", "a\nb", "ünï"])
def test_a_malformed_request_id_gives_way_to_the_gateways_own(offered: str) -> None:
    event = {"headers": {"x-request-id": offered}, "requestContext": {"requestId": "JKJaXmPLvHcESHA="}}
    prepared = normalised(event)

    assert request_id_of(prepared) != offered
    assert request_id_of(prepared) == request_id_of(normalised(prepared))


@pytest.mark.parametrize(
    ("header", "token"),
    [
        ("Bearer abc", "abc"),
        ("bearer abc", "abc"),
        ("Basic abc", None),
        ("Bearer", None),
        ("Bearer ", None),
        ("", None),
    ],
)
def test_a_bearer_token_is_found(header: str, token: str | None) -> None:
    assert bearer_of(normalised({"headers": {"Authorization": header}})) == token


class _Walk(WireModel):
    action: Literal["walk"]
    metres: int


class _Ride(WireModel):
    action: Literal["ride"]
    lines: tuple[Annotated[int, Field(ge=1)], ...]


class _Trip(WireModel):
    way: Annotated[_Walk | _Ride, Field(discriminator="action")]


@pytest.mark.parametrize(
    ("way", "pointer"),
    [
        ({"action": "walk", "metres": "x"}, "/way/metres"),
        ({"action": "walk"}, "/way/metres"),
        ({"action": "ride", "lines": [1, 0]}, "/way/lines/1"),
        ({"action": "ride", "lines": [], "more": 1}, "/way/more"),
        ({"action": "fly"}, "/way"),
        ("walk", "/way"),
        (None, "/way"),
    ],
    ids=str,
)
def test_a_pointer_leads_to_what_was_sent_and_through_no_name_of_a_kind(way: object, pointer: str) -> None:
    with pytest.raises(Invalid) as refusal:
        validated(_Trip, json.dumps({"way": way}).encode())
    assert [violation.pointer for violation in refusal.value.violations] == [pointer]
