"""How long a refused key rests: every way in which services say it, and what is no usable value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.key_pools import LONGEST_REST_S
from shared.domain.waits import rest_until

NOW = 1_790_000_000.0  # Mon, 21 Sep 2026 14:13:20 GMT
DAY = 86_400.0


def wait_s(headers: dict[str, str], *, reason: str = "rate", said_s: float | None = None) -> float:
    return rest_until(headers, reason=reason, now=NOW, said_s=said_s) - NOW


# --- without a header ---
@pytest.mark.parametrize(("reason", "seconds"), [("quota", DAY), ("rate", 60)])
def test_without_a_word_a_key_rests_a_day_or_a_minute(reason: str, seconds: float) -> None:
    assert wait_s({}, reason=reason) == seconds


def test_a_wait_that_only_the_body_states_is_better_than_the_default() -> None:
    assert wait_s({}, said_s=25) == 25
    assert wait_s({"retry-after": "soon"}, said_s=25) == 25
    assert wait_s({"retry-after": "5"}, said_s=25) == 5
    assert wait_s({"ratelimit-reset": "90"}, said_s=25) == 90


@pytest.mark.parametrize("said_s", [-1.0, float("nan"), None])
def test_a_stated_wait_that_makes_no_sense_is_the_default(said_s: float | None) -> None:
    assert wait_s({}, said_s=said_s) == 60


@pytest.mark.parametrize("said_s", [1e18, float("inf")])
def test_a_stated_wait_without_measure_is_capped(said_s: float) -> None:
    assert wait_s({}, said_s=said_s) == LONGEST_REST_S


# --- Retry-After ---
@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("0", 0),
        ("40", 40),
        (" 40\t", 40),
        ("86400", DAY),
        ("9999999999999", LONGEST_REST_S),
        ("9" * 400, LONGEST_REST_S),
        ("Mon, 21 Sep 2026 14:14:20 GMT", 60),
        ("Tue, 22 Sep 2026 14:13:20 GMT", DAY),
        ("Mon, 21 Sep 2020 14:13:20 GMT", 0),
        ("Mon, 21 Sep 2099 14:13:20 GMT", LONGEST_REST_S),
    ],
)
def test_seconds_and_dates_say_when(header: str, seconds: float) -> None:
    assert wait_s({"retry-after": header}, reason="quota") == seconds


@pytest.mark.parametrize(
    "header", ["", "-3", "-30", "+3", "1.5", "1.", "1e3", "soon", "25s", "5, 10", "５", "1_0", "0x10", "9" * 2_049,
               "Mon, 99 Sep 2026 14:14:20 GMT"],
)  # fmt: skip
@pytest.mark.parametrize(("reason", "seconds"), [("quota", DAY), ("rate", 60)])
def test_anything_else_is_no_usable_value(header: str, reason: str, seconds: float) -> None:
    assert wait_s({"retry-after": header}, reason=reason) == seconds


def test_a_date_is_read_by_the_clock_of_whoever_wrote_it() -> None:
    headers = {"date": "Mon, 21 Sep 2026 13:00:00 GMT", "retry-after": "Mon, 21 Sep 2026 13:00:50 GMT"}
    assert wait_s(headers) == 50
    assert wait_s(headers | {"date": "yesterday"}) == 0
    assert wait_s(headers | {"retry-after": "70"}) == 70


# --- reset headers ---
@pytest.mark.parametrize("name", ["ratelimit-reset", "x-ratelimit-reset"])
@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0),
        ("90", 90),
        ("2513", 2513),
        ("86400", DAY),
        (f"{NOW:.0f}", 0),
        (f"{NOW - 5:.0f}", 0),
        (f"{NOW + 90:.0f}", 90),
        (f"{NOW * 1000 + 123:.0f}", 0.123),
        (f"{(NOW - 5) * 1000:.0f}", 0),
        (f"{NOW + 1e8:.0f}", LONGEST_REST_S),
        ("1000000000", LONGEST_REST_S),
        ("Mon, 21 Sep 2026 14:14:20 GMT", 60),
        ("30, 90", 90),
        ("30, soon", 30),
    ],
)
def test_a_reset_is_a_wait_or_a_time_by_its_size(name: str, value: str, seconds: float) -> None:
    assert wait_s({name: value}, reason="quota") == pytest.approx(seconds, abs=1e-6)


@pytest.mark.parametrize("value", ["", "-5", "+5", "1.5", "soon", ",", "1e3", "6m0s"])
def test_a_reset_in_no_known_form_counts_as_absent(value: str) -> None:
    assert wait_s({"ratelimit-reset": value, "x-ratelimit-reset": value}) == 60


def test_the_later_of_all_statements_counts() -> None:
    assert wait_s({"retry-after": "30", "ratelimit-reset": "90"}) == 90
    assert wait_s({"retry-after": "90", "ratelimit-reset": f"{NOW + 30:.0f}"}) == 90
    assert wait_s({"ratelimit-reset": "30", "x-ratelimit-reset": "45", "ratelimit": '"a";r=0;t=50'}) == 50
    assert wait_s({"retry-after": "-3", "ratelimit-reset": "90"}) == 90
    assert wait_s({"retry-after": "20", "ratelimit-reset": f"{NOW - 5:.0f}"}) == 20


# --- the structured field ---
@pytest.mark.parametrize(
    ("field", "seconds"),
    [
        ('"x";r=0;t=30', 30),
        ('"x"; r=0; t=30', 30),
        ("default;r=0;t=30", 30),
        ('"burst";r=0;t=30,"daily";r=0;t=7200', 7200),
        ('"burst";r=0;t=30, "daily";r=900;t=7200', 30),
        ('"burst";t=31, "daily";r=0;t=20', 20),
        ('"burst";t=31', 31),
        ('"a, b; r=5";r=0;t=30;pk=:cHs=:', 30),
        ('"a\\",\\"";r=0;t=30', 30),
        ("limit=100, remaining=0, reset=5", 5),
        ("limit=100, reset=5", 5),
        ("limit=100;w=60, remaining=0, reset=5", 5),
        ('"x";r=0;t=99999999999', LONGEST_REST_S),
    ],
)
def test_the_structured_field_is_read_in_both_forms(field: str, seconds: float) -> None:
    assert wait_s({"ratelimit": field}) == seconds


@pytest.mark.parametrize(
    "field",
    ["", '"x"', '"x";r=0', '"x";r=0;t=-1', '"x";r=0;t=1.5', '"x";r=0;t="30"', "reset=soon", '"x;r=0;t=30',
     '"x";r=12;t=30', "limit=100, remaining=3, reset=5", ";;;", ",,,", '"burst";q=100;w=60'],
)  # fmt: skip
def test_what_is_malformed_or_has_units_left_says_nothing(field: str) -> None:
    assert wait_s({"ratelimit": field}) == 60


def test_a_monstrous_header_is_read_quickly_and_says_nothing() -> None:
    assert wait_s({"ratelimit": '"\\' * 50_000, "retry-after": "9" * 100_000}) == 60


_PIECES = st.sampled_from(["0", "5", "90", "1790000000", "1790000000123", "-3", ".", ",", ";", "=", "r", "t", '"', " "])
_VALUES = st.lists(_PIECES, max_size=12).map("".join) | st.text(max_size=40)
_NAMES = st.sampled_from(["date", "retry-after", "ratelimit-reset", "x-ratelimit-reset", "ratelimit"])


@given(
    headers=st.dictionaries(_NAMES, _VALUES),
    reason=st.sampled_from(["quota", "rate"]),
    now=st.floats(0, 1e11),
    said_s=st.none() | st.floats(),
)
def test_whatever_is_said_a_rest_is_neither_in_the_past_nor_beyond_the_cap(
    headers: dict[str, str], reason: str, now: float, said_s: float | None
) -> None:
    assert now <= rest_until(headers, reason=reason, now=now, said_s=said_s) <= now + LONGEST_REST_S
