"""Ends the rest of keys because an operator says so: an account was topped up, say."""

from __future__ import annotations

from collections.abc import Sequence

from shared.domain.auditing import new_entry
from shared.domain.changes import Change
from shared.domain.credentials import Principal
from shared.domain.key_pools import PoolKey
from shared.domain.pool_views import PoolView
from shared.domain.pools import KEYED_POOLS, Pool
from shared.ports.clock import Clock
from shared.ports.pool_desk import PoolDesk
from shared.services.list_pools import ListPools
from shared.services.rest_key import key_named
from shared.services.wake_service import WakeService


class WakeKeys:
    def __init__(self, *, pools: ListPools, desk: PoolDesk, service: WakeService, clock: Clock) -> None:
        self._pools = pools
        self._desk = desk
        self._service = service
        self._clock = clock

    async def __call__(self, pool: Pool, name: str | None, *, by: Principal) -> PoolView:
        """The pool afterwards. `name` is None for all its keys, and for a service without keys, which is then asked
        again at once; nothing is written where none rests.

        Raises `NotFound` for a name that is no key of the pool, `Conflict` (`busy`), `Unavailable`.
        """
        configured, state = await self._pools.read(pool)
        meant = configured.keys if name is None else (key_named(name, configured),)
        now = self._clock.now()
        resting = [key for key in meant if state.is_resting(key.fingerprint, now=now)]
        if resting:
            fingerprints = [key.fingerprint for key in resting]
            state = await self._desk.wake(pool, fingerprints, change=self._change(pool, resting, by=by))
        if pool not in KEYED_POOLS:
            await self._service(pool)
        return self._pools.view(pool, configured, state)

    def _change(self, pool: Pool, keys: Sequence[PoolKey], *, by: Principal) -> Change:
        entry = new_entry(
            at=self._clock.now(),
            actor=by.credential_id,
            action="pool.keys_woken",
            resource=f"pool/{pool}",
            after={"keys": [key.name for key in keys if key.name]},
        )
        return Change(audit=entry)
