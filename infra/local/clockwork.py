"""Invokes functions that run by the clock, as the scheduler does in an account, only more often."""

from __future__ import annotations

import sys
import threading
import uuid
from collections.abc import Callable

from infra.local.pool import Busy, FunctionFailed, FunctionTimedOut, Pool

EVERY_S = 5.0


class Clockwork:
    """One thread for each function. A run that fails is not repeated: the next one goes on where it stopped."""

    def __init__(self, *, every_s: float = EVERY_S, say: Callable[[str], None] | None = None) -> None:
        self._every_s = every_s
        self._say = say or _to_standard_error
        self._ending = threading.Event()

    def drive(self, name: str, pool: Pool) -> None:
        """Begins to invoke the function, for the first time in a moment."""
        threading.Thread(target=self._turn, args=(name, pool), daemon=True).start()

    def stop(self) -> None:
        """No run begins any more; one that is under way ends with its pool."""
        self._ending.set()

    def _turn(self, name: str, pool: Pool) -> None:
        while not self._ending.wait(self._every_s):
            try:
                pool.invoke({}, request_id=uuid.uuid4().hex)
            except (FunctionFailed, FunctionTimedOut, Busy) as failure:
                if not self._ending.is_set():
                    self._say(f"{name} did not finish its run: {type(failure).__name__}")


def _to_standard_error(line: str) -> None:
    print(f"gateway: {line}", file=sys.stderr, flush=True)
