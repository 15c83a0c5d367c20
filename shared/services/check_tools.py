"""Looks at a hosted service that offers tools and takes no keys: which tools it lists. None is called, so no unit is
reserved.

All providers of a service are one service: it is asked once in a run, however many there are. While it rests, or may
not be used, it is not asked; one that says that it was asked too often rests, for searches too.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final, TypeAlias

from shared.domain.deadlines import Deadline
from shared.domain.health import Finding, Look
from shared.domain.key_pools import REST_BY_DEFAULT_S, Rest, free_again_at, nameless_key
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import Warning_
from shared.domain.pools import Pool
from shared.domain.registrations import Provider, ProviderConfig, Source
from shared.errors import ExchangeError, Refused, Unavailable
from shared.ports.allowances import AllowanceReader
from shared.ports.clock import Clock
from shared.ports.exchange import Exchange, Exchanges
from shared.ports.pool_ledger import PoolLedger
from shared.services.at_once import both
from shared.services.looking import Looking, NotedExchange

SHARED_FOR_S: Final = 10.0

# Whether the wanted tool is listed as usual; raises the `ExchangeError` family.
Offers: TypeAlias = "Callable[[Source, Exchange], Awaitable[bool]]"


class CheckTools:
    """Implements `ports.check.Check`. `endpoint` is where the service is; a registration cannot say otherwise."""

    def __init__(
        self,
        *,
        offers: Offers,
        pool: Pool,
        endpoint: str,
        ledger: PoolLedger,
        allowances: AllowanceReader,
        exchanges: Exchanges,
        clock: Clock,
    ) -> None:
        self._offers = offers
        self._pool = pool
        self._endpoint = endpoint
        self._ledger = ledger
        self._allowances = allowances
        self._clock = clock
        self._look = Looking(Look.TOOLS, exchanges=exchanges, clock=clock)
        self._turns: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._found: dict[str, tuple[Finding, float]] = {}

    async def __call__(self, provider: Provider, *, deadline: Deadline) -> Finding:
        way = _way_of(provider.source.config)
        async with self._turns[way]:
            known, at_s = self._found.get(way, (None, 0.0))
            if known is not None and self._clock.monotonic() - at_s < SHARED_FOR_S:
                return known
            source = replace(provider.source, base_url=self._endpoint)
            finding = await self._look(source, self._listed_of(source), deadline=deadline)
            self._found[way] = (finding, self._clock.monotonic())
            return finding

    def _listed_of(self, source: Source) -> Callable[[NotedExchange], Awaitable[tuple[Warning_, ...]]]:
        async def listed(exchange: NotedExchange) -> tuple[Warning_, ...]:
            await self._check_free()
            try:
                is_usual = await self._offers(source, exchange)
            except ExchangeError as error:
                if error.code == OutcomeCode.RATE_LIMITED:
                    await self._rest(error.retry_at)
                raise
            return () if is_usual else (Warning_.CAPABILITIES_CHANGED,)

        return listed

    async def _check_free(self) -> None:
        """Raises `Refused`: `rate_limited` while the service rests, `allowance_exhausted` while no unit is left."""
        now, key = self._clock.now(), nameless_key(self._pool)
        state, allowance = await both(self._ledger.state(self._pool), self._allowances.read(self._pool))
        if state.is_resting(key.fingerprint, now=now):
            raise Refused(OutcomeCode.RATE_LIMITED, retry_at=free_again_at((key,), state, now=now))
        free_at = allowance.free_again_at(now)
        if free_at is None or free_at > now:
            raise Refused(OutcomeCode.ALLOWANCE_EXHAUSTED, retry_at=free_at)

    async def _rest(self, retry_at: float | None) -> None:
        """A rest that cannot be written is lost: the service refuses the next search itself."""
        until = retry_at or self._clock.now() + REST_BY_DEFAULT_S["rate"]
        try:
            await self._ledger.rest(
                self._pool, [nameless_key(self._pool).fingerprint], Rest(until, "rate"), active=None
            )
        except Unavailable:
            return


def _way_of(config: ProviderConfig | None) -> str:
    """What of a registration decides where its service is asked."""
    return str(getattr(config, "endpoint", ""))
