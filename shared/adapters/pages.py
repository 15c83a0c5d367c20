"""Pages of a list that may come out of two tables."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from shared.adapters.attributes import Item
from shared.adapters.rows import first, rows
from shared.adapters.services import DynamoDBClient
from shared.adapters.threads import in_thread
from shared.domain.pages import Page

T = TypeVar("T")


def page_of(things: Sequence[T], *, limit: int, sort_key: Callable[[T], str]) -> Page[T]:
    """A page of up to `limit` of `things`, of which there is one more wherever more lies behind."""
    shown = tuple(things[:limit])
    return Page(shown, next_after=sort_key(shown[-1]) if len(things) > limit else None)


async def page_over(
    client: DynamoDBClient,
    tables: Iterable[str],
    partition: str,
    *,
    read: Callable[[Item], T | None],
    sort_key: Callable[[T], str],
    limit: int,
    after: str | None,
) -> Page[T]:
    """Ascending over one partition of several tables, read at the same time. Raises `Unavailable`."""

    def of_table(table: str) -> list[T]:
        return first(rows(client, table, partition, after=after, page_rows=limit + 1), read, limit=limit + 1)

    found = await asyncio.gather(*(in_thread(of_table, table) for table in tables))
    return page_of(sorted((thing for part in found for thing in part), key=sort_key), limit=limit, sort_key=sort_key)
