"""Makes a key rest because an operator says so."""

from __future__ import annotations

from shared.domain.auditing import new_entry
from shared.domain.changes import Change
from shared.domain.credentials import Principal
from shared.domain.key_pools import ConfiguredKeys, PoolKey, Rest, next_active
from shared.domain.pool_views import PoolView
from shared.domain.pools import Pool
from shared.domain.preconditions import existing
from shared.ports.clock import Clock
from shared.ports.pool_desk import PoolDesk
from shared.services.list_pools import ListPools


class RestKey:
    def __init__(self, *, pools: ListPools, desk: PoolDesk, clock: Clock) -> None:
        self._pools = pools
        self._desk = desk
        self._clock = clock

    async def __call__(self, pool: Pool, name: str, *, seconds: int, by: Principal) -> PoolView:
        """The pool afterwards. A rest that already ends later stays, and nothing is written.

        Raises `NotFound` for a name that is no key of the pool, `Conflict` (`busy`), `Unavailable`.
        """
        configured, state = await self._pools.read(pool)
        key, now = key_named(name, configured), self._clock.now()
        until = now + seconds
        known = state.rests.get(key.fingerprint)
        if known is None or known.until < until:
            active = next_active(configured.keys, state, resting=(key.fingerprint,), until=until, now=now)
            change = self._change(pool, key, known=known, until=until, by=by)
            rest = Rest(until, "operator")
            state = await self._desk.rest(pool, key.fingerprint, rest, active=active, change=change)
        return self._pools.view(pool, configured, state)

    def _change(self, pool: Pool, key: PoolKey, *, known: Rest | None, until: float, by: Principal) -> Change:
        now = self._clock.now()
        rested_until = known.until if known and known.until > now else None
        entry = new_entry(
            at=now,
            actor=by.credential_id,
            action="pool.key_rested",
            resource=f"pool/{pool}",
            before={"restsUntil": None if rested_until is None else round(rested_until)},
            after={"keys": [key.name], "restsUntil": round(until)},
        )
        return Change(audit=entry)


def key_named(name: str, configured: ConfiguredKeys) -> PoolKey:
    """Raises `NotFound`."""
    return existing(next((key for key in configured.keys if key.name == name), None))
