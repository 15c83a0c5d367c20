"""Reading and writing self-hosted instances: the admin's view."""

from __future__ import annotations

from typing import Protocol

from shared.domain.changes import Change
from shared.domain.instances import Instance
from shared.domain.pages import Page
from shared.domain.registrations import Provider


class Instances(Protocol):
    """Every write is one transaction: the item, its name row, the exposure's generation, the audit entry and the
    idempotency record are all written or none is. `credential_key` (see `ports.credential_keys`) stands for the
    credential, whatever server it is for: the same one cannot be used under the other exposure profile. It is given up
    with the last instance that has it.

    Raises `Conflict` `name_taken`, `instance_limit_reached` (50 per exposure profile), `credential_used_elsewhere`,
    `instance_in_use`, `idempotency_key_used`, `busy`; `PreconditionFailed` when the stored generation is not the
    expected one, `NotFound` when there is nothing to replace or delete, `Unavailable` when the store cannot be used.
    """

    async def get(self, instance_id: str) -> Instance | None:
        """Strongly consistent. None for unknown and for malformed ids."""
        ...

    async def page(self, *, limit: int, after: str | None) -> Page[Instance]:
        """Ascending by id, over both exposure profiles."""
        ...

    async def bindings(self, instance_id: str) -> tuple[Provider, ...]:
        """The providers that are bound to it, by ascending id; none for an instance that is not there."""
        ...

    async def create(self, instance: Instance, change: Change, *, credential_key: str | None) -> None: ...

    async def replace(
        self,
        instance: Instance,
        *,
        expected_generation: int,
        change: Change,
        credential_key: str | None,
        disable: frozenset[str] = frozenset(),
    ) -> None:
        """`instance.generation` must be `expected_generation + 1`; id, kind and exposure profile never change.
        `disable` are the ids of bindings that this change switches off until a test passes, whether they can be read or
        not (the generation of each one higher, all else as before). `credential_key` None keeps the one that is
        stored, unless there is no credential any more. Raises `Conflict` (`busy`) when the instance's `binding_ids`
        are not those any more that were read with it: one might be missing from `disable`.
        """
        ...

    async def delete(
        self,
        instance: Instance,
        *,
        expected_generation: int,
        change: Change,
        bindings: frozenset[str] = frozenset(),
    ) -> None:
        """With exactly the bindings that exist, by id and whether they can be read or not, in the same transaction.
        Raises `Conflict` (`instance_in_use`, whose `facts` list them under `bindings`) where others exist than were
        named.
        """
        ...

    async def delete_unreadable(
        self, instance_id: str, *, change: Change, bindings: frozenset[str] = frozenset()
    ) -> None:
        """One that is stored and that `get` cannot read. Raises like `delete`; `PreconditionFailed` where it can be
        read.
        """
        ...
