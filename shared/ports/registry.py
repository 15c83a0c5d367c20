"""Reading and writing registrations: the admin's view."""

from __future__ import annotations

from typing import Protocol

from shared.domain.changes import Change
from shared.domain.pages import Page
from shared.domain.registrations import Provider


class Registry(Protocol):
    """Every write is one transaction: the item, its name row, the exposure's generation, the audit entry and the
    idempotency record are all written or none is.

    Raises `Conflict` `name_taken` (names are unique per exposure profile, compared by
    `domain.names.name_key`),
    `provider_limit_reached` (200 per exposure profile), `idempotency_key_used` (the record is already there),
    `PreconditionFailed` when the stored generation is not `expected_generation`,
    `NotFound` when there is nothing to replace or delete, `Unavailable` when the store cannot be used.
    """

    async def get(self, provider_id: str) -> Provider | None:
        """Strongly consistent. None for unknown and for malformed ids."""
        ...

    async def page(self, *, limit: int, after: str | None) -> Page[Provider]:
        """Ascending by id, over both exposure profiles."""
        ...

    async def create(self, provider: Provider, change: Change) -> None: ...

    async def replace(self, provider: Provider, *, expected_generation: int, change: Change) -> None:
        """`provider.generation` must be `expected_generation + 1`. id and exposure profile never change."""
        ...

    async def delete(self, provider: Provider, *, expected_generation: int, change: Change) -> None: ...
