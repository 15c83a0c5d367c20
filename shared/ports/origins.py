"""Which web origins any active widget credential lists. Answers a CORS preflight, which carries no credential."""

from __future__ import annotations

from typing import Protocol


class Origins(Protocol):
    """`is_listed` compares exactly. Rows of disabled or expired credentials do not count.
    Raises `Unavailable` when the store cannot be read.
    """

    async def is_listed(self, origin: str) -> bool: ...
