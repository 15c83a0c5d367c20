"""Clearing away what deleted collections have left in the store: all that the probe may do with cards."""

from __future__ import annotations

from typing import Protocol


class CardSweeper(Protocol):
    """Like the two methods of the same names of `CardStore`. Raises `Unavailable`."""

    async def deleting(self, *, limit: int) -> tuple[str, ...]:
        """Ids of collections that are to be cleared away."""
        ...

    async def sweep(self, collection_id: str, *, limit: int) -> bool:
        """Clears away up to about `limit` rows of a collection that is being deleted; True when nothing is left, the
        tombstone included. May be repeated and interrupted at any point. Touches no other collection.
        """
        ...
