"""Reading what contract providers answer. The cases are data: `fixtures/providers/contract/`."""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.exposure import Audience
from shared.domain.passages import Passage, Retrieval, Warning_
from shared.errors import ExchangeError, Refused
from shared.providers.contract_answers import read_declaration, read_retrieval

FIXTURES = Path(__file__).parents[2] / "fixtures" / "providers" / "contract"


def cases(name: str) -> list[dict[str, Any]]:
    return json.loads((FIXTURES / f"{name}.json").read_text())


def by_name(case: dict[str, Any]) -> str:
    return case["name"]


def body_of(case: dict[str, Any]) -> bytes:
    return case["body"].encode() if "body" in case else json.dumps(case["answer"], ensure_ascii=False).encode()


def read(body: bytes, *, limit: int = 10, allow_test_names: bool = False) -> Retrieval:
    return read_retrieval(body, limit=limit, allow_test_names=allow_test_names)


@pytest.mark.parametrize("case", cases("readable"), ids=by_name)
def test_a_readable_answer_is_read_as_the_contract_says(case: dict[str, Any]) -> None:
    retrieval = read(body_of(case))
    expected = [Passage(**fields | {"audience": Audience(fields["audience"])}) for fields in case["passages"]]
    assert [asdict(p) for p in retrieval.passages] == [asdict(p) for p in expected]
    assert [w.value for w in retrieval.warnings] == case["warnings"]


@pytest.mark.parametrize("case", cases("unreadable"), ids=by_name)
def test_an_answer_that_breaks_the_contract_is_refused_whole(case: dict[str, Any]) -> None:
    with pytest.raises(Refused) as refusal:
        read(body_of(case))
    assert refusal.value.code == case["code"]


@pytest.mark.parametrize("case", cases("capabilities"), ids=by_name)
def test_capabilities_are_what_is_declared_and_else_false(case: dict[str, Any]) -> None:
    if case["code"]:
        with pytest.raises(Refused) as refusal:
            read_declaration(body_of(case))
        assert refusal.value.code == case["code"]
        return
    declaration = read_declaration(body_of(case))
    assert declaration.listed
    assert sorted(name for name, value in asdict(declaration.capabilities).items() if value) == sorted(case["true"])


def test_test_names_are_shown_by_the_embedded_default_alone() -> None:
    answer = {
        "documentId": "a",
        "title": "t",
        "snippet": "s",
        "audience": "public",
        "url": "https://help.fern-desk.test/a",
    }
    body = json.dumps({"contractVersion": 1, "results": [answer]}).encode()
    assert read(body, allow_test_names=True).passages[0].url == answer["url"]
    assert read(body).passages[0].url is None


def test_an_answer_of_little_else_than_brackets_is_refused_before_it_is_parsed() -> None:
    for filler in (b"[]", b"{}", b"1"):
        body = b'{"contractVersion":1,"results":[],"x":[' + b",".join([filler] * 200_000) + b"]}"
        with pytest.raises(Refused):
            read(body)


MIB = 1_048_576
_MARKS = b"," * 30_001


@pytest.mark.parametrize(
    "body",
    [
        b'"\\' * (MIB // 2 - 20_000) + _MARKS,
        b'"' * (MIB - 40_000) + _MARKS,
        b'{"a":"' + b"\\\\" * (MIB // 2 - 40_000) + _MARKS,
        b'["' + b'\\"' * (MIB // 2 - 40_000) + b"[" * 30_001,
        b'"\\' * (MIB // 2),
        b'{"' * (MIB // 2),
    ],
    ids=["escaped quotes", "quotes", "backslashes", "one long string", "no marks", "open objects"],
)
def test_a_mebibyte_made_to_be_slow_is_refused_in_one_pass(body: bytes) -> None:
    """Read anew from each quote, any of these would take hours."""
    with pytest.raises(Refused):
        read(body)


def test_fifty_results_of_eight_thousand_characters_are_read() -> None:
    result = {"documentId": "a", "title": "t", "snippet": "{a, b, [c]}" * 727, "audience": "public"}
    body = json.dumps({"contractVersion": 1, "results": [result] * 50}).encode()
    assert len(read(body, limit=50).passages) == 50


# --- any answer at all ---
FIELD = st.sampled_from(
    ["documentId", "title", "snippet", "audience", "revision", "chunkId", "url", "locale", "score", "freshness",
     "reviewDueAt", "translationGroupId", "contractVersion", "results", "x"]
)  # fmt: skip
FINITE_SCALAR = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
    | st.sampled_from(["public", "internal", "current", "https://ok.com/a", "de-DE", "2026-11-01T00:00:00Z", 1])
)
SCALAR = FINITE_SCALAR | st.floats()
JSON = st.recursive(
    SCALAR, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(FIELD, inner, max_size=8), max_leaves=30
)
RESULT = st.fixed_dictionaries(
    {"documentId": st.text(max_size=5), "title": st.text(max_size=5), "snippet": st.text(max_size=20)},
    optional={
        "audience": FINITE_SCALAR,
        "url": st.text(max_size=30) | st.just("https://ok.com/a"),
        "locale": st.text(max_size=8),
        "score": st.floats(allow_nan=False, allow_infinity=False) | st.integers(),
        "freshness": st.sampled_from(["current", "stale", "unknown", "x"]),
        "reviewDueAt": st.text(max_size=25),
        "revision": st.text(max_size=5),
    },
)
ANSWER = st.fixed_dictionaries({"contractVersion": st.just(1) | SCALAR, "results": st.lists(RESULT | JSON, max_size=4)})


@given(JSON | ANSWER | ANSWER)
def test_any_json_is_read_or_refused_and_never_an_error(value: object) -> None:
    body = json.dumps(value).encode()
    for reader in (read, read_declaration):
        with contextlib.suppress(ExchangeError):
            reader(body)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_and_never_an_error(body: bytes) -> None:
    for reader in (read, read_declaration):
        with pytest.raises(ExchangeError):
            reader(body)


@given(st.lists(RESULT, max_size=8), st.integers(1, 5))
def test_what_is_read_keeps_every_promise_of_its_type(results: list[dict[str, Any]], limit: int) -> None:
    retrieval = read(json.dumps({"contractVersion": 1, "results": results}).encode(), limit=limit)
    assert len(retrieval.passages) <= limit
    assert (Warning_.SURPLUS_CUT in retrieval.warnings) == (len(results) > limit)
    for passage in retrieval.passages:
        labels = {
            r.get("audience")
            for r in results
            if r["documentId"] == passage.document_id
            if isinstance(r.get("audience"), str)
        }
        assert passage.audience is Audience.INTERNAL or "public" in labels
        assert 0 < len(passage.document_id) <= 512
        assert passage.snippet.strip()
        assert passage.url is None or passage.url.startswith("https://")
        json.loads(json.dumps(asdict(passage)), parse_constant=pytest.fail)
