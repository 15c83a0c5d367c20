"""How the units of a day are counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.allowances import (
    DEFAULT_LIMIT,
    MAX_LIMIT,
    SLOT_S,
    WINDOW_S,
    Allowance,
    has_left,
    leaves_at,
    slot_of,
)
from shared.domain.pools import Pool

NOW = 1_790_000_000.0
SLOT = slot_of(NOW)


def an_allowance(limit: int = 10, **over: object) -> Allowance:
    return Allowance(pool=Pool.EXA, limit=limit, **over)  # type: ignore[arg-type]


def test_every_pool_has_a_limit_from_the_start() -> None:
    assert DEFAULT_LIMIT == {Pool.CONTEXT7: 1_000, Pool.EXA: 1_000, Pool.FIRECRAWL: 1_000, Pool.MINTLIFY: 800,
                             Pool.DEEPWIKI: 1_000}  # fmt: skip
    assert max(DEFAULT_LIMIT.values()) <= MAX_LIMIT


def test_units_are_counted_by_what_became_of_them() -> None:
    allowance = an_allowance(slots={SLOT: 3, SLOT - 1: 2}, open={"a": NOW + 1, "b": NOW, "c": NOW - 5}, unknown=4)
    assert allowance.confirmed_at(NOW) == 5
    assert allowance.reserved_at(NOW) == 1
    assert allowance.unknown_at(NOW) == 6
    assert allowance.used_at(NOW) == 12


def test_a_slot_leaves_a_day_after_its_end() -> None:
    assert leaves_at(SLOT) == (SLOT + 1) * SLOT_S + WINDOW_S
    assert not has_left(SLOT, now=leaves_at(SLOT) - 0.001)
    assert has_left(SLOT, now=leaves_at(SLOT))


def test_what_has_left_does_not_count_though_it_is_still_written() -> None:
    allowance = an_allowance(slots={SLOT: 3})
    assert allowance.used_at(leaves_at(SLOT) - 1) == 3
    assert allowance.used_at(leaves_at(SLOT)) == 0


@pytest.mark.parametrize(
    ("allowance", "free_at"),
    [
        (an_allowance(1), NOW),
        (an_allowance(3, slots={SLOT: 2}), NOW),
        (an_allowance(3, slots={SLOT: 1, SLOT - 2: 2}), leaves_at(SLOT - 2)),
        (an_allowance(1, slots={SLOT: 1, SLOT - 2: 2}), leaves_at(SLOT)),
        (an_allowance(3, slots={SLOT - 2: 2}, open={"a": NOW + 5}), leaves_at(SLOT - 2)),
        (an_allowance(3, slots={SLOT - 100: 9, SLOT: 3}), leaves_at(SLOT)),
        (an_allowance(3, slots={SLOT: 1}, unknown=3), None),
        (an_allowance(2, open={"a": NOW + 5, "b": NOW - 5}), None),
        (an_allowance(0), None),
        (an_allowance(0, slots={SLOT: 5}), None),
    ],
    ids=["unused", "one left", "first slot", "last slot", "beside open", "left already", "unknown", "open", "closed",
         "closed later"],
)  # fmt: skip
def test_when_a_unit_is_free_again(allowance: Allowance, free_at: float | None) -> None:
    assert allowance.free_again_at(NOW) == free_at


@given(
    limit=st.integers(0, 12),
    slots=st.dictionaries(st.integers(SLOT - 60, SLOT), st.integers(1, 5), max_size=8),
    opened=st.dictionaries(st.text(max_size=3), st.floats(NOW - 100, NOW + 60), max_size=4),
    unknown=st.integers(0, 3),
)
def test_at_the_time_that_is_told_a_unit_is_free_and_not_a_slot_earlier(
    limit: int, slots: dict[int, int], opened: dict[str, float], unknown: int
) -> None:
    allowance = an_allowance(limit, slots=slots, open=opened, unknown=unknown)
    free_at = allowance.free_again_at(NOW)
    if free_at is None:
        assert len(opened) + unknown >= limit
    else:
        assert allowance.used_at(free_at) < limit
        assert free_at == NOW or allowance.used_at(free_at - 0.001) >= limit


@given(at=st.floats(0, 4e9))
def test_a_unit_counts_for_a_day_at_least_and_half_an_hour_more_at_most(at: float) -> None:
    assert at + WINDOW_S <= leaves_at(slot_of(at)) <= at + WINDOW_S + SLOT_S
