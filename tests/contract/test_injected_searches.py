"""Hundreds of searches among failing providers over a failing store: none loses what another provider gave, each says
what was wrong in a documented code, nothing is left behind, and no circuit stays open for longer than it may.

The benchmark (`--only overrun`) plays a thousand of them in a hurry, and takes the time.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from shared.adapters.clock import SystemClock
from shared.domain.circuits import LONGEST_HOLD_S, Lane
from tests.contract.degraded import Holdings, a_world
from tests.contract.injected import COMES_TO, STORE_FAULTS, Injected, SkippingClock, good_plans, plans
from tests.contract.worlds import Clients
from tests.support.moody_provider import GOOD, MOODS, mood_of, moody_provider

pytestmark = [pytest.mark.emulator]

SEED = 20261132
COUNT = 160
_WARM = 40


@pytest.fixture(scope="module")
def played(emulator: str, emulator_clients: Clients) -> Iterator[tuple[Injected, Holdings, Holdings]]:
    clock = SkippingClock()
    with (
        pytest.MonkeyPatch.context() as patch,
        a_world(emulator, emulator_clients, prefix="injected") as world,
        moody_provider(SEED) as moody,
    ):
        patch.setattr(SystemClock, "now", clock.now)
        injected = Injected(world, clock, SEED, moody.url, moody.answered_at)
        before = Holdings.now()
        for plan in plans(SEED, how_many=COUNT):
            injected.run(plan)
            if plan.number % 10 == 0:
                injected.check_circuits(plan)
                injected.put_back()
            if plan.number == _WARM:
                before = Holdings.now()
        yield injected, before, Holdings.now()


def test_each_search_comes_to_what_it_may(played: tuple[Injected, Holdings, Holdings]) -> None:
    injected, *_ = played
    print(dict(injected.seen))
    assert injected.violations == []


def test_nothing_is_left_behind(played: tuple[Injected, Holdings, Holdings]) -> None:
    """A leak with each fault would be more than a hundred by now."""
    _, before, after = played
    assert after.sockets <= before.sockets + 20
    assert after.threads <= before.threads + 12


def test_every_circuit_closes_again(played: tuple[Injected, Holdings, Holdings]) -> None:
    """An hour later, when all providers are well."""
    injected, *_ = played
    opened = injected.seen["agent open"], injected.seen["customer open"]
    injected.put_back()
    injected.clock.ahead_s += LONGEST_HOLD_S
    injected.violations.clear()
    for plan in good_plans(SEED, after=COUNT):
        before = injected.seen.copy()
        injected.run(plan)
        if plan.lane == "agent":
            assert injected.seen - before == {"success": len(injected.ids)}
    assert injected.violations == []
    assert all(opened), "there were some to close"
    assert injected.circuits() == {lane: {} for lane in Lane}


def test_the_seed_covers_every_mood_and_every_bad_moment() -> None:
    every = plans(SEED, how_many=COUNT)
    assert {plan.fault for plan in every} == set(STORE_FAULTS)
    assert {mood_of(SEED, provider, plan.number) for plan in every for provider in range(1, 7)} == set(MOODS)
    assert set(MOODS) == GOOD | set(COMES_TO)
