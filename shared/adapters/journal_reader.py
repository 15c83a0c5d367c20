"""The journal's reading side."""

from __future__ import annotations

from itertools import takewhile
from typing import Final

from shared.adapters.attributes import text_of
from shared.adapters.journal_items import HISTORY, moment_of, readable_entry
from shared.adapters.keys import SORT_KEY
from shared.adapters.rows import first, rows
from shared.adapters.services import DynamoDBClient
from shared.adapters.threads import in_thread
from shared.domain.journal import KEPT_FOR_S, JournalEntry
from shared.ports.clock import Clock

_PAGE_ROWS: Final = 100


class DynamoJournalReader:
    """Implements `ports.journal.JournalReader`."""

    def __init__(self, client: DynamoDBClient, *, table: str, clock: Clock) -> None:
        self._client = client
        self._table = table
        self._clock = clock

    async def latest(self, provider_id: str, *, limit: int) -> tuple[JournalEntry, ...]:
        return tuple(await in_thread(self._latest, provider_id, limit))

    def _latest(self, provider_id: str, limit: int) -> list[JournalEntry]:
        """Stops at the first that is too old: the store takes its time with clearing away."""
        oldest = moment_of(self._clock.now() - KEPT_FOR_S)
        page_rows = min(limit, _PAGE_ROWS)
        found = rows(self._client, self._table, HISTORY + provider_id, newest_first=True, page_rows=page_rows)
        kept = takewhile(lambda item: text_of(item, SORT_KEY).partition("#")[0] > oldest, found)
        return first(kept, readable_entry, limit=limit)
