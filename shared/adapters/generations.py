"""The generation of one table's registrations, and a copy of them that is used only while it is the current one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from shared.adapters.attributes import Item, whole_of
from shared.adapters.failures import store_unavailable
from shared.adapters.keys import ONLY
from shared.adapters.rows import first, row, rows
from shared.adapters.source_items import PROVIDERS

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

T = TypeVar("T")

GENERATION: Final = "GENERATION"
_READS = 3
_NO_LIMIT = 1_000  # registrations are limited to fewer


@dataclass(frozen=True, slots=True)
class _Copy(Generic[T]):
    generation: int
    things: tuple[T, ...]


class CurrentRegistrations(Generic[T]):
    """`read` makes a thing of an item, or None to leave it out."""

    def __init__(self, client: DynamoDBClient, *, table: str, read: Callable[[Item], T | None]) -> None:
        self._client = client
        self._table = table
        self._read = read
        self._copy: _Copy[T] | None = None

    def current(self) -> tuple[T, ...]:
        """All that there is now, by ascending id. Nothing where no generation was ever written. Blocking.

        Raises `Unavailable` when the store cannot be read.
        """
        generation = self._generation()
        copy = self._copy
        if copy is not None and copy.generation == generation:
            return copy.things
        return self._read_anew(generation)

    def _read_anew(self, generation: int | None) -> tuple[T, ...]:
        """Reads again while writes arrive in between. After some tries what was read last is used once and not kept:
        each of its items was current when this began.
        """
        things: tuple[T, ...] = ()
        for _ in range(_READS):
            if generation is None:
                return ()
            things = tuple(first(rows(self._client, self._table, PROVIDERS), self._read, limit=_NO_LIMIT))
            before, generation = generation, self._generation()
            if before == generation:
                self._copy = _Copy(generation, things)
                break
        return things

    def _generation(self) -> int | None:
        item = row(self._client, self._table, GENERATION, ONLY)
        if item is None:
            return None
        try:
            return whole_of(item, "generation")
        except (KeyError, TypeError, ValueError):
            raise store_unavailable() from None
