"""Whether a request came through the distribution in front of the API."""

from __future__ import annotations

from typing import Protocol


class FrontDoor(Protocol):
    """`admits` tells whether `presented` is what the distribution sends, or while that changes sent before. Nothing is
    admitted before an operator has made the first value known. What is known is at most 60 s old.
    Raises `Unavailable` (`store_unavailable`) when nothing that young is known and the store cannot be read.
    """

    def admits(self, presented: str) -> bool: ...
