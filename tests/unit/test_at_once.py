from __future__ import annotations

import asyncio
from typing import Any, NoReturn

import pytest

from shared.domain.deadlines import Deadline
from shared.errors import Unauthenticated, Unavailable
from shared.services.at_once import both, opened
from tests.support.fakes import FakeClock


async def value(result: Any) -> Any:
    await asyncio.sleep(0)
    return result


async def fail(error: Exception, *, after_s: float = 0) -> NoReturn:
    await asyncio.sleep(after_s)
    raise error


async def never() -> NoReturn:
    await asyncio.Event().wait()
    raise AssertionError


async def nothing_left() -> bool:
    return asyncio.all_tasks() == {asyncio.current_task()}


def test_both_results_come_back() -> None:
    assert asyncio.run(both(value(1), value(2))) == (1, 2)


def test_the_first_ones_error_wins_also_when_the_second_failed_before() -> None:
    async def scene() -> bool:
        with pytest.raises(Unauthenticated):
            await both(fail(Unauthenticated(), after_s=0.02), fail(Unavailable()))
        return await nothing_left()

    assert asyncio.run(scene())


@pytest.mark.parametrize("first_fails", [True, False])
def test_an_error_of_either_cancels_the_other(first_fails: bool) -> None:
    async def scene() -> bool:
        pair = (fail(ZeroDivisionError()), never()) if first_fails else (value(1), fail(ZeroDivisionError()))
        with pytest.raises(ZeroDivisionError):
            await both(*pair)
        return await nothing_left()

    assert asyncio.run(scene())


def test_an_opening_that_is_too_slow_is_unavailable_and_leaves_nothing_behind() -> None:
    clock = FakeClock()

    async def scene() -> bool:
        with pytest.raises(Unavailable) as caught:
            await opened(value(1), never(), deadline=Deadline.after(0.05, now_s=clock.monotonic()), clock=clock)
        assert caught.value.retry_after_s
        return await nothing_left()

    assert asyncio.run(scene())


@pytest.mark.parametrize(("said", "told"), [(None, 5), (2, 2)])
def test_a_store_that_fails_says_when_to_come_back(said: int | None, told: int) -> None:
    clock = FakeClock()
    failing = fail(Unavailable(code="secrets_unavailable", retry_after_s=said))

    async def scene() -> None:
        await opened(value(1), failing, deadline=Deadline.after(5, now_s=clock.monotonic()), clock=clock)

    with pytest.raises(Unavailable) as caught:
        asyncio.run(scene())
    assert (caught.value.retry_after_s, caught.value.code) == (told, "secrets_unavailable")
