"""Puts a provider back into use that a circuit has taken out of it: because an operator says so, or it has passed a
test that was to turn it on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from aws_lambda_powertools import Logger

from shared.domain.circuits import WELL, Circuit, Circuits, CircuitState, Lane, begun_anew
from shared.domain.exposure import ExposureProfile
from shared.domain.identifiers import exposure_of
from shared.domain.journal import happenings
from shared.errors import Unavailable
from shared.observability import CIRCUITS_UNWRITTEN
from shared.ports.circuits import ChangedCircuits, CircuitStore, KnownCircuits
from shared.ports.clock import Clock
from shared.ports.journal import Journal
from shared.services.at_once import STORE_RETRY_AFTER_S

# The agent lane last: it says what the status is, so until all is done the status says that it is not.
_ORDER = (Lane.CUSTOMER, Lane.AGENT)


class PutBack:
    """Done after the registration was written anew: whoever writes it is the one to do it, and what was found of an
    older one counts for nothing.
    """

    def __init__(
        self,
        *,
        circuits: Mapping[Lane, CircuitStore],
        journals: Mapping[Lane, Journal],
        clock: Clock,
        logger: Logger,
    ) -> None:
        self._circuits = circuits
        self._journals = journals
        self._clock = clock
        self._logger = logger

    async def __call__(self, provider_id: str, *, revision: str) -> None:
        """`revision` is of the registration as it was written now. Raises `Unavailable` where it may still be out of
        use; doing it again finishes it.
        """
        try:
            for lane in _lanes_of(provider_id):
                await self._note(lane, await self._become(lane, provider_id, lambda _: Circuit(revision=revision)))
        except Unavailable as error:
            raise Unavailable(
                "The change is written, and the provider may still be out of use. Read it again and repeat the change.",
                code=error.code,
                retry_after_s=error.retry_after_s or STORE_RETRY_AFTER_S,
            ) from None

    async def end_waits(self, provider_ids: Collection[str], *, known: KnownCircuits) -> None:
        """Of those that asked agents to wait: the next request of each is the trial. Raises `Unavailable`."""
        now = self._clock.now()

        def rule(circuits: Circuits) -> Circuits:
            waiting = {id_: circuits[id_] for id_ in provider_ids if id_ in circuits}
            return {id_: replace(each, open_until=now) for id_, each in waiting.items() if _is_waited_for(each, now)}

        await self._note(Lane.AGENT, await self._circuits[Lane.AGENT].change(rule, known=known))

    async def forget(self, provider_id: str) -> None:
        """Of a provider that is gone. Raises nothing: what stays behind the probe clears away."""
        try:
            for lane in _lanes_of(provider_id):
                await self._become(lane, provider_id, lambda _: WELL)
        except Unavailable:
            self._logger.warning(CIRCUITS_UNWRITTEN, part="circuits", providers=[provider_id])

    async def begin_anew(self, provider_id: str, *, revision: str) -> None:
        """Of one whose registration was written: what is still told to those who asked before counts for nothing.
        Raises nothing: where it is lost, that counts.
        """
        try:
            for lane in _lanes_of(provider_id):
                await self._become(lane, provider_id, lambda circuit: begun_anew(circuit, revision))
        except Unavailable:
            self._logger.warning(CIRCUITS_UNWRITTEN, part="circuits", providers=[provider_id])

    async def _become(self, lane: Lane, provider_id: str, later: Callable[[Circuit], Circuit]) -> ChangedCircuits:
        """No write where nothing is remembered of it, or nothing changes."""

        def rule(circuits: Circuits) -> Circuits:
            before = circuits.get(provider_id)
            after = before and later(before)
            return {} if after is None or after is before else {provider_id: after}

        return await self._circuits[lane].change(rule, known=await self._circuits[lane].read())

    async def _note(self, lane: Lane, changed: ChangedCircuits) -> None:
        """Raises nothing: the audit tells of it in any case."""
        try:
            entries = happenings(changed.before, changed.after, lane=lane, now=self._clock.now())
            await self._journals[lane].note(entries)
        except Unavailable:
            self._logger.warning(CIRCUITS_UNWRITTEN, lane=lane, part="history", providers=sorted(changed.after))


def _is_waited_for(circuit: Circuit, now: float) -> bool:
    return circuit.is_held and circuit.state_at(now) is CircuitState.OPEN


def _lanes_of(provider_id: str) -> tuple[Lane, ...]:
    is_safe = exposure_of(provider_id) is ExposureProfile.CUSTOMER_SAFE
    return _ORDER if is_safe else (Lane.AGENT,)
