"""One operation at one provider, behind its circuit on the agent lane."""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine
from typing import Any, TypeVar

from shared.domain.deadlines import Deadline
from shared.domain.outcomes import Outcome, OutcomeCode, OutcomeStatus, outcome_code_of
from shared.domain.registrations import Source
from shared.domain.replies import reply_without
from shared.errors import ExchangeError
from shared.ports.circuits import KnownCircuits
from shared.ports.clock import Clock
from shared.services.circuit_door import CircuitDoor, Passes, is_well
from shared.services.circuit_keeper import CircuitKeeper
from shared.services.circuit_writer import settling_times

T = TypeVar("T")


class GuardedOperation:
    """`limit_s`: how long an operation may take at most. `harmless`: codes of failures that come of what was asked
    for: the provider did its work.
    """

    def __init__(self, *, keeper: CircuitKeeper, limit_s: float, harmless: Collection[str], clock: Clock) -> None:
        self._keeper = keeper
        self._limit_ms = round(limit_s * 1000)
        self._harmless = harmless
        self._clock = clock
        self._door = CircuitDoor(keeper=keeper, clock=clock)

    async def beside(self, reading: Coroutine[Any, Any, T]) -> tuple[T, KnownCircuits]:
        """The circuits, read at the same time as the registrations. Raises what `reading` raises."""
        return await self._keeper.beside(reading)

    async def run(
        self, source: Source, work: Callable[[], Coroutine[Any, Any, T]], *, known: KnownCircuits, deadline: Deadline
    ) -> T:
        """Raises `NotAsked` (`circuit_open` with `retry_at`, or `disabled`) where the circuit lets nothing through,
        else what `work` raises.
        """
        passes = await self._passes(source, known=known, deadline=deadline)
        started_s = self._clock.monotonic()
        try:
            result = await work()
        except Exception as error:
            duration_ms = round((self._clock.monotonic() - started_s) * 1000)
            outcome = self._outcome(source, error, duration_ms=duration_ms)
            await self._settle(source, outcome, known=known, passes=passes, deadline=deadline)
            raise
        await self._settle(source, _well(source), known=known, passes=passes, deadline=deadline)
        return result

    async def _passes(self, source: Source, *, known: KnownCircuits, deadline: Deadline) -> Passes:
        if is_well(source, known, now=self._clock.now()):
            return Passes(known=known)
        passes = await self._door.passes(
            [source], own_limit_ms=lambda _: self._limit_ms, known=known, deadline=deadline
        )
        if source.id not in passes.asked:
            raise self._door.refusal(source, known=passes.known)
        return passes

    def _outcome(self, source: Source, error: Exception, *, duration_ms: int) -> Outcome:
        if not isinstance(error, ExchangeError):
            return reply_without(source, OutcomeCode.INTERNAL_ERROR, duration_ms=duration_ms).outcome
        if error.code in self._harmless:
            return _well(source)
        code = outcome_code_of(error)
        return reply_without(source, code, duration_ms=duration_ms, retry_at=error.retry_at).outcome

    async def _settle(
        self, source: Source, outcome: Outcome, *, known: KnownCircuits, passes: Passes, deadline: Deadline
    ) -> None:
        incident = self._door.incident(source, outcome, known=known, passes=passes, own_limit_ms=self._limit_ms)
        if incident is not None:
            within_s, whole_within_s = settling_times(deadline, now_s=self._clock.monotonic())
            incidents = {source.id: incident}
            await self._keeper.settle(incidents, known=passes.known, within_s=within_s, whole_within_s=whole_within_s)


def _well(source: Source) -> Outcome:
    return Outcome(provider_id=source.id, name=source.name, status=OutcomeStatus.SUCCESS)
