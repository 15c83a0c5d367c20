"""Looks at all providers that are in use, by the clock: one run at a time, in bounded time, at no cost.

read        the book, the circuits of both lanes, the registrations. Nothing is written yet
claim       the run, by one conditional write. Whoever comes meanwhile does nothing
look        at each provider, but for those that asked to be left alone; those left out last time come first
keep        what has changed: of a provider that is as it was, nothing is written
"""

from __future__ import annotations

import secrets
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from aws_lambda_powertools import Logger

from shared.domain.circuits import LONGEST_HOLD_S, CircuitState, circuit_of, revision_of
from shared.domain.health import (
    Finding,
    HealthRecords,
    HealthState,
    Look,
    ProbeRun,
    ProviderHealth,
    after_look,
    look_of,
)
from shared.domain.journal import Happening, JournalEntry
from shared.domain.registrations import Provider, ProviderStatus
from shared.observability import HEALTH_CHANGED, PROBE_FINISHED
from shared.ports.catalog import Catalog
from shared.ports.clock import Clock
from shared.ports.health_book import HealthBook
from shared.ports.journal import Journal
from shared.services.probe_looks import LookAtAll
from shared.services.tend_circuits import KnownLanes, TendCircuits

TOTAL_S: Final = 45.0
LEASE_S: Final = 60.0  # longer than an invocation lasts
_KEEPING_S: Final = 3.0  # of the total, to write what was found

_GOOD: Final = frozenset({HealthState.HEALTHY, HealthState.UNCHECKED})
_BAD: Final = frozenset({HealthState.DOWN, HealthState.REFUSED, HealthState.BROKEN})


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """One run. `states` counts the providers in use, `changed` those that are otherwise than before."""

    run_id: str
    states: Mapping[HealthState, int]
    looked_at: int
    left_out: int = 0
    changed: int = 0
    faults: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """All that is known before anything is looked at. `health` is by provider id."""

    records: HealthRecords
    lanes: KnownLanes
    providers: tuple[Provider, ...]
    health: Mapping[str, ProviderHealth]


