"""Tells how the providers are that somebody may reach. Asks none of them: what is told is what is known."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from heapq import merge
from itertools import islice
from typing import Final, TypeVar

from shared.domain.circuits import WELL, Circuit, Circuits, Lane
from shared.domain.credentials import Principal
from shared.domain.exposure import CredentialClass, ExposureProfile
from shared.domain.health import HealthRecords
from shared.domain.health_views import (
    HealthReport,
    Known,
    Looks,
    Part,
    PoolHealth,
    by_urgency,
    in_use,
    looks_of,
    overall,
    view_of,
)
from shared.domain.journal import JournalEntry
from shared.domain.pools import POOL_OF, Pool
from shared.domain.preconditions import existing
from shared.domain.registrations import MAX_PROVIDERS, Provider
from shared.errors import Unavailable
from shared.ports.allowances import AllowanceDesk
from shared.ports.circuits import CircuitStore
from shared.ports.clock import Clock
from shared.ports.health_book import HealthReader
from shared.ports.journal import JournalReader
from shared.ports.registry import Registry
from shared.services.at_once import both
from shared.services.list_pools import ListPools

MOST_OF_HISTORY: Final = 200
_PART_TIMEOUT_S: Final = 5.0
_CIRCUITS: Final = {Lane.AGENT: Part.AGENT_CIRCUITS, Lane.CUSTOMER: Part.CUSTOMER_CIRCUITS}
_HISTORIES: Final = {Lane.AGENT: Part.AGENT_HISTORY, Lane.CUSTOMER: Part.CUSTOMER_HISTORY}

T = TypeVar("T")


class ReportHealth:
    """Registrations have to be read; every other part may be missing, and is named then."""

    def __init__(
        self,
        *,
        registry: Registry,
        circuits: Mapping[Lane, CircuitStore],
        looks: HealthReader,
        histories: Mapping[Lane, JournalReader],
        pools: ListPools,
        allowances: AllowanceDesk,
        clock: Clock,
    ) -> None:
        """`registry` is the plain one: what a circuit says is read beside it."""
        self._registry = registry
        self._circuits = circuits
        self._looks = looks
        self._histories = histories
        self._pools = pools
        self._allowances = allowances
        self._clock = clock

    async def __call__(self, *, by: Principal) -> HealthReport:
        """Of all that `by` may reach. Raises `Unavailable`."""
        reading = _Reading()
        providers, parts = await both(self._providers(by), self._parts(reading, Pool))
        return self._report(providers, parts, reading, by=by, of_all=by.credential_class is CredentialClass.ADMIN)

    async def one(self, provider_id: str, *, by: Principal) -> HealthReport:
        """Raises `NotFound`, also for one that `by` may not reach; `Unavailable`."""
        provider = existing(await self._registry.get(provider_id) if _reaches(by, provider_id) else None)
        pool = POOL_OF.get(provider.source.kind)
        reading = _Reading()
        parts, history = await both(self._parts(reading, [pool] if pool else []), self._history(reading, provider))
        return replace(self._report([provider], parts, reading, by=by, of_all=False), history=history)

    def _report(
        self, providers: Iterable[Provider], parts: _Parts, reading: _Reading, *, by: Principal, of_all: bool
    ) -> HealthReport:
        now = self._clock.now()
        looks = looks_of(parts.records, now=now)
        pools = {each.pool: each for each in parts.pools}
        views = [view_of(_known(each, parts.circuits, looks, pools), now=now) for each in providers]
        reached = {POOL_OF.get(view.provider.source.kind) for view in views}
        finished = parts.records.finished if parts.records else None
        return HealthReport(
            status=overall(views, is_stale=looks.is_stale, is_partly_unknown=bool(reading.missing)),
            at=now,
            run=parts.records.run if parts.records else None,
            looked_at=finished.finished_at if finished else None,
            is_stale=looks.is_stale,
            providers=tuple(sorted(views, key=by_urgency)),
            pools=tuple(each for each in parts.pools if of_all or each.pool in reached),
            unavailable=tuple(part for part in Part if part in reading.missing),
            tells_counts=by.credential_class is CredentialClass.ADMIN,
        )

    async def _providers(self, by: Principal) -> list[Provider]:
        found: list[Provider] = []
        after: str | None = None
        while True:
            page = await self._registry.page(limit=MAX_PROVIDERS, after=after)
            found += (each for each in page.items if _reaches(by, each.id))
            if page.next_after is None:
                return found
            after = page.next_after

    async def _parts(self, reading: _Reading, pools: Iterable[Pool]) -> _Parts:
        lanes = list(self._circuits)
        circuits, records, found = await asyncio.gather(
            asyncio.gather(*(reading.of(_CIRCUITS[lane], partial(self._lane, lane)) for lane in lanes)),
            reading.of(Part.LOOKS, self._looks.records),
            asyncio.gather(*(self._pool(reading, pool) for pool in pools)),
        )
        known = {lane: each for lane, each in zip(lanes, circuits, strict=True) if each is not None}
        return _Parts(circuits=known, records=records, pools=tuple(found))

    async def _lane(self, lane: Lane) -> Circuits:
        return (await self._circuits[lane].read()).circuits

    async def _pool(self, reading: _Reading, pool: Pool) -> PoolHealth:
        keys, state, allowance = await asyncio.gather(
            reading.of(Part.KEYS, partial(self._pools.keys_of, pool)),
            reading.of(Part.RESTS, partial(self._pools.state_of, pool)),
            reading.of(Part.ALLOWANCES, partial(self._allowances.read, pool)),
        )
        view = None if keys is None or state is None else self._pools.view(pool, keys, state)
        return PoolHealth(pool=pool, view=view, allowance=allowance)

    async def _history(self, reading: _Reading, provider: Provider) -> tuple[JournalEntry, ...]:
        read = [
            reading.of(_HISTORIES[lane], partial(self._histories[lane].latest, provider.id, limit=MOST_OF_HISTORY))
            for lane in _lanes_of(provider)
        ]
        found = [entries for entries in await asyncio.gather(*read) if entries is not None]
        newest_first = merge(*found, key=lambda entry: entry.at, reverse=True)
        return tuple(islice(newest_first, MOST_OF_HISTORY))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    circuits: Mapping[Lane, Circuits]
    records: HealthRecords | None
    pools: tuple[PoolHealth, ...]


class _Reading:
    """Notes what could not be read."""

    def __init__(self) -> None:
        self.missing: set[Part] = set()

    async def of(self, part: Part, read: Callable[[], Awaitable[T]]) -> T | None:
        """None where it cannot be had, or not in time."""
        try:
            async with asyncio.timeout(_PART_TIMEOUT_S):
                return await read()
        except (Unavailable, TimeoutError):
            self.missing.add(part)
            return None


def _reaches(by: Principal, provider_id: str) -> bool:
    return by.allowed_providers is None or provider_id in by.allowed_providers


def _known(
    provider: Provider, circuits: Mapping[Lane, Circuits], looks: Looks, pools: Mapping[Pool, PoolHealth]
) -> Known:
    of_lanes: dict[Lane, Circuit] = {
        lane: circuits[lane].get(provider.id, WELL) for lane in _lanes_of(provider) if lane in circuits
    }
    pool = POOL_OF.get(provider.source.kind)
    return Known(
        provider=in_use(provider, circuits.get(Lane.AGENT, {})),
        circuits=of_lanes,
        looks=looks,
        pool=pools.get(pool) if pool else None,
    )


def _lanes_of(provider: Provider) -> tuple[Lane, ...]:
    """On which lanes it is asked."""
    is_safe = provider.exposure_profile is ExposureProfile.CUSTOMER_SAFE
    return (Lane.AGENT, Lane.CUSTOMER) if is_safe else (Lane.AGENT,)
