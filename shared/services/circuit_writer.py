"""Claims trials and writes what outcomes change, on one lane. Loaded when a source is not well."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Collection, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from aws_lambda_powertools import Logger

from shared.domain.circuits import WELL, Circuits, Incident, after, claimed, disabled
from shared.domain.deadlines import Deadline
from shared.domain.exposure import ExposureProfile
from shared.domain.identifiers import exposure_of
from shared.domain.journal import Happening, JournalEntry, happenings
from shared.domain.lanes import Lane
from shared.observability import CIRCUIT_CHANGED, CIRCUITS_UNWRITTEN, PROVIDER_AUTO_DISABLED, place_of
from shared.ports.circuits import CircuitStore, KnownCircuits
from shared.ports.clock import Clock
from shared.ports.journal import Journal

SETTLING_S: Final = 0.03
DISABLING_S: Final = 0.3  # rare, and to be whole: what is lost of it the probe mends minutes later
SETTLED_BY_S: Final = 0.03  # after the deadline, when everybody took all the time there was
CLAIMING_S: Final = 1.0
_LETTING_GO_S: Final = 0.005

T = TypeVar("T")


def settling_times(deadline: Deadline, *, now_s: float) -> tuple[float, float]:
    """How long a settling may take, and one that takes a provider out of use: seconds, never far past `deadline`."""
    left_s = deadline.remaining_s(now_s - SETTLED_BY_S)
    return min(SETTLING_S, left_s), min(DISABLING_S, left_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """`providers` are those whose trial this request holds under `trial_id`; `known` is how the circuits are now."""

    trial_id: str
    providers: frozenset[str]
    known: KnownCircuits


@dataclass(slots=True)
class _Progress:
    """Of one settling. `is_losing`: it is taking a provider out of use. `pending` are the parts that are under way,
    with the providers that they are about.
    """

    is_losing: bool = False
    pending: dict[str, Collection[str]] = field(default_factory=dict)


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
            self._unwritten(error, part="trial", providers=provider_ids)
            return Claim(trial_id=trial_id, providers=frozenset(), known=known)
        return Claim(trial_id=trial_id, providers=frozenset(changed.after), known=changed.known)

    async def settle(
        self, incidents: Mapping[str, Incident], *, known: KnownCircuits, within_s: float, whole_within_s: float
    ) -> None:
        """Writes what `incidents` (by provider) change, for at most `within_s`; for `whole_within_s` where a provider
        is being taken out of use, which has to be told elsewhere too. Raises nothing.
        """
        if not incidents:
            return
        progress = _Progress()
        settling = asyncio.ensure_future(self._settled(incidents, known, progress))
        try:
            await asyncio.sleep(0)  # what has to be loaded for writing is, once, before the time counts
            await asyncio.wait({settling}, timeout=within_s)
            if progress.is_losing and not settling.done():
                await asyncio.wait({settling}, timeout=max(0.0, whole_within_s - within_s))
        finally:
            if not settling.done():
                settling.cancel()
                await asyncio.wait({settling}, timeout=_LETTING_GO_S)
                for part, providers in progress.pending.items():
                    self._unwritten(TimeoutError(), part=part, providers=providers)

    async def _settled(self, incidents: Mapping[str, Incident], known: KnownCircuits, progress: _Progress) -> None:
        now = self._clock.now()

        def rule(circuits: Circuits) -> Circuits:
            later = {id_: after(circuits.get(id_, WELL), incident, now=now) for id_, incident in incidents.items()}
            changes = {id_: circuit for id_, circuit in later.items() if circuit is not circuits.get(id_, WELL)}
            progress.is_losing = any(circuit.disabled_at for circuit in changes.values())
            return changes

        changed = await self._part(
            "circuits", lambda: self._circuits.change(rule, known=known), providers=incidents, progress=progress
        )
        if changed is None:
            return
        entries = happenings(changed.before, changed.after, lane=self._lane, now=now)
        self._tell(entries)
        providers = [entry.provider_id for entry in entries]
        lost = {id_: incidents[id_] for id_ in _lost_to_customers(entries)}
        await asyncio.gather(
            self._part("history", lambda: self._journal.note(entries), providers=providers, progress=progress),
            self._part(
                "customer_circuits",
                lambda: self._disable_for_customers(lost, now=now),
                providers=lost,
                progress=progress,
            ),
        )

    async def _part(
        self,
        part: str,
        work: Callable[[], Coroutine[Any, Any, T]],
        *,
        providers: Collection[str],
        progress: _Progress,
    ) -> T | None:
        """None where it failed, which is noted. `work` is begun here: time may be up before this is."""
        progress.pending[part] = providers
        result = None
        try:
            result = await work()
        except Exception as error:  # noqa: BLE001
            self._unwritten(error, part=part, providers=providers)
        del progress.pending[part]
        return result

    def _unwritten(self, error: Exception, *, part: str, providers: Collection[str]) -> None:
        self._logger.warning(
            CIRCUITS_UNWRITTEN, lane=self._lane, part=part, providers=sorted(providers), fault=place_of(error)
        )

    async def _disable_for_customers(self, lost: Mapping[str, Incident], *, now: float) -> None:
        def rule(circuits: Circuits) -> Circuits:
            return {id_: disabled(circuits.get(id_, WELL), incident, now=now) for id_, incident in lost.items()}

        if lost and self._customer_circuits is not None:
            await self._customer_circuits.change(rule, known=KnownCircuits())

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


def _lost_to_customers(entries: Collection[JournalEntry]) -> list[str]:
    lost = [entry.provider_id for entry in entries if entry.happening is Happening.AUTO_DISABLED]
    return [id_ for id_ in lost if exposure_of(id_) is ExposureProfile.CUSTOMER_SAFE]
