"""The generation of one table's registrations, and a copy of them that is used only while it is the current one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeVar

from shared.adapters.attributes import Item, whole_of
from shared.adapters.failures import store_unavailable
from shared.adapters.found_instances import FoundInstances
from shared.adapters.instance_items import FindInstance
from shared.adapters.keys import ONLY
from shared.adapters.row_reads import RowReads
from shared.adapters.rows import first, row, rows
from shared.adapters.services import DynamoDBClient
from shared.adapters.source_items import PROVIDERS
from shared.adapters.threads import in_thread
from shared.domain.registrations import Source


class Registered(Protocol):
    """What one registration becomes, for whoever reads them."""

    @property
    def source(self) -> Source: ...


T = TypeVar("T", bound=Registered)

GENERATION: Final = "GENERATION"
_READS = 3
_NO_LIMIT = 1_000  # registrations are limited to fewer


@dataclass(frozen=True, slots=True)
class _Copy(Generic[T]):
    generation: int
    things: tuple[T, ...]


class CurrentRegistrations(Generic[T]):
    """`read` makes a thing of an item, or None to leave it out; it is given what finds the instance of a binding, at
    the price of one reading more for all of them.

    In two steps, futures both and no tasks, so that several tables can be read at once and none is left behind.
    """

    def __init__(
        self, client: DynamoDBClient, *, reads: RowReads, table: str, read: Callable[[Item, FindInstance], T | None]
    ) -> None:
        self._client = client
        self._reads = reads
        self._table = table
        self._read = read
        self._copy: _Copy[T] | None = None

    def generation_row(self) -> asyncio.Future[Item | None]:
        """Fails with `Unavailable`."""
        return self._reads.row(self._table, GENERATION, ONLY)

    def at(self, generation_row: Item | None) -> asyncio.Future[tuple[T, ...]]:
        """All that there is now, in the order of registration. Nothing where no generation was ever written.
        `generation_row` as it was read just now.

        Fails with `Unavailable` when the store cannot be read, raises it when the generation cannot.
        """
        generation = _generation_of(generation_row)
        copy = self._copy
        if copy is None or copy.generation != generation:
            return in_thread(self._read_anew, generation)
        known: asyncio.Future[tuple[T, ...]] = asyncio.get_running_loop().create_future()
        known.set_result(copy.things)
        return known

    def _read_anew(self, generation: int | None) -> tuple[T, ...]:
        """Reads again while writes arrive in between. After some tries what was read last is used once and not kept:
        each of its items was current when this began.
        """
        things: tuple[T, ...] = ()
        for _ in range(_READS):
            if generation is None:
                return ()
            things = self._all_there_are()
            before, generation = generation, self._generation_now()
            if before == generation:
                self._copy = _Copy(generation, things)
                break
        return things

    def _all_there_are(self) -> tuple[T, ...]:
        find = FoundInstances(self._client, self._table)
        found = rows(self._client, self._table, PROVIDERS)
        return in_order(first(found, lambda item: self._read(item, find), limit=_NO_LIMIT))

    def _generation_now(self) -> int | None:
        return _generation_of(row(self._client, self._table, GENERATION, ONLY))


def in_order(things: Iterable[T]) -> tuple[T, ...]:
    return tuple(sorted(things, key=lambda thing: thing.source.registered))


def _generation_of(item: Item | None) -> int | None:
    if item is None:
        return None
    try:
        return whole_of(item, "generation")
    except (KeyError, TypeError, ValueError):
        raise store_unavailable() from None
