"""What is remembered of executions, so that none is ever sent twice."""

from __future__ import annotations

from typing import Protocol

from shared.domain.alexandria import Holder, Receipt


class Receipts(Protocol):
    """One receipt for each holder and request id, for 30 days; one that has ended counts as absent everywhere. All
    raise `Unavailable` when the store cannot be used: whether `begin` and `settle` wrote is not certain then.
    """

    async def find(self, holder: Holder, request_id: str) -> Receipt | None:
        """Strongly consistent; as it was written, whether its lease is over or not."""
        ...

    async def begin(self, receipt: Receipt) -> Receipt | None:
        """Writes a `started` receipt where there is none, or a `refused` one with the same fingerprint. Of many at once
        one succeeds, across all instances: None for that one, for the others the receipt that is in the way.
        """
        ...

    async def settle(self, receipt: Receipt) -> None:
        """Writes the outcome of the execution that this very claim began; changes nothing when it is settled, or when
        another claim holds the place.
        """
        ...
