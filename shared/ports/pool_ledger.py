"""Which key of a pool is in use and which ones rest, shared by all instances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from shared.domain.key_pools import PoolState, Rest
from shared.domain.pools import Pool


class PoolLedger(Protocol):
    """Every read is as the last write left it. All raise `Unavailable` when the store cannot be used."""

    async def state(self, pool: Pool) -> PoolState:
        """One read, no write."""
        ...

    async def rest(self, pool: Pool, fingerprints: Sequence[str], rest: Rest, *, active: str | None) -> PoolState:
        """The keys rest until `rest.until`, and `active` is the one in use (None: that stays as it is): one write when
        nobody writes at the same moment. A rest that already ends later stays as it is, whoever wrote it; then `active`
        counts only if it does not rest by now. Returns the state afterwards.
        """
        ...

    async def wake(self, pool: Pool, fingerprints: Sequence[str]) -> PoolState:
        """An operator's word: the keys rest no longer. Returns the state afterwards."""
        ...
