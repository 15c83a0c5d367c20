"""Allowances, for whoever only looks at them."""

from __future__ import annotations

from shared.adapters.allowance_rows import SORT, allowance_of
from shared.adapters.pool_ledger import POOL
from shared.adapters.rows import row
from shared.adapters.services import DynamoDBClient
from shared.adapters.threads import in_thread
from shared.domain.allowances import Allowance
from shared.domain.pools import Pool


class DynamoAllowanceReader:
    """Implements `ports.allowances.AllowanceReader`."""

    def __init__(self, client: DynamoDBClient, *, table: str) -> None:
        self._client = client
        self._table = table

    async def read(self, pool: Pool) -> Allowance:
        return await in_thread(self._read, pool)

    def _read(self, pool: Pool) -> Allowance:
        return allowance_of(pool, row(self._client, self._table, POOL + pool, SORT) or {})
