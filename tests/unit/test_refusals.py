"""What a refusal means, out of a table: whom it concerns, and whether work may have been done."""

from __future__ import annotations

from typing import Any

import pytest

from shared.domain.answer_bodies import is_json, media_type_of, object_in, typed_object_in
from shared.domain.key_pools import LONGEST_REST_S
from shared.domain.refusals import Meaning, refusal, shows_work
from shared.errors import ExchangeError, KeyRefused, Refused, Unclear

NOW = 1_790_000_000.0
OF_THEIRS = {"error": "words of theirs"}
TABLE = (
    Meaning(status=402, tag="no_credit", key="quota"),
    Meaning(status=402, tag="team_budget", code="forbidden"),
    Meaning(status=429, key="rate", scope="account"),
    Meaning(status=429, tag="daily", key="quota"),
    Meaning(status=401, code="unauthorized"),
    Meaning(status=403, code="forbidden"),
    Meaning(status=404, code="not_found"),
    Meaning(status=503),
)


def meaning_of(status: int, body: Any = OF_THEIRS, *, tag: str | None = None, **over: Any) -> ExchangeError:
    return refusal(TABLE, status=status, body=body, tag=tag, now=NOW, **{"headers": {}} | over)


# --- a key is concerned ---
def test_a_structured_refusal_that_the_table_names_concerns_the_key() -> None:
    error = meaning_of(402, tag="no_credit")
    assert isinstance(error, KeyRefused)
    assert (error.reason, error.scope, error.until, error.code) == ("quota", "key", NOW + 86_400, "rate_limited")


def test_a_row_without_a_tag_is_for_all_that_no_other_row_names() -> None:
    general, exact = meaning_of(429, tag="burst"), meaning_of(429, tag="daily")
    assert isinstance(general, KeyRefused)
    assert isinstance(exact, KeyRefused)
    assert (general.reason, general.scope, general.until) == ("rate", "account", NOW + 60)
    assert (exact.reason, exact.scope, exact.until) == ("quota", "key", NOW + 86_400)
    assert isinstance(meaning_of(429), KeyRefused)


def test_the_key_rests_as_long_as_the_service_says() -> None:
    for how, seconds in [
        ({"headers": {"retry-after": "40"}}, 40),
        ({"headers": {"ratelimit-reset": f"{NOW + 90:.0f}"}}, 90),
        ({"said_s": 25.0}, 25),
        ({"headers": {"retry-after": "40"}, "said_s": 25.0}, 40),
        ({"headers": {"retry-after": "9999999999999"}}, LONGEST_REST_S),
    ]:
        error = meaning_of(429, **how)
        assert isinstance(error, KeyRefused)
        assert (error.until, error.retry_at) == (NOW + seconds, NOW + seconds)


# --- no key is concerned ---
@pytest.mark.parametrize("status", [401, 403, 404, 408, 500, 502, 503, 504])
def test_other_statuses_never_concern_the_key(status: int) -> None:
    assert not isinstance(meaning_of(status, tag="no_credit"), KeyRefused)


def test_a_tag_that_the_table_does_not_know_is_the_requests_own_failure() -> None:
    error = meaning_of(402, tag="something new")
    assert (type(error), error.code) == (Refused, "upstream_error")
    assert meaning_of(402, tag="team_budget").code == "forbidden"
    assert type(meaning_of(402)) is Refused


@pytest.mark.parametrize(("status", "tag"), [(402, "no_credit"), (429, None)])
def test_a_body_that_is_no_json_object_concerns_no_key(status: int, tag: str | None) -> None:
    error = meaning_of(status, None, tag=tag, headers={"retry-after": "40"})
    assert (type(error), error.retry_at) == (Refused, NOW + 40)


SIGNS = [
    {"success": True},
    {"data": {"markdown": "text"}},
    {"results": [{}]},
    {"result": "x"},
    {"chargeId": "c1"},
    {"scrape_id": "s1"},
    {"creditsCost": 1},
    {"creditsUsed": 0},
    {"costDollars": {"total": 0.1}},
]


