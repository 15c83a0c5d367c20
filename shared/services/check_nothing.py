"""Of a kind that has nothing to read but by a search or a paid call: nothing is sent, no key is read."""

from __future__ import annotations

from shared.domain.deadlines import Deadline
from shared.domain.health import Finding, Look
from shared.domain.registrations import Provider


class CheckNothing:
    """Implements `ports.check.Check`."""

    async def __call__(self, provider: Provider, *, deadline: Deadline) -> Finding:
        del provider, deadline
        return Finding(look=Look.NOTHING)
