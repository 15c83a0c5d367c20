"""What the probe does with the circuits of both lanes. It counts nothing, and takes nothing out of use of itself.

told           that agents' searches have taken a provider out of use, also where that was lost for the history
half-open      of those that it found well: the next search is the trial
alike          a provider that agents' searches have taken out of use, or that an operator has put back, is so for
               customers too, also where the second of the two writes was lost
forgotten      of registrations that are gone, or that have been written since
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from aws_lambda_powertools import Logger

from shared.domain.circuits import WELL, Circuit, Circuits, Lane, Rule, circuit_of, found_well
from shared.domain.exposure import ExposureProfile
from shared.domain.identifiers import exposure_of
from shared.domain.journal import JournalEntry, happenings
from shared.domain.registrations import Source
from shared.errors import Unavailable
from shared.observability import CIRCUIT_CHANGED, CIRCUITS_UNKNOWN, CIRCUITS_UNWRITTEN
from shared.ports.circuits import CircuitStore, KnownCircuits
from shared.ports.clock import Clock

_TOLD_FOR_S: Final = 3_600.0  # several runs: one that finds no time leaves it to the next


@dataclass(frozen=True, slots=True)
class KnownLanes:
    """None for a lane that could not be read: nothing is concluded from it, and nothing written there."""

    agent: KnownCircuits | None
    customer: KnownCircuits | None

    def of(self, provider_id: str) -> tuple[Circuit, ...]:
        known = (each for each in (self.agent, self.customer) if each is not None)
        return tuple(each.circuits.get(provider_id, WELL) for each in known)


class TendCircuits:
    """Raises nothing: a lane that cannot be used is noted, and left to the next run."""

    def __init__(self, *, agent: CircuitStore, customer: CircuitStore, clock: Clock, logger: Logger) -> None:
        self._stores = {Lane.AGENT: agent, Lane.CUSTOMER: customer}
        self._clock = clock
        self._logger = logger

    async def read(self) -> KnownLanes:
        """The customers' first: whatever is copied there was written on the agents' lane before."""
        customer = await self._read(Lane.CUSTOMER)
        return KnownLanes(await self._read(Lane.AGENT), customer)

    async def make_alike(self, known: KnownLanes) -> tuple[JournalEntry, ...]:
        if known.agent is None or known.customer is None:
            return ()
        lost = {id_: circuit for id_, circuit in known.agent.circuits.items() if _is_lost(id_, circuit)}
        # A row that was never written, or cannot be read, does not say that anything was put back.
        put_back = {
            id_
            for id_, circuit in known.customer.circuits.items()
            if circuit.disabled_at and id_ not in lost and known.agent.version
        }

        def rule(circuits: Circuits) -> Circuits:
            copied = {
                id_: circuit.but_out_of_use(circuit.revision)
                for id_, circuit in lost.items()
                if not _at(circuits, id_).disabled_at
            }
            return copied | {id_: WELL for id_ in put_back if _at(circuits, id_).disabled_at}

        return await self._change(Lane.CUSTOMER, rule, known.customer)

    async def tend(
        self, known: KnownLanes, sources: Mapping[str, Source], *, well: Collection[str]
    ) -> tuple[JournalEntry, ...]:
        """`sources` are all that are registered, by id. At most one write a lane, and none where nothing changes. Of
        one that was taken out of use lately, what happened is told again: the history has it once.
        """
        lanes = ((Lane.AGENT, known.agent), (Lane.CUSTOMER, known.customer))
        tending = (
            self._change(lane, self._rule(each, sources, well), each, told=sources)
            for lane, each in lanes
            if each is not None
        )
        done = tuple(entry for entries in await asyncio.gather(*tending) for entry in entries)
        return (*self._lately_lost(known.agent, sources), *done)

    def _lately_lost(self, known: KnownCircuits | None, sources: Mapping[str, Source]) -> Iterator[JournalEntry]:
        """As the search that did it tells it."""
        oldest = self._clock.now() - _TOLD_FOR_S
        for id_, circuit in known.circuits.items() if known else ():
            if circuit.disabled_at > oldest and id_ in sources:
                yield from happenings({}, {id_: circuit}, lane=Lane.AGENT, now=circuit.disabled_at)

    def _rule(self, known: KnownCircuits, sources: Mapping[str, Source], well: Collection[str]) -> Rule:
        """About nothing that came about since it was read: the registrations were read after it."""
        now = self._clock.now()

        def tended(id_: str, circuit: Circuit) -> Circuit:
            source = sources.get(id_)
            if source is None or circuit_of(source, {id_: circuit}) is WELL:
                return WELL
            return found_well(circuit, now=now) if id_ in well else circuit

        def rule(circuits: Circuits) -> Circuits:
            still = {id_: circuits[id_] for id_, circuit in known.circuits.items() if circuits.get(id_) == circuit}
            later = {id_: tended(id_, circuit) for id_, circuit in still.items()}
            return {id_: circuit for id_, circuit in later.items() if circuit is not circuits[id_]}

        return rule

    async def _read(self, lane: Lane) -> KnownCircuits | None:
        try:
            return await self._stores[lane].read()
        except Unavailable:
            self._logger.warning(CIRCUITS_UNKNOWN, lane=lane)
            return None

    async def _change(
        self, lane: Lane, rule: Rule, known: KnownCircuits, *, told: Collection[str] | None = None
    ) -> tuple[JournalEntry, ...]:
        """What happened, but for what is forgotten with its registration."""
        try:
            changed = await self._stores[lane].change(rule, known=known)
        except Unavailable:
            providers = sorted(rule(known.circuits))
            self._logger.warning(CIRCUITS_UNWRITTEN, lane=lane, part="circuits", providers=providers)
            return ()
        after = {id_: each for id_, each in changed.after.items() if told is None or (id_ in told and each is not WELL)}
        entries = happenings(changed.before, after, lane=lane, now=self._clock.now())
        for entry in entries:
            self._logger.info(CIRCUIT_CHANGED, provider=entry.provider_id, lane=lane, happening=entry.happening)
        return entries


def _at(circuits: Circuits, id_: str) -> Circuit:
    return circuits.get(id_, WELL)


def _is_lost(id_: str, circuit: Circuit) -> bool:
    return bool(circuit.disabled_at) and exposure_of(id_) is ExposureProfile.CUSTOMER_SAFE
