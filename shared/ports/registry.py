"""Reading and writing registrations: the admin's view."""

from __future__ import annotations

from typing import Protocol

from shared.domain.changes import Change
from shared.domain.pages import Page
from shared.domain.registrations import Provider


class Registry(Protocol):
    """Every write is one transaction: the item, its name row, the exposure's generation, the audit entry and the
    idempotency record are all written or none is. A provider that is bound to an instance also has a row for what it
    is bound to, and is listed by its instance: it is written only while the instance has the generation that is in the
    provider's link, and is read together with the instance as that is now. `credential_key` is as for instances, for a
    provider with a credential of its own; None keeps the one that is stored.

    Raises `Conflict` `name_taken` (names are unique per exposure profile, compared by
    `domain.names.name_key`),
    `provider_limit_reached` (200 per exposure profile), `idempotency_key_used` (the record is already there),
    `already_bound`, `config_changed` (the instance is gone or has another generation), `binding_limit_reached` (30 per
    instance), `credential_used_elsewhere`,
    `PreconditionFailed` when the stored generation is not `expected_generation`,
    `NotFound` when there is nothing to replace or delete, `Unavailable` when the store cannot be used.
    """

    async def get(self, provider_id: str) -> Provider | None:
        """Strongly consistent. None for unknown and for malformed ids."""
        ...

    async def page(self, *, limit: int, after: str | None) -> Page[Provider]:
        """Ascending by id, over both exposure profiles."""
        ...

    async def create(self, provider: Provider, change: Change, *, credential_key: str | None = None) -> None: ...

    async def replace(
        self, provider: Provider, *, expected_generation: int, change: Change, credential_key: str | None = None
    ) -> None:
        """`provider.generation` must be `expected_generation + 1`. id, exposure profile, kind and what it is bound to
        never change.
        """
        ...

    async def delete(self, provider: Provider, *, expected_generation: int, change: Change) -> None: ...

    async def delete_unreadable(self, provider_id: str, *, change: Change) -> None:
        """One that is stored and that `get` cannot read, with all that belongs to it. Raises `NotFound` where nothing
        is stored, `PreconditionFailed` where it can be read.
        """
        ...
