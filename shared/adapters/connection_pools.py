"""Idle connections, kept apart by source."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from shared.adapters.pinned_connection import PinnedConnection
from shared.domain.addresses import AddressPolicy
from shared.domain.urls import Destination, destination_of
from shared.ports.clock import Clock

KEEP_ALIVE_S = 5.0
_MOST_SOURCES = 256
_MOST_IDLE = 4
_LONGEST_LIFE_S = 60.0  # then the name is looked up again, however busy the connection is
_BETWEEN_SWEEPS_S = 1.0


@dataclass(slots=True)
class Kept:
    """A connection and its times. The wall clock is asked too: a frozen process's other clock may have stood still."""

    connection: PinnedConnection
    opened_at_s: float
    idle_since_s: float
    idle_since: float

    def has_expired(self, clock: Clock) -> bool:
        now_s = clock.monotonic()
        idle_s = max(now_s - self.idle_since_s, clock.now() - self.idle_since)
        return idle_s > KEEP_ALIVE_S or now_s - self.opened_at_s > _LONGEST_LIFE_S


@dataclass(slots=True)
class SourcePool:
    """The idle connections of one source under one base URL and one address policy; never used under any other."""

    base_url: str
    policy: AddressPolicy
    destination: Destination
    clock: Clock
    idle: list[Kept] = field(default_factory=list)
    is_closed: bool = False

    def take(self) -> Kept | None:
        """The connection used last, if any is still good; those that are not are closed on the way."""
        while self.idle:
            kept = self.idle.pop()
            if not kept.has_expired(self.clock) and kept.connection.is_reusable():
                return kept
            kept.connection.abort()
        return None

    def give_back(self, kept: Kept) -> None:
        kept.idle_since_s, kept.idle_since = self.clock.monotonic(), self.clock.now()
        if self.is_closed or len(self.idle) >= _MOST_IDLE or not kept.connection.is_reusable():
            kept.connection.abort()
        else:
            self.idle.append(kept)

    def close_expired(self) -> None:
        expired = [kept for kept in self.idle if kept.has_expired(self.clock)]
        self.idle = [kept for kept in self.idle if kept not in expired]
        for kept in expired:
            kept.connection.abort()

    def close(self) -> None:
        self.is_closed = True
        while self.idle:
            self.idle.pop().connection.abort()


class ConnectionPools:
    """At most 256 sources; the one that was not asked for longest makes room."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._pools: OrderedDict[str, SourcePool] = OrderedDict()
        self._swept_at_s = clock.monotonic()

    def of(self, source_id: str, *, base_url: str, policy: AddressPolicy) -> SourcePool:
        """A source whose URL or policy has changed starts anew. Raises `Invalid` for a URL that was never checked."""
        self._sweep()
        pool = self._pools.get(source_id)
        if pool is None or pool.base_url != base_url or pool.policy != policy:
            if pool is not None:
                pool.close()
            pool = SourcePool(base_url, policy, destination_of(base_url), self._clock)
            self._pools[source_id] = pool
        self._pools.move_to_end(source_id)
        if len(self._pools) > _MOST_SOURCES:
            self._pools.popitem(last=False)[1].close()
        return pool

    def close(self) -> None:
        while self._pools:
            self._pools.popitem()[1].close()

    def _sweep(self) -> None:
        now_s = self._clock.monotonic()
        if now_s - self._swept_at_s >= _BETWEEN_SWEEPS_S:
            self._swept_at_s = now_s
            for pool in self._pools.values():
                pool.close_expired()
