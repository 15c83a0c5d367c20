"""A look at one provider that costs nobody anything: no search, no unit, no key that rests."""

from __future__ import annotations

from typing import Protocol

from shared.domain.deadlines import Deadline
from shared.domain.health import Finding
from shared.domain.registrations import Provider


class Check(Protocol):
    async def __call__(self, provider: Provider, *, deadline: Deadline) -> Finding:
        """Over by the deadline. Raises nothing of a provider's: what goes wrong is the finding."""
        ...
