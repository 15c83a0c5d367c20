"""One run: looks at the providers, then clears away deleted collections for as long as the invocation may last. Neither
keeps the other from being done.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, Final, Protocol, TypeVar

from functions.probe.parts import Parts
from shared.errors import Problem
from shared.measures import measure_health
from shared.observability import COLLECTIONS_CLEARED, PROBE_FAULT, PROBE_INTERRUPTED, correlate, correlation, place_of
from shared.services.clear_collections import Cleared
from shared.services.probe_providers import Probed

T = TypeVar("T")

# A piece of work takes a second or two, and the last one has to end before the invocation does.
_RESERVE_S: Final = 8.0
_MOST_CLEARING_S: Final = 20.0
_LEAST_PROBING_S: Final = 10.0  # with less, too few could be looked at for the run to be worth it


class Context(Protocol):
    def get_remaining_time_in_millis(self) -> int: ...


class Probe:
    """What it cannot do now it does in the next run."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def run(self, context: Context) -> dict[str, object]:
        """`providers` is None when none were looked at: no run was due, or none was possible. `finished` and `isDone`
        are of the clearing away.
        """
        correlate(self._parts.logger, {"function_request_id": getattr(context, "aws_request_id", None)})
        probed = self._probed(_left_s(context))
        cleared = self._cleared(min(_MOST_CLEARING_S, _left_s(context)))
        providers = None if probed is None else _in_plain(probed)
        return {"providers": providers, "finished": cleared.finished, "isDone": cleared.is_done}

    def _probed(self, budget_s: float) -> Probed | None:
        if budget_s < _LEAST_PROBING_S:
            return None
        probed = self._attempt("providers", self._parts.probe_providers(budget_s=budget_s))
        if probed is not None:
            states = {state.value: count for state, count in probed.states.items()}
            measure_health(states, left_out=probed.left_out, about={**correlation(), "run": probed.run_id})
        return probed

    def _cleared(self, budget_s: float) -> Cleared:
        cleared = self._attempt("collections", self._parts.clear_collections(budget_s=budget_s))
        if cleared is None:
            return Cleared(0, is_done=False)
        if cleared.finished or not cleared.is_done:
            self._parts.logger.info(COLLECTIONS_CLEARED, finished=cleared.finished, is_done=cleared.is_done)
        return cleared

    def _attempt(self, part: str, work: Coroutine[Any, Any, T]) -> T | None:
        try:
            return self._parts.loop.run(work)
        except Problem as problem:
            self._parts.logger.warning(PROBE_INTERRUPTED, part=part, code=problem.code)
        except Exception as error:  # noqa: BLE001  # a fault in one part must not cost the other
            self._parts.logger.error(PROBE_FAULT, part=part, fault=place_of(error))
        return None


def _left_s(context: Context) -> float:
    """How long further pieces of work may be begun."""
    return max(0.0, context.get_remaining_time_in_millis() / 1000 - _RESERVE_S)


def _in_plain(probed: Probed) -> dict[str, object]:
    return {
        "states": {state.value: count for state, count in probed.states.items()},
        "lookedAt": probed.looked_at,
        "leftOut": probed.left_out,
        "changed": probed.changed,
        "faults": probed.faults,
    }
