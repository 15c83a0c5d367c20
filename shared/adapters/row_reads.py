"""Single rows that are asked for at the same moment, read by one call. Strongly consistent.

A call of the client costs about as much as the row itself takes to arrive, and a search opens with several.
"""

from __future__ import annotations

import asyncio
from functools import partial

from shared.adapters.attributes import Item
from shared.adapters.batches import MAX_BATCH, Place, RowsRead, rows_where_possible
from shared.adapters.failures import store_unavailable
from shared.adapters.services import DynamoDBClient
from shared.adapters.threads import in_thread
from shared.errors import Unavailable


class _Round:
    """Who waits for which rows, while more may still join."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.waiters: dict[Place, list[asyncio.Future[Item | None]]] = {}
        self.dispensable: set[Place] = set()

    def join(self, place: Place, *, is_needed: bool) -> asyncio.Future[Item | None]:
        waiter: asyncio.Future[Item | None] = self.loop.create_future()
        if is_needed:
            self.dispensable.discard(place)
        elif place not in self.waiters:
            self.dispensable.add(place)
        self.waiters.setdefault(place, []).append(waiter)
        return waiter

    def wanted(self) -> list[Place]:
        """Without the rows that nobody waits for any more."""
        return [place for place, waiters in self.waiters.items() if not all(waiter.done() for waiter in waiters)]


class RowReads:
    """One for a process, for all that read single rows there, so that they can share a call.

    Always a batch, also for one row: what a role has to allow must not hang on who happened to ask together.
    """

    def __init__(self, client: DynamoDBClient) -> None:
        self._client = client
        self._open: _Round | None = None

    def row(self, table: str, partition: str, sort: str, *, is_needed: bool = True) -> asyncio.Future[Item | None]:
        """The row as it is now, None where there is none. Fails with `Unavailable`. One that is not needed is asked
        for once: it fails alone, and holds up none of those that are asked for just then.

        Goes out when whatever the event loop had ready, and what that made ready, has had its turn. A future of its
        own for each that asks: cancelling it fails nobody else.
        """
        loop = asyncio.get_running_loop()
        if self._open is None or self._open.loop is not loop:
            self._open = _Round(loop)
            # Later by two turns: admission asks from within one task more, or less, than the catalogue beside it.
            loop.call_soon(loop.call_soon, self._send, self._open)
        return self._open.join((table, partition, sort), is_needed=is_needed)

    def _send(self, asked: _Round) -> None:
        if self._open is asked:
            self._open = None
        wanted = asked.wanted()
        for at in range(0, len(wanted), MAX_BATCH):
            places = wanted[at : at + MAX_BATCH]
            in_thread(self._read, places, asked.dispensable).add_done_callback(partial(_hand_out, asked, places))

    def _read(self, places: list[Place], dispensable: set[Place]) -> RowsRead:
        return rows_where_possible(self._client, places, dispensable=dispensable)


def _hand_out(asked: _Round, places: list[Place], read: asyncio.Future[RowsRead]) -> None:
    problem = read.exception()
    for place in places:
        for waiter in asked.waiters[place]:
            if waiter.done():
                continue
            if problem is not None:
                waiter.set_exception(_own(problem))
            elif place in read.result().unread:
                waiter.set_exception(store_unavailable())
            else:
                waiter.set_result(read.result().found.get(place))


def _own(problem: BaseException) -> BaseException:
    """An exception that several raise would collect the traces of all of them."""
    return store_unavailable() if isinstance(problem, Unavailable) else problem
