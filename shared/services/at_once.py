"""Two pieces of work at the same time, of which the first decides."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from shared.domain.deadlines import Deadline
from shared.errors import Unavailable
from shared.ports.clock import Clock

First = TypeVar("First")
Second = TypeVar("Second")

STORE_RETRY_AFTER_S = 5


async def both(first: Coroutine[Any, Any, First], second: Coroutine[Any, Any, Second]) -> tuple[First, Second]:
    """Runs both at once. An error of `first` wins; when either fails the other is cancelled: nothing stays behind."""
    leading, other = asyncio.ensure_future(first), asyncio.ensure_future(second)
    try:
        return await leading, await other
    finally:
        for task in (leading, other):
            task.cancel()
        await asyncio.gather(leading, other, return_exceptions=True)


async def opened(
    admission: Coroutine[Any, Any, First], reading: Coroutine[Any, Any, Second], *, deadline: Deadline, clock: Clock
) -> tuple[First, Second]:
    """The opening of every search: admits the caller and reads the registrations at once, by the deadline.

    Raises what the admission raises before anything else; `Unavailable` with `retry_after_s` set when the store fails
    or is too slow.
    """
    return await in_time(both(admission, reading), deadline=deadline, clock=clock)


async def in_time(work: Coroutine[Any, Any, First], *, deadline: Deadline, clock: Clock) -> First:
    """What needs nothing but the store, by the deadline. Raises what `work` raises, and `Unavailable` with
    `retry_after_s` set when the store fails or is too slow.
    """
    try:
        async with asyncio.timeout(deadline.remaining_s(clock.monotonic())):
            return await work
    except TimeoutError:
        raise Unavailable("The store did not answer in time.", retry_after_s=STORE_RETRY_AFTER_S) from None
    except Unavailable as error:
        after = error.retry_after_s or STORE_RETRY_AFTER_S
        raise Unavailable(error.detail, code=error.code, retry_after_s=after) from None
