"""Clearing away deleted collections, by a role that may do nothing else with cards."""

from __future__ import annotations

from shared.adapters import card_sweep
from shared.adapters.services import DynamoDBClient
from shared.adapters.threads import in_thread


class DynamoCardSweeper:
    """Implements `ports.card_sweeper.CardSweeper`."""

    def __init__(self, client: DynamoDBClient, *, table: str) -> None:
        self._client = client
        self._table = table

    async def deleting(self, *, limit: int) -> tuple[str, ...]:
        return await in_thread(card_sweep.deleting, self._client, self._table, limit=limit)

    async def sweep(self, collection_id: str, *, limit: int) -> bool:
        return await in_thread(card_sweep.sweep, self._client, self._table, collection_id, limit=limit)
