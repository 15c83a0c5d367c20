"""One event loop a process, so that clients made once stay usable across warm invocations and after a freeze.

`asyncio.run` makes and closes a loop per call, and a shared client is tied to the loop that it first ran on: the second
warm invocation would fail. A Lambda process handles one invocation at a time, so one loop, run until each invocation's
work is done and kept in between, is enough.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class ProcessLoop:
    """Runs coroutines to their end from plain functions, one at a time, always on the same loop."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Returns what the coroutine returns and raises what it raises."""
        return self._loop.run_until_complete(work)

    def close(self) -> None:
        """For tests; a Lambda process is simply frozen and thawed."""
        self._loop.close()
