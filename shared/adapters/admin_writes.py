"""Carrying out an admin write with its company: its line of the audit and its idempotency record."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from shared.adapters.company import audited, once
from shared.adapters.services import DynamoDBClient
from shared.adapters.transactions import Moved, Part, busy, commit
from shared.domain.changes import Change
from shared.ports.clock import Clock

_PLANS = 6


class AdminWrites:
    def __init__(self, client: DynamoDBClient, *, audit_table: str, idempotency_table: str, clock: Clock) -> None:
        self._client = client
        self._audit_table = audit_table
        self._idempotency_table = idempotency_table
        self._clock = clock

    async def carry_out(self, change: Change, plan: Callable[[], Awaitable[Sequence[Part]]]) -> None:
        """`plan` reads what it needs and says what is to be written; it is asked again when that has moved meanwhile.
        Raises like `commit`, and whatever `plan` raises.
        """
        for _ in range(_PLANS):
            parts = await plan()
            try:
                return await self._commit(parts, change)
            except Moved:
                continue
        raise busy()

    async def _commit(self, parts: Sequence[Part], change: Change) -> None:
        first = once(change, table=self._idempotency_table, now=self._clock.now())
        await commit(self._client, [*first, *parts, audited(change, table=self._audit_table)])
