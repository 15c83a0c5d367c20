"""One run: clears away deleted collections for as long as the invocation may last."""

from __future__ import annotations

from typing import Protocol

from aws_lambda_powertools import Logger

from functions.probe.parts import Parts
from shared.adapters.event_loop import ProcessLoop
from shared.errors import Problem
from shared.observability import COLLECTIONS_CLEARED, PROBE_INTERRUPTED
from shared.services.clear_collections import ClearCollections

# A piece of work takes a second or two, and the last one has to end before the invocation does.
_RESERVE_S = 8.0
_MAX_S = 20.0


class Context(Protocol):
    def get_remaining_time_in_millis(self) -> int: ...


def budget_s(context: Context) -> float:
    """How long a run may begin further pieces of work."""
    return min(_MAX_S, max(0.0, context.get_remaining_time_in_millis() / 1000 - _RESERVE_S))


class Probe:
    """What it cannot do now it does in the next run."""

    def __init__(self, parts: Parts, *, loop: ProcessLoop, logger: Logger) -> None:
        self._clear = ClearCollections(sweeper=parts.sweeper, clock=parts.clock)
        self._loop = loop
        self._logger = logger

    def run(self, *, budget_s: float) -> dict[str, object]:
        try:
            cleared = self._loop.run(self._clear(budget_s=budget_s))
        except Problem as problem:
            self._logger.warning(PROBE_INTERRUPTED, code=problem.code)
            return {"finished": 0, "isDone": False}
        if cleared.finished or not cleared.is_done:
            self._logger.info(COLLECTIONS_CLEARED, finished=cleared.finished, is_done=cleared.is_done)
        return {"finished": cleared.finished, "isDone": cleared.is_done}
