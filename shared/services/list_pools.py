"""Shows the pools. Nothing here says what an account has left, or that a service can be reached."""

from __future__ import annotations

from shared.domain.key_pools import ConfiguredKeys, PoolState, nameless_key
from shared.domain.pool_views import PoolView, pool_view
from shared.domain.pools import KEYED_POOLS, Pool
from shared.ports.clock import Clock
from shared.ports.pool_keys import PoolKeys
from shared.ports.pool_ledger import PoolLedger
from shared.services.at_once import both


class ListPools:
    def __init__(self, *, keys: PoolKeys, ledger: PoolLedger, clock: Clock) -> None:
        self._keys = keys
        self._ledger = ledger
        self._clock = clock

    async def __call__(self) -> tuple[PoolView, ...]:
        """Raises `Unavailable`."""
        return tuple([self.view(pool, *await self.read(pool)) for pool in Pool])

    async def read(self, pool: Pool) -> tuple[ConfiguredKeys, PoolState]:
        """Raises `Unavailable`."""
        return await both(self.keys_of(pool), self.state_of(pool))

    async def keys_of(self, pool: Pool) -> ConfiguredKeys:
        """A service that takes no keys has one without a name. Raises `Unavailable`."""
        if pool not in KEYED_POOLS:
            return ConfiguredKeys(keys=(nameless_key(pool),))
        return await self._keys.configured(pool)

    async def state_of(self, pool: Pool) -> PoolState:
        """Raises `Unavailable`."""
        return await self._ledger.state(pool)

    def view(self, pool: Pool, configured: ConfiguredKeys, state: PoolState) -> PoolView:
        return pool_view(pool, configured, state, now=self._clock.now())
