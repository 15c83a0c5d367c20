"""What the probe has found, and that only one run finds it at a time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from shared.domain.health import HealthRecords, ProbeRun, ProviderHealth


class HealthReader(Protocol):
    async def records(self) -> HealthRecords:
        """Strongly consistent. A row that cannot be read is left out. The last run that finished is kept while the next
        one goes on, and when that is cut off. Raises `Unavailable`.
        """
        ...


class HealthBook(HealthReader, Protocol):
    """All raise `Unavailable` when the store cannot be used."""

    async def begin(self, run_id: str, *, now: float, every_s: float, lease_s: float) -> bool:
        """Claims the run that is due, by one conditional write: False when less than `every_s` have passed since the
        last one began, or one that has not finished holds its lease. Of several that ask at once one is let through.
        """
        ...

    async def finish(self, run: ProbeRun) -> None:
        """Ends the lease. Does nothing when another run has begun since."""
        ...

    async def keep(self, healths: Sequence[ProviderHealth], *, forget: Collection[str]) -> None:
        """Writes what has changed and removes the rows of providers that are gone."""
        ...
