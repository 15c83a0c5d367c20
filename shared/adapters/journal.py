"""The journal's writing side: one row an entry, all written at once."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING

from shared.adapters.failures import of_store
from shared.adapters.services import DynamoDBClient
from shared.adapters.threads import in_thread

if TYPE_CHECKING:
    from shared.domain.journal import JournalEntry


class DynamoJournal:
    """Implements `ports.journal.Journal`."""

    def __init__(self, client: DynamoDBClient, *, table: str) -> None:
        self._client = client
        self._table = table

    async def note(self, entries: Sequence[JournalEntry]) -> None:
        await asyncio.gather(*(in_thread(self._put, entry) for entry in entries))

    @of_store
    def _put(self, entry: JournalEntry) -> None:
        from shared.adapters.journal_items import item_of  # when there is something to note

        suffix = f"{entry.happening}#{entry.lane}" if entry.is_once else secrets.token_hex(4)
        self._client.put_item(TableName=self._table, Item=item_of(entry, suffix=suffix))
