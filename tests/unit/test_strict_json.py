"""JSON as it is accepted from callers and providers."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.strict_json import MAX_DEPTH, NotStrictJson, outside_texts, parse

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**60), 10**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)


@given(VALUES)
def test_whatever_json_can_say_is_read_back(value: object) -> None:
    assert parse(json.dumps(value, ensure_ascii=False).encode()) == value
    assert parse(json.dumps(value, ensure_ascii=True).encode()) == value


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "not_json"),
        (b"{", "not_json"),
        (b"{} {}", "not_json"),
        (b"{'a': 1}", "not_json"),
        (b'"a\nb"', "not_json"),
        (b'{"a":1,"a":2}', "duplicate_key"),
        (b'[{"x":{"a":1,"b":2,"\\u0061":3}}]', "duplicate_key"),
        (b"NaN", "not_finite"),
        (b'{"score":-Infinity}', "not_finite"),
        (b"1e999", "not_finite"),
        (b"-1e999", "not_finite"),
        (b"1" * 65, "number_too_long"),
        (b"1" * 5000, "number_too_long"),
        (b'"\xff"', "not_utf8"),
        (b'"\xed\xa0\x80"', "not_utf8"),
        (b'"\\ud83d"', "lone_surrogate"),
        (b'{"\\uDE00":1}', "lone_surrogate"),
        (b"[" * 20_000 + b"]" * 20_000, "too_deep"),
        (b'{"a":' * 20_000 + b"1" + b"}" * 20_000, "too_deep"),
    ],
)
def test_what_is_not_strict_json_is_refused_with_a_fixed_word(data: bytes, reason: str) -> None:
    with pytest.raises(NotStrictJson) as refusal:
        parse(data)
    assert refusal.value.reason == reason
    assert refusal.value.args == (reason,)


def test_nesting_is_accepted_to_the_bound_and_not_beyond() -> None:
    assert parse(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)
    with pytest.raises(NotStrictJson):
        parse(b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1))


def test_brackets_inside_strings_are_text() -> None:
    value = {"a": "[" * 50_000, "b": '\\"[[[' * 100, "c": ["]" * 40]}
    assert parse(json.dumps(value).encode()) == value


def test_a_byte_order_mark_and_paired_surrogates_are_read() -> None:
    assert parse(b'\xef\xbb\xbf"\\ud83d\\ude00 \\\\ud83d"') == "😀 \\ud83d"


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused_and_never_an_error(data: bytes) -> None:
    for given_data in (data, b'{"a":"' + data + b'"}'):
        try:
            parse(given_data)
        except NotStrictJson:
            continue


@given(st.recursive(st.none() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_no_mark_inside_a_text_counts_and_each_outside_does(value: object) -> None:
    outside = outside_texts(json.dumps(value).encode())
    assert sorted(outside.translate(None, b"nul :")) == sorted(_marks(value).encode())


def _marks(value: object) -> str:
    if isinstance(value, list):
        return "[" + ",".join(_marks(one) for one in value) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(_marks(one) for one in value.values()) + "}"
    return ""


_PIECES = st.sampled_from(["\\\\", "\\n", "\\ud83d", "\\ude00", "\\uD83D\\uDE00", "ud83d", "x", "\\u0041", '\\"'])


@given(st.lists(_PIECES, max_size=8))
def test_half_a_character_is_found_wherever_it_is_escaped(pieces: list[str]) -> None:
    text = '"' + "".join(pieces) + '"'
    decoded = json.loads(text)
    if any("\ud800" <= letter <= "\udfff" for letter in decoded):
        with pytest.raises(NotStrictJson, match="lone_surrogate"):
            parse(text.encode())
    else:
        assert parse(text.encode()) == decoded
