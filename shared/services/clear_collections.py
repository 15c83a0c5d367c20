"""Clears away what deleted collections have left in the store, a bounded piece at a time."""

from __future__ import annotations

from dataclasses import dataclass

from shared.ports.card_sweeper import CardSweeper
from shared.ports.clock import Clock

_COLLECTIONS = 20
_ROWS = 500


@dataclass(frozen=True, slots=True)
class Cleared:
    """`finished` collections are gone whole; `is_done` says that none is left."""

    finished: int
    is_done: bool


class ClearCollections:
    """May be interrupted at any point and run twice at once: whoever comes later goes on with what is left."""

    def __init__(self, *, sweeper: CardSweeper, clock: Clock) -> None:
        self._sweeper = sweeper
        self._clock = clock

    async def __call__(self, *, budget_s: float) -> Cleared:
        """Begins no piece after `budget_s`. Raises `Unavailable`."""
        until = self._clock.monotonic() + budget_s
        finished = 0
        while left := await self._sweeper.deleting(limit=_COLLECTIONS):
            for collection_id in left:
                if not await self._clear(collection_id, until=until):
                    return Cleared(finished, is_done=False)
                finished += 1
        return Cleared(finished, is_done=True)

    async def _clear(self, collection_id: str, *, until: float) -> bool:
        while self._clock.monotonic() < until:
            if await self._sweeper.sweep(collection_id, limit=_ROWS):
                return True
        return False
