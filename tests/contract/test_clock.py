"""What `ports.clock.Clock` promises, of the system's and of the one that tests turn."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from shared.adapters.clock import SystemClock
from shared.ports.clock import Clock
from tests.support.fakes import FakeClock

CLOCKS: list[Callable[[], Clock]] = [SystemClock, FakeClock]


@pytest.mark.parametrize("make", CLOCKS)
def test_monotonic_never_goes_back(make: Callable[[], Clock]) -> None:
    clock = make()
    readings = [clock.monotonic() for _ in range(1000)]
    assert readings == sorted(readings)


@pytest.mark.parametrize("make", CLOCKS)
def test_now_is_in_unix_seconds(make: Callable[[], Clock]) -> None:
    assert 1_500_000_000 < make().now() < 10_000_000_000


def test_the_systems_clock_tells_the_systems_time() -> None:
    before = time.time()
    assert before <= SystemClock().now() <= time.time()


def test_a_turned_clock_moves_on_both_faces_alike() -> None:
    clock = FakeClock()
    now, monotonic = clock.now(), clock.monotonic()
    clock.advance(2.5)
    assert (clock.now() - now, clock.monotonic() - monotonic) == (pytest.approx(2.5), pytest.approx(2.5))
