"""Time that passes only while everybody waits: minutes of waiting take no time, and nothing depends on the machine.

    clock = VirtualClock()
    result = clock.run(work())          # on a loop of its own, which sleeps by this clock

For work without sockets and threads: what comes from outside never comes while nobody waits for real.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from tests.support.builders import NOW

T = TypeVar("T")


class VirtualClock:
    """A `Clock`. `waited_s` is what has passed since the beginning."""

    def __init__(self) -> None:
        self.waited_s = 0.0

    def now(self) -> float:
        return NOW + self.waited_s

    def monotonic(self) -> float:
        return 1_000.0 + self.waited_s

    def advance(self, seconds: float) -> None:
        self.waited_s += seconds

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        loop = _VirtualLoop(self)
        try:
            return loop.run_until_complete(work)
        finally:
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self, clock: VirtualClock) -> None:
        super().__init__()
        self._virtual = clock
        self._really_select = self._selector.select  # type: ignore[attr-defined]
        self._selector.select = self._select  # type: ignore[attr-defined]

    def time(self) -> float:
        return self._virtual.monotonic()

    def _select(self, timeout: float | None = None) -> Any:
        """The loop would wait so long, and nothing else is going to happen."""
        if timeout:
            self._virtual.advance(timeout)
        return self._really_select(0)
