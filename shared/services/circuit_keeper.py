"""Keeps the circuits of one lane: reads them, claims trials, writes what outcomes change.

What cannot be read counts as well, and what cannot be written in time is dropped: a lost count costs one failure more,
a lost trial its lease.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Collection, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from aws_lambda_powertools import Logger

from shared.domain.circuits import WELL, Circuits, Incident, Lane, after, claimed, disabled
from shared.domain.exposure import ExposureProfile
from shared.domain.identifiers import exposure_of
from shared.domain.journal import Happening, JournalEntry, happenings
from shared.observability import (
    CIRCUIT_CHANGED,
    CIRCUITS_UNKNOWN,
    CIRCUITS_UNWRITTEN,
    PROVIDER_AUTO_DISABLED,
    place_of,
)
from shared.ports.circuits import CircuitStore, KnownCircuits
from shared.ports.clock import Clock
from shared.ports.journal import Journal

SETTLING_S: Final = 0.03
CLAIMING_S: Final = 1.0
READING_S: Final = 0.03
_LETTING_GO_S: Final = 0.005
_RANDOM = secrets.SystemRandom()

T = TypeVar("T")


def any_jitter() -> float:
    return _RANDOM.uniform(-1.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """`providers` are those whose trial this request holds under `trial_id`; `known` is how the circuits are now."""

    trial_id: str
    providers: frozenset[str]
    known: KnownCircuits


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

    async def claim(self, provider_ids: Collection[str], *, known: KnownCircuits, within_s: float) -> Claim:
        """Raises nothing: a trial that cannot be claimed in time, of which `CLAIMING_S` is the most, is not held."""
        trial_id, now = secrets.token_hex(8), self._clock.now()

        def rule(circuits: Circuits) -> Circuits:
            taken = {id_: claimed(circuits.get(id_, WELL), trial_id, now=now) for id_ in provider_ids}
            return {id_: circuit for id_, circuit in taken.items() if circuit is not None}

        try:
            async with asyncio.timeout(min(CLAIMING_S, within_s)):
                changed = await self._circuits.change(rule, known=known)
        except Exception as error:  # noqa: BLE001
            self._unwritten(error)
            return Claim(trial_id=trial_id, providers=frozenset(), known=known)
        return Claim(trial_id=trial_id, providers=frozenset(changed.after), known=changed.known)

    async def settle(self, incidents: Mapping[str, Incident], *, known: KnownCircuits, within_s: float) -> None:
        """Writes what `incidents` (by provider) change, for at most `within_s`. Raises nothing."""
        if not incidents:
            return
        settling = asyncio.ensure_future(self._settled(incidents, known))
        try:
            await asyncio.wait({settling}, timeout=within_s)
        finally:
            if not settling.done():
                settling.cancel()
                await asyncio.wait({settling}, timeout=_LETTING_GO_S)
                self._unwritten(TimeoutError())

    async def _settled(self, incidents: Mapping[str, Incident], known: KnownCircuits) -> None:
        now = self._clock.now()

        def rule(circuits: Circuits) -> Circuits:
            later = {id_: after(circuits.get(id_, WELL), incident, now=now) for id_, incident in incidents.items()}
            return {id_: circuit for id_, circuit in later.items() if circuit is not circuits.get(id_, WELL)}

        try:
            changed = await self._circuits.change(rule, known=known)
            entries = happenings(changed.before, changed.after, lane=self._lane, now=now)
            self._tell(entries)
            await asyncio.gather(self._journal.note(entries), self._disable_for_customers(entries, incidents, now=now))
        except Exception as error:  # noqa: BLE001
            self._unwritten(error)

    def _unwritten(self, error: Exception) -> None:
        self._logger.warning(CIRCUITS_UNWRITTEN, lane=self._lane, fault=place_of(error))

    async def _disable_for_customers(
        self, entries: Collection[JournalEntry], incidents: Mapping[str, Incident], *, now: float
    ) -> None:
        lost = {
            entry.provider_id: incidents[entry.provider_id]
            for entry in entries
            if entry.happening is Happening.AUTO_DISABLED
            and exposure_of(entry.provider_id) is ExposureProfile.CUSTOMER_SAFE
        }
        if lost and self._customer_circuits is not None:
            await self._customer_circuits.change(
                lambda circuits: {
                    id_: disabled(circuits.get(id_, WELL), incident, now=now) for id_, incident in lost.items()
                },
                known=KnownCircuits(),
            )

    def _tell(self, entries: Collection[JournalEntry]) -> None:
        for entry in entries:
            is_lost = entry.happening is Happening.AUTO_DISABLED
            self._logger.warning(
                PROVIDER_AUTO_DISABLED if is_lost else CIRCUIT_CHANGED,
                provider=entry.provider_id,
                lane=self._lane,
                happening=entry.happening,
                code=entry.code,
                until=entry.until,
            )
