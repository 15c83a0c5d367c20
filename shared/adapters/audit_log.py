"""Reading the audit."""

from __future__ import annotations

import time
from collections.abc import Callable

from shared.adapters.attributes import Item, whole_of
from shared.adapters.audit_items import AUDIT, entry_of
from shared.adapters.keys import EXPIRES_AT
from shared.adapters.pages import page_of
from shared.adapters.rows import first, rows
from shared.adapters.services import DynamoDBClient
from shared.adapters.threads import in_thread
from shared.adapters.unreadable import readable
from shared.domain.audit import AuditEntry
from shared.domain.pages import Page

_entry = readable(entry_of)


class DynamoAuditLog:
    """Implements `ports.audit_log.AuditLog`. `now` gives Unix seconds: lines past their time are not shown."""

    def __init__(self, client: DynamoDBClient, *, table: str, now: Callable[[], float] = time.time) -> None:
        self._client = client
        self._table = table
        self._now = now

    async def page(self, *, limit: int, after: str | None) -> Page[AuditEntry]:
        entries = await in_thread(self._entries, limit=limit + 1, after=after)
        return page_of(entries, limit=limit, sort_key=lambda entry: entry.id)

    def _entries(self, *, limit: int, after: str | None) -> list[AuditEntry]:
        found = rows(self._client, self._table, AUDIT, after=after, newest_first=True, page_rows=limit)
        return first(found, self._kept, limit=limit)

    def _kept(self, item: Item) -> AuditEntry | None:
        return _entry(item) if whole_of(item, EXPIRES_AT) > self._now() else None
