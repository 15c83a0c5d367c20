"""What a pool may still do today: reserved before, settled after."""

from __future__ import annotations

from typing import Protocol

from shared.domain.allowances import Allowance, Reservation, Review
from shared.domain.changes import Change
from shared.domain.pools import Pool


class Allowances(Protocol):
    """Concurrent reservations never exceed the limit. All raise `Unavailable` when the store cannot be used."""

    async def reserve(self, pool: Pool) -> Reservation:
        """One unit; a single write while the day's limit is not reached. Raises `Refused` (`allowance_exhausted`, with
        `retry_at` where time alone frees a unit).
        """
        ...

    async def confirm(self, reservation: Reservation) -> None:
        """The operation was made. Settling twice changes nothing the second time."""
        ...

    async def release(self, reservation: Reservation) -> None:
        """The operation was certainly not made: the unit is free again."""
        ...


class AllowanceReader(Protocol):
    async def read(self, pool: Pool) -> Allowance:
        """One read, no write. Raises `Unavailable`."""
        ...


class AllowanceDesk(AllowanceReader, Protocol):
    """What an operator does with allowances. All raise `Unavailable` when the store cannot be used."""

    async def change(
        self, pool: Pool, *, limit: int, review: Review, expected_generation: int, change: Change
    ) -> Allowance:
        """Sets the limit and settles reviewed units, in the transaction of its audit entry. `generation` grows by one.
        Raises `PreconditionFailed` for another generation, `Conflict` (`nothing_unknown`) when fewer units are
        unknown than were reviewed.
        """
        ...
