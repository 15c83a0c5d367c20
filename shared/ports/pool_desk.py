"""What an operator does with the keys of a pool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from shared.domain.changes import Change
from shared.domain.key_pools import PoolState, Rest
from shared.domain.pools import Pool


class PoolDesk(Protocol):
    """Like the writes of `ports.pool_ledger.PoolLedger`, each in the transaction of its audit entry.

    Both raise `Conflict` (`busy`) when others keep changing the same pool, `Unavailable` when the store cannot be used.
    """

    async def rest(self, pool: Pool, fingerprint: str, rest: Rest, *, active: str | None, change: Change) -> PoolState:
        """The key rests until `rest.until`; a rest that already ends later stays as it is, and nothing is written
        then. `active` is the key in use from now on; None leaves that as it is. Returns the state afterwards.
        """
        ...

    async def wake(self, pool: Pool, fingerprints: Sequence[str], *, change: Change) -> PoolState:
        """The keys rest no longer. Returns the state afterwards."""
        ...
