"""Single rows that are asked for at the same moment, read by one call. Strongly consistent.

A call of the client costs about as much as the row itself takes to arrive, and a search opens with several.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from shared.adapters.attributes import Item
from shared.adapters.batches import MAX_BATCH, Place, rows_of
from shared.adapters.failures import store_unavailable
from shared.adapters.threads import in_thread
from shared.errors import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class _Round:
    """Who waits for which rows, while more may still join."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.waiters: dict[Place, list[asyncio.Future[Item | None]]] = {}

    def join(self, place: Place) -> asyncio.Future[Item | None]:
        waiter: asyncio.Future[Item | None] = self.loop.create_future()
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

    def row(self, table: str, partition: str, sort: str) -> asyncio.Future[Item | None]:
        """The row as it is now, None where there is none. Fails with `Unavailable`.

        Goes out when whatever the event loop had ready, and what that made ready, has had its turn. A future of its
        own for each that asks: cancelling it fails nobody else.
        """
        loop = asyncio.get_running_loop()
        if self._open is None or self._open.loop is not loop:
            self._open = _Round(loop)
            # Later by two turns: admission asks from within one task more, or less, than the catalogue beside it.
            loop.call_soon(loop.call_soon, self._send, self._open)
        return self._open.join((table, partition, sort))

    def _send(self, asked: _Round) -> None:
        if self._open is asked:
            self._open = None
        wanted = asked.wanted()
        for at in range(0, len(wanted), MAX_BATCH):
            places = wanted[at : at + MAX_BATCH]
            in_thread(rows_of, self._client, places).add_done_callback(partial(_hand_out, asked, places))


def _hand_out(asked: _Round, places: list[Place], read: asyncio.Future[dict[Place, Item]]) -> None:
    problem = read.exception()
    for place in places:
        for waiter in asked.waiters[place]:
            if waiter.done():
                continue
            if problem is None:
                waiter.set_result(read.result().get(place))
            else:
                waiter.set_exception(_own(problem))


def _own(problem: BaseException) -> BaseException:
    """An exception that several raise would collect the traces of all of them."""
    return store_unavailable() if isinstance(problem, Unavailable) else problem
