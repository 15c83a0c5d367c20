"""Reading and writing credentials: the admin's view."""

from __future__ import annotations

from typing import Protocol

from shared.domain.changes import Change
from shared.domain.credentials import Credential
from shared.domain.pages import Page
from shared.domain.root import RootSwitch


class CredentialStore(Protocol):
    """Every write is one transaction with its audit entry, idempotency record and, for widget credentials, the index
    rows of its origins. Raises like `Registry`.
    """

    async def get(self, credential_id: str) -> Credential | None:
        """Looks in every class. Strongly consistent."""
        ...

    async def page(self, *, limit: int, after: str | None) -> Page[Credential]:
        """Ascending by id, over all classes."""
        ...

    async def create(self, credential: Credential, change: Change) -> None: ...

    async def replace(self, credential: Credential, *, expected_generation: int, change: Change) -> None: ...

    async def delete(self, credential: Credential, *, expected_generation: int, change: Change) -> None: ...

    async def root_switch(self) -> RootSwitch:
        """On, in its first generation, until somebody switched it. Strongly consistent."""
        ...

    async def switch_root(self, switch: RootSwitch, *, expected_generation: int, change: Change) -> None:
        """`switch.generation` must be `expected_generation + 1`. Switching off raises `Conflict` (`last_admin`)
        without another active admin that has no end.
        """
        ...
