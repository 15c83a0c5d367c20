"""Counting requests per fixed minute."""

from __future__ import annotations

from typing import Protocol


class RateLimits(Protocol):
    """`count` adds one to the counter of `subject` in the present minute and returns the new count.

    Atomic over all processes; the row ends by itself after an hour. `subject` is an id or a keyed hash, never an
    address or a token. Raises `Unavailable` when the store cannot be written.
    """

    async def count(self, subject: str) -> int: ...
