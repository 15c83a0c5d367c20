"""The changes of providers' states that are kept for 30 days."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from shared.domain.journal import JournalEntry


class Journal(Protocol):
    """Raises `Unavailable` when the store cannot be used."""

    async def note(self, entries: Sequence[JournalEntry]) -> None:
        """Each is kept, also where several are of the same provider and moment; but of one that `is_once`, noted again,
        one. Nothing to note costs nothing.
        """
        ...


class JournalReader(Protocol):
    async def latest(self, provider_id: str, *, limit: int) -> tuple[JournalEntry, ...]:
        """Newest first; none that is older than 30 days, whether the store has cleared it away or not. Raises
        `Unavailable`.
        """
        ...
