"""The secret of the first admin, made by the stack."""

from __future__ import annotations

from typing import Protocol


class RootSecret(Protocol):
    """`read` returns the secret part of the root token (64 hex). Kept in memory for at most 5 minutes.
    Raises `Unavailable` (`secrets_unavailable`) when it cannot be read or is malformed.
    """

    async def read(self) -> str: ...
