"""What operators do with the keys of a pool, in memory: over the same states as `FakePoolLedger`."""

from __future__ import annotations

from collections.abc import Sequence

from shared.domain.changes import Change
from shared.domain.key_pools import PoolState, Rest
from shared.domain.pools import Pool
from tests.support.fakes import Failing, FakeStore
from tests.support.live_fakes import FakePoolLedger


class FakePoolDesk(Failing):
    def __init__(self, ledger: FakePoolLedger, store: FakeStore) -> None:
        self.ledger = ledger
        self.store = store

    async def rest(self, pool: Pool, fingerprint: str, rest: Rest, *, active: str | None, change: Change) -> PoolState:
        self._may_fail()
        known = self.ledger.states.get(pool, PoolState()).rests.get(fingerprint)
        if known is None or known.until < rest.until:
            await self.ledger.rest(pool, [fingerprint], rest, active=active)
            self.store.note(change)
        return await self.ledger.state(pool)

    async def wake(self, pool: Pool, fingerprints: Sequence[str], *, change: Change) -> PoolState:
        self._may_fail()
        self.store.note(change)
        return await self.ledger.wake(pool, fingerprints)
