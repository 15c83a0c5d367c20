"""What `ports.rate_limits.RateLimits` promises."""

from __future__ import annotations

from tests.contract.worlds import World


async def test_requests_of_one_minute_are_counted_by_subject(world: World) -> None:
    limits = world.rate_limits()
    assert [await limits.count("one") for _ in range(3)] == [1, 2, 3]
    assert await limits.count("other") == 1
    assert await world.rate_limits().count("one") == 4


async def test_the_next_minute_begins_at_nothing(world: World) -> None:
    world.clock.advance(60 - world.clock.now() % 60)
    limits = world.rate_limits()
    await limits.count("one")
    world.clock.advance(59.9)
    assert await limits.count("one") == 2
    world.clock.advance(0.1)
    assert await limits.count("one") == 1
