"""Looking up the credential that a token names."""

from __future__ import annotations

from typing import Protocol

from shared.domain.credentials import Credential


class Credentials(Protocol):
    """`find` returns the stored credential, usable or not, or None. Strongly consistent: a revoked credential
    is refused from the next request on. Raises `Unavailable` when the store cannot be read.
    An adapter is bound to one store: the widget's holds widget credentials alone.
    """

    async def find(self, credential_id: str) -> Credential | None: ...
