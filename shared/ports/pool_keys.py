"""The numbered keys of a pool, as an operator has configured them."""

from __future__ import annotations

from typing import Protocol

from shared.domain.key_pools import ConfiguredKeys
from shared.domain.pools import Pool


class PoolKeys(Protocol):
    """Read from the secret store, at most five minutes old. A pool without a secret, or whose secret is no JSON
    object of names, has no keys. Raises `Unavailable` (`secrets_unavailable`) when the store cannot be used.
    """

    async def configured(self, pool: Pool) -> ConfiguredKeys: ...
