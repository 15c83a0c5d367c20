"""Prices that were told to a caller, for ten minutes."""

from __future__ import annotations

from typing import Protocol

from shared.domain.alexandria import Holder, Quote


class Quotes(Protocol):
    """Both raise `Unavailable` when the store cannot be used."""

    async def keep(self, quote: Quote) -> None: ...

    async def find(self, holder: Holder, quote_id: str) -> Quote | None:
        """Strongly consistent. None alike for one that is unknown, has ended or belongs to another holder."""
        ...
