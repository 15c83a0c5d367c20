"""Which of the sources that are not simply well may be asked now, and what an outcome says about one.

The same for a search, which asks many, and for a single operation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from shared.domain.circuits import WELL, CircuitState, Effect, Incident, circuit_of, claimed, revision_of
from shared.domain.deadlines import Deadline
from shared.domain.effects import effect_of, is_hurried
from shared.domain.outcomes import Outcome, OutcomeCode
from shared.domain.registrations import Source
from shared.errors import NotAsked
from shared.ports.circuits import KnownCircuits
from shared.ports.clock import Clock
from shared.services.circuit_keeper import CircuitKeeper


@dataclass(frozen=True, slots=True, kw_only=True)
class Passes:
    """`asked`: the ids of those that may be asked. `held` of them are asked on trial, under `trial_id`. `known` is how
    the circuits are now.
    """

    known: KnownCircuits
    asked: frozenset[str] = frozenset()
    held: frozenset[str] = frozenset()
    trial_id: str = ""


class CircuitDoor:
    def __init__(self, *, keeper: CircuitKeeper, clock: Clock) -> None:
        self._keeper = keeper
        self._clock = clock

    async def passes(
        self,
        sources: Collection[Source],
        *,
        own_limit_ms: Callable[[Source], int],
        known: KnownCircuits,
        deadline: Deadline,
    ) -> Passes:
        """Claims the trials that are due. Who was found well meanwhile may be asked without one. Raises nothing."""
        now, left_s = self._clock.now(), deadline.remaining_s(self._clock.monotonic())
        hurried = {source.id for source in sources if is_hurried(left_s, own_limit_ms=own_limit_ms(source))}
        due = [
            source
            for source in sources
            if claimed(circuit_of(source, known.circuits), "", now=now, is_hurried=source.id in hurried) is not None
        ]
        if not due:
            return Passes(known=known)
        ids = [source.id for source in due]
        claim = await self._keeper.claim(ids, hurried=hurried, known=known, within_s=left_s)
        well = {source.id for source in due if is_well(source, claim.known, now=self._clock.now())}
        return Passes(known=claim.known, asked=claim.providers | well, held=claim.providers, trial_id=claim.trial_id)

    def refusal(self, source: Source, *, known: KnownCircuits) -> NotAsked:
        """Why one that may not be asked is not, and when to come back."""
        now = self._clock.now()
        free_at = circuit_of(source, known.circuits).free_at(now)
        if free_at is None:
            return NotAsked(OutcomeCode.DISABLED)
        return NotAsked(OutcomeCode.CIRCUIT_OPEN, retry_at=max(free_at, now + 1))

    def incident(
        self, source: Source, outcome: Outcome, *, known: KnownCircuits, passes: Passes, own_limit_ms: int
    ) -> Incident | None:
        """None where there is nothing to write: an outcome that says nothing, a success of one that is well."""
        is_trial = source.id in passes.held
        effect = effect_of(outcome, own_limit_ms=own_limit_ms)
        if effect is Effect.SUCCESS and circuit_of(source, known.circuits) is WELL:
            return None
        if effect is Effect.NOTHING and not is_trial:
            return None
        return Incident(
            revision=revision_of(source),
            effect=effect,
            code=outcome.error_code,
            held_until=outcome.retry_at,
            trial_id=passes.trial_id if is_trial else "",
            jitter=self._keeper.jitter(),
            may_disable=self._keeper.may_disable,
        )


def is_well(source: Source, known: KnownCircuits, *, now: float) -> bool:
    """Whether it is asked as if there were no circuits."""
    return circuit_of(source, known.circuits).state_at(now) is CircuitState.CLOSED
