"""Telling that two credentials are the same one, without keeping either."""

from __future__ import annotations

from typing import Protocol


class CredentialKeys(Protocol):
    """A key that this installation made for itself, once, goes into every answer: whoever has the answer alone cannot
    try out credentials on it.
    """

    async def key_of(self, *, credential: str) -> str:
        """64 hex digits, the same for the same credential wherever it is used: one server has many addresses. White
        space around a credential is no part of it. Raises `Unavailable`.
        """
        ...
