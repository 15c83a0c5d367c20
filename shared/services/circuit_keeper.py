"""Keeps the circuits of one lane: reads them, claims trials, writes what outcomes change.

What cannot be read counts as well, and what cannot be written in time is dropped: a lost count costs one failure more,
a lost trial its lease.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Collection, Coroutine, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeVar

from aws_lambda_powertools import Logger

from shared.domain.lanes import Lane
from shared.observability import CIRCUITS_UNKNOWN, place_of
from shared.ports.circuits import CircuitStore, KnownCircuits
from shared.ports.clock import Clock
from shared.ports.journal import Journal

if TYPE_CHECKING:
    from shared.domain.circuits import Incident
    from shared.services.circuit_writer import CircuitWriter, Claim

READING_S: Final = 0.03
_RANDOM = secrets.SystemRandom()

T = TypeVar("T")


def any_jitter() -> float:
    return _RANDOM.uniform(-1.0, 1.0)


class CircuitKeeper:
    """`customer_circuits` is given to the agent lane alone: what it takes out of use is out of use for customers too,
    never the other way round.
    """

    def __init__(
        self,
        *,
        lane: Lane,
        circuits: CircuitStore,
        journal: Journal,
        clock: Clock,
        logger: Logger,
        customer_circuits: CircuitStore | None = None,
        jitter: Callable[[], float] = any_jitter,
    ) -> None:
        self.may_disable = lane is Lane.AGENT
        self._lane = lane
        self._circuits = circuits
        self._journal = journal
        self._clock = clock
        self._logger = logger
        self._customer_circuits = customer_circuits
        self.jitter = jitter

    async def known(self) -> KnownCircuits:
        """Raises nothing: circuits that cannot be read hold nobody back."""
        try:
            return await self._circuits.read()
        except Exception as error:  # noqa: BLE001  # whatever it is: no search may fail by it
            return self._unknown(error)

    async def beside(self, reading: Coroutine[Any, Any, T]) -> tuple[T, KnownCircuits]:
        """`known`, together with what `reading` reads at the same time, and hardly longer than that takes. Raises what
        `reading` raises.
        """
        asking = asyncio.ensure_future(self.known())
        try:
            read = await reading
            if not asking.done():
                await asyncio.wait({asking}, timeout=READING_S)
            return read, self._what_is_there(asking)
        finally:
            if not asking.done():
                asking.cancel()
                await asyncio.wait({asking})

    def _what_is_there(self, asking: asyncio.Future[KnownCircuits]) -> KnownCircuits:
        if asking.done():
            return asking.result()
        return self._unknown(TimeoutError())

    def _unknown(self, error: Exception) -> KnownCircuits:
        self._logger.warning(CIRCUITS_UNKNOWN, lane=self._lane, fault=place_of(error))
        return KnownCircuits()

    async def claim(
        self, provider_ids: Collection[str], *, hurried: Collection[str] = (), known: KnownCircuits, within_s: float
    ) -> Claim:
        """`hurried` are those of them for which there is too little time. Raises nothing: a trial that cannot be
        claimed in time, of which a second is the most, is not held.
        """
        return await self._writer.claim(provider_ids, hurried=hurried, known=known, within_s=within_s)

    async def settle(
        self, incidents: Mapping[str, Incident], *, known: KnownCircuits, within_s: float, whole_within_s: float = 0.0
    ) -> None:
        """Writes what `incidents` (by provider) change, for at most `within_s`; for `whole_within_s`, if that is
        longer, where a provider is being taken out of use. Raises nothing.
        """
        if incidents:
            await self._writer.settle(incidents, known=known, within_s=within_s, whole_within_s=whole_within_s)

    @cached_property
    def _writer(self) -> CircuitWriter:
        from shared.services.circuit_writer import CircuitWriter  # most processes never meet a source that is not well

        return CircuitWriter(
            lane=self._lane,
            circuits=self._circuits,
            journal=self._journal,
            customer_circuits=self._customer_circuits,
            clock=self._clock,
            logger=self._logger,
        )
