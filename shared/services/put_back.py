"""Puts a provider back into use that a circuit has taken out of it: because an operator says so, or it has passed a
test that was to turn it on.
"""

from __future__ import annotations

from collections.abc import Mapping

from aws_lambda_powertools import Logger

from shared.domain.circuits import WELL, Circuits, Lane
from shared.domain.exposure import ExposureProfile
from shared.domain.identifiers import exposure_of
from shared.domain.journal import happenings
from shared.errors import Unavailable
from shared.observability import CIRCUITS_UNWRITTEN
from shared.ports.circuits import ChangedCircuits, CircuitStore
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

    async def __call__(self, provider_id: str) -> None:
        """Raises `Unavailable` where it may still be out of use; doing it again finishes it."""
        try:
            for lane in _lanes_of(provider_id):
                changed = await self._forgotten(lane, provider_id)
                await self._note(lane, changed)
        except Unavailable as error:
            raise Unavailable(
                "The change is written, and the provider may still be out of use. Read it again and repeat the change.",
                code=error.code,
                retry_after_s=error.retry_after_s or STORE_RETRY_AFTER_S,
            ) from None

    async def forget(self, provider_id: str) -> None:
        """Of a provider that is gone. Raises nothing: what stays behind the probe clears away."""
        try:
            for lane in _lanes_of(provider_id):
                await self._forgotten(lane, provider_id)
        except Unavailable:
            self._logger.warning(CIRCUITS_UNWRITTEN)

    async def _forgotten(self, lane: Lane, provider_id: str) -> ChangedCircuits:
        def rule(circuits: Circuits) -> Circuits:
            return {provider_id: WELL} if provider_id in circuits else {}

        return await self._circuits[lane].change(rule, known=await self._circuits[lane].read())

    async def _note(self, lane: Lane, changed: ChangedCircuits) -> None:
        """The audit tells of it in any case."""
        try:
            entries = happenings(changed.before, changed.after, lane=lane, now=self._clock.now())
            await self._journals[lane].note(entries)
        except Unavailable:
            self._logger.warning(CIRCUITS_UNWRITTEN, lane=lane)


def _lanes_of(provider_id: str) -> tuple[Lane, ...]:
    is_safe = exposure_of(provider_id) is ExposureProfile.CUSTOMER_SAFE
    return _ORDER if is_safe else (Lane.AGENT,)