@pytest.mark.parametrize("sign", SIGNS, ids=lambda sign: next(iter(sign)))
def test_a_refusal_with_a_sign_of_accepted_work_is_unclear(sign: dict[str, Any]) -> None:
    error = meaning_of(402, {"error": "x", **sign}, tag="no_credit")
    assert (type(error), error.code, error.retry_at) == (Unclear, "upstream_error", None)
    assert shows_work(sign)


@pytest.mark.parametrize(
    "body",
    [{}, {"success": False}, {"success": False, "data": None, "results": []}, {"data": {}, "result": ""},
     {"error": "data"}, {"success": "true"}],
    ids=repr,
)  # fmt: skip
def test_an_empty_field_is_no_sign_of_work(body: dict[str, Any]) -> None:
    assert not shows_work(body)
    assert isinstance(meaning_of(402, body, tag="no_credit"), KeyRefused)


# --- whether the work was done ---
@pytest.mark.parametrize("status", [200, 202, 301, 500, 502, 504, 599])
def test_where_nobody_says_that_nothing_was_done_it_is_unclear(status: int) -> None:
    error = meaning_of(status)
    assert (type(error), error.code) == (Unclear, "upstream_error")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 409, 422, 503])
def test_a_plain_refusal_is_clear(status: int) -> None:
    assert type(meaning_of(status)) is Refused


def test_a_table_can_say_that_it_is_unclear() -> None:
    table = (Meaning(status=408, code="timeout", unclear=True),)
    error = refusal(table, status=408, headers={}, body={}, tag=None, now=NOW)
    assert (type(error), error.code) == (Unclear, "timeout")


@pytest.mark.parametrize(("status", "expected"), [(503, NOW + 40), (401, None), (500, None), (404, None)])
def test_only_a_limit_or_an_outage_says_when_to_come_back(status: int, expected: float | None) -> None:
    assert meaning_of(status, headers={"retry-after": "40"}).retry_at == expected


def test_no_word_of_theirs_is_in_the_error() -> None:
    for status in (402, 429, 401, 500):
        assert "words of theirs" not in repr(meaning_of(status)) + str(meaning_of(status))


# --- the body ---
def test_an_object_is_read_and_nothing_else() -> None:
    assert object_in(b'{"a": [1, {"b": null}]}') == {"a": [1, {"b": None}]}
    for body in (b"", b"[]", b"null", b'"a"', b"<html>", b'{"a": 1', b'{"a": NaN}', b'{"a": 1, "a": 2}', b"\xff{}"):
        assert object_in(body) is None


@pytest.mark.parametrize(
    ("content_type", "expected"),
    [("application/json", True), ("Application/JSON; charset=utf-8", True), ("application/problem+json", True),
     ("text/html", False), ("text/json", False), ("application/jsonp", False), ("image/svg+json", False), ("", False)],
)  # fmt: skip
def test_a_typed_object_also_says_that_it_is_one(content_type: str, expected: bool) -> None:
    assert is_json(content_type) is expected
    assert typed_object_in({"content-type": content_type}, b'{"a": 1}') == ({"a": 1} if expected else None)


def test_without_a_type_it_is_no_typed_object() -> None:
    assert typed_object_in({}, b"{}") is None
    assert media_type_of(" Text/HTML\t; charset=x") == "text/html"


def test_a_tangle_is_not_even_read() -> None:
    assert object_in(b'{"a": [' + b"1," * 29_000 + b"1]}") is not None
    assert object_in(b'{"a": [' + b"1," * 31_000 + b"1]}") is None
    assert object_in(b'{"a": [' + b"[]," * 16_000 + b"1]}") is None


def test_marks_inside_a_text_tangle_nothing() -> None:
    text = b"{[," * 20_000 + b'\\"' * 1_000
    assert object_in(b'{"a": "' + text + b'"}') is not None


def test_a_text_that_never_ends_is_read_once() -> None:
    assert object_in(b'{"a": ' + b'"\\"' * 40_000 + b"," * 40_000) is None
