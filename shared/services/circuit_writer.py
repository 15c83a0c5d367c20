"""Claims trials and writes what outcomes change, on one lane. Loaded when a source is not well."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from aws_lambda_powertools import Logger

from shared.domain.circuits import WELL, Circuits, Incident, after, claimed, disabled
from shared.domain.exposure import ExposureProfile
from shared.domain.identifiers import exposure_of
from shared.domain.journal import Happening, JournalEntry, happenings
from shared.domain.lanes import Lane
from shared.observability import CIRCUIT_CHANGED, CIRCUITS_UNWRITTEN, PROVIDER_AUTO_DISABLED, place_of
from shared.ports.circuits import CircuitStore, KnownCircuits
from shared.ports.clock import Clock
from shared.ports.journal import Journal

SETTLING_S: Final = 0.03
CLAIMING_S: Final = 1.0
_LETTING_GO_S: Final = 0.005


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """`providers` are those whose trial this request holds under `trial_id`; `known` is how the circuits are now."""

    trial_id: str
    providers: frozenset[str]
    known: KnownCircuits


class CircuitWriter:
    """`customer_circuits`: who is taken out of use here is told there."""

    def __init__(
        self,
        *,
        lane: Lane,
        circuits: CircuitStore,
        journal: Journal,
        customer_circuits: CircuitStore | None,
        clock: Clock,
        logger: Logger,
    ) -> None:
        self._lane = lane
        self._circuits = circuits
        self._journal = journal
        self._customer_circuits = customer_circuits
        self._clock = clock
        self._logger = logger

    async def claim(
        self, provider_ids: Collection[str], *, hurried: Collection[str], known: KnownCircuits, within_s: float
    ) -> Claim:
        """`hurried` are those of them for which there is too little time. Raises nothing: a trial that cannot be
        claimed in time, of which `CLAIMING_S` is the most, is not held.
        """
        trial_id, now = secrets.token_hex(8), self._clock.now()

        def rule(circuits: Circuits) -> Circuits:
            taken = {
                id_: claimed(circuits.get(id_, WELL), trial_id, now=now, is_hurried=id_ in hurried)
                for id_ in provider_ids
            }
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