class ProbeProviders:
    """`every_s`: no run begins sooner than that after the last one has begun."""

    def __init__(
        self,
        *,
        catalog: Catalog,
        book: HealthBook,
        journal: Journal,
        circuits: TendCircuits,
        look_at_all: LookAtAll,
        clock: Clock,
        logger: Logger,
        every_s: float,
    ) -> None:
        self._catalog = catalog
        self._book = book
        self._journal = journal
        self._circuits = circuits
        self._look_at_all = look_at_all
        self._clock = clock
        self._logger = logger
        self._every_s = every_s

    async def __call__(self, *, budget_s: float) -> Probed | None:
        """Over within `budget_s`, at most `TOTAL_S`. None when no run is due, or one goes on. Raises `Unavailable`."""
        until_s = self._clock.monotonic() + min(budget_s, TOTAL_S) - _KEEPING_S
        known = await self._read()
        now = self._clock.now()
        run = ProbeRun(run_id=secrets.token_hex(8), started_at=now)
        if not await self._book.begin(run.run_id, now=now, every_s=self._every_s, lease_s=LEASE_S):
            return None
        entries = await self._circuits.make_alike(known.lanes)
        used = _in_turn(known)
        held = {each.id: finding for each in used if (finding := self._left_alone(each, known)) is not None}
        looked = await self._look_at_all([each for each in used if each.id not in held], until_s=until_s)
        found = self._after({**held, **looked.findings}, known)
        entries += await self._tend(found, known)
        news = [each for each in found if _is_news(each, known.health.get(each.provider_id))]
        await self._keep(found, known)
        self._tell(news, known)
        run = replace(run, looked_at=looked.asked, left_out=len(looked.left_out), next_id=looked.next_id)
        await self._book.finish(run)
        await self._journal.note((*entries, *(self._entry(each) for each in news)))
        probed = _probed(run, found, known, changed=len(news), faults=looked.faults)
        self._logger.info(
            PROBE_FINISHED,
            run=probed.run_id,
            states={state.value: count for state, count in probed.states.items()},
            looked_at=probed.looked_at,
            left_out=probed.left_out,
            changed=probed.changed,
            faults=probed.faults,
        )
        return probed

    async def _read(self) -> _Known:
        """The registrations last: what is known of one that is not among them is of one that is gone."""
        records, lanes = await self._book.records(), await self._circuits.read()
        providers = await self._catalog.providers()
        return _Known(
            records=records,
            lanes=lanes,
            providers=providers,
            health={each.provider_id: each for each in records.providers},
        )

    def _left_alone(self, provider: Provider, known: _Known) -> Finding | None:
        """What is said of one that said until when: in a search, or when it was looked at."""
        now, source = self._clock.now(), provider.source
        held = [circuit_of(source, {source.id: each}) for each in known.lanes.of(source.id) if each.is_held]
        waits = {each.free_at(now): each.last_code for each in held if each.state_at(now) is CircuitState.OPEN}
        if waits:
            until = max(each for each in waits if each is not None)
            return Finding(look=look_of(source.kind), code=waits[until], retry_at=until)
        before = known.health.get(source.id)
        if before is None or before.revision != revision_of(source):
            return None
        if before.look is Look.TOOLS:  # the pool knows how long it rests, and an operator may have woken it
            is_known = before.state is HealthState.HEALTHY and self._is_within_the_hour(known)
            return Finding(look=before.look, warnings=before.warnings) if is_known else None
        is_waiting = before.retry_at is not None and now < before.retry_at <= now + LONGEST_HOLD_S
        return Finding(look=before.look, code=before.code, retry_at=before.retry_at) if is_waiting else None

    def _is_within_the_hour(self, known: _Known) -> bool:
        """A hosted service that is well is asked in the first run of an hour alone: it counts what it is asked, a
        thousand a day of some, and that is for searches.
        """
        last = known.records.finished
        return last is not None and last.started_at // 3_600 == self._clock.now() // 3_600

    def _after(self, findings: Mapping[str, Finding], known: _Known) -> list[ProviderHealth]:
        now = self._clock.now()
        return [
            after_look(
                known.health.get(each.id),
                findings[each.id],
                provider_id=each.id,
                revision=revision_of(each.source),
                now=now,
            )
            for each in known.providers
            if each.id in findings
        ]

    async def _tend(self, found: Sequence[ProviderHealth], known: _Known) -> tuple[JournalEntry, ...]:
        well = {each.provider_id for each in found if each.state is HealthState.HEALTHY}
        sources = {each.id: each.source for each in known.providers}
        return await self._circuits.tend(known.lanes, sources, well=well)

    async def _keep(self, found: Sequence[ProviderHealth], known: _Known) -> None:
        changed = [each for each in found if each != known.health.get(each.provider_id)]
        gone = known.health.keys() - {each.id for each in known.providers}
        if changed or gone:
            await self._book.keep(changed, forget=gone)

    def _entry(self, health: ProviderHealth) -> JournalEntry:
        return JournalEntry(
            provider_id=health.provider_id,
            at=self._clock.now(),
            happening=Happening.STATE_CHANGED,
            state=health.state,
            code=health.code,
        )

    def _tell(self, news: Iterable[ProviderHealth], known: _Known) -> None:
        """Once for each change: of a run of failures the first one, and the one that makes it down."""
        for each in news:
            before = known.health.get(each.provider_id)
            tell = self._logger.warning if each.state in _BAD else self._logger.info
            tell(
                HEALTH_CHANGED,
                provider=each.provider_id,
                state=each.state,
                before=before.state if before else None,
                code=each.code,
            )


def _probed(run: ProbeRun, found: Sequence[ProviderHealth], known: _Known, *, changed: int, faults: int) -> Probed:
    latest = {**known.health, **{each.provider_id: each for each in found}}
    used = [each.id for each in known.providers if each.status is ProviderStatus.ACTIVE]
    states = Counter(latest[id_].state if id_ in latest else HealthState.UNCHECKED for id_ in used)
    return Probed(
        run_id=run.run_id,
        states=states,
        looked_at=run.looked_at,
        left_out=run.left_out,
        changed=changed,
        faults=faults,
    )


def _in_turn(known: _Known) -> list[Provider]:
    """Those in use, in an order that goes on where the last run stopped for want of time."""
    used = sorted((each for each in known.providers if each.status is ProviderStatus.ACTIVE), key=lambda each: each.id)
    last = known.records.finished
    at = bisect_left([each.id for each in used], last.next_id) if last else 0
    return used[at:] + used[:at]


def _is_news(now: ProviderHealth, before: ProviderHealth | None) -> bool:
    return now.state is not before.state if before is not None else now.state not in _GOOD
