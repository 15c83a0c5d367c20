"""How `make bench` reckons capacity and trips: by the rules of DynamoDB's documentation, worked out by hand here."""

from __future__ import annotations

from typing import Any

import pytest

from tests.bench import capacity
from tests.bench.counting_proxy import Call, Spent


@pytest.mark.parametrize(
    ("row", "size"),
    [
        ({}, 0),
        ({"pk": {"S": "abc"}}, 5),
        ({"ä": {"S": "ü"}}, 4),
        ({"b": {"B": "AAH/"}}, 1 + 3),
        ({"n": {"N": "0"}}, 1 + 2),
        ({"n": {"N": "27"}}, 1 + 2),
        ({"n": {"N": "-27"}}, 1 + 3),
        ({"n": {"N": "1000"}}, 1 + 2),
        ({"n": {"N": "12345.678"}}, 1 + 5),
        ({"t": {"BOOL": True}, "u": {"NULL": True}}, 4),
        ({"s": {"SS": ["ab", "c"]}}, 1 + 3),
        ({"s": {"NS": ["12", "3"]}}, 1 + 4),
        ({"l": {"L": []}}, 1 + 3),
        ({"l": {"L": [{"S": "ab"}, {"BOOL": True}]}}, 1 + 3 + (1 + 2) + (1 + 1)),
        ({"m": {"M": {"key": {"S": "ab"}}}}, 1 + 3 + (1 + 3 + 2)),
    ],
)
def test_a_row_is_as_large_as_its_names_and_values(row: dict[str, Any], size: int) -> None:
    assert capacity.row_bytes(row) == size


def test_rows_read_by_their_keys_are_rounded_up_each_and_a_missing_one_counts() -> None:
    assert capacity.rows_read_units([0, 1, 4_096, 4_097]) == 1 + 1 + 1 + 2


def test_a_page_of_a_query_is_rounded_up_as_a_whole() -> None:
    assert capacity.query_units([2_000, 2_000]) == 1
    assert capacity.query_units([2_000, 2_097]) == 2
    assert capacity.query_units([]) == 1


def test_a_write_takes_what_the_larger_of_both_states_does() -> None:
    assert capacity.rows_written_units([(0, 10), (1_025, 10), (10, 3_000), (0, 0)]) == 1 + 2 + 3 + 1


def a_call(began_s: float, ended_s: float, **over: Any) -> Call:
    parts: dict[str, Any] = {"service": "dynamodb", "operation": "GetItem", "sent_bytes": 1, "answered_bytes": 2}
    return Call(began_s=began_s, ended_s=ended_s, **parts | over)


@pytest.mark.parametrize(
    ("times", "trips"),
    [
        ([], 0),
        ([(0, 1)], 1),
        ([(0, 1), (0.5, 2)], 1),
        ([(0, 1), (1, 2)], 2),
        ([(0, 1), (0, 5), (2, 3), (4, 6)], 3),
        ([(0, 10), (1, 2), (3, 4), (5, 6)], 3),
    ],
)
def test_what_begins_before_another_has_ended_is_one_trip_with_it(times: list[tuple[float, float]], trips: int) -> None:
    assert Spent(tuple(a_call(*each) for each in times)).trips() == trips


def test_what_is_spent_is_the_sum_of_the_calls_and_those_before_a_moment_are_told_apart() -> None:
    calls = (
        a_call(0, 1, reads=2),
        a_call(2, 3, writes=3, operation="PutItem"),
        a_call(4, 5, service="kms", operation="Decrypt"),
    )
    spent = Spent(calls)
    assert (spent.reads, spent.writes, spent.sent_bytes, spent.answered_bytes, spent.of("kms")) == (2, 3, 3, 6, 1)
    assert spent.told() == "1 Decrypt, 1 GetItem, 1 PutItem"
    assert spent.before(2.0).calls == calls[:1]
