"""Shows what the pools may still do."""

from __future__ import annotations

from shared.domain.allowances import Allowance
from shared.domain.pools import Pool
from shared.ports.allowances import AllowanceDesk


class ReadAllowance:
    """Raises `Unavailable`."""

    def __init__(self, *, desk: AllowanceDesk) -> None:
        self._desk = desk

    async def __call__(self, pool: Pool) -> Allowance:
        return await self._desk.read(pool)

    async def all(self) -> tuple[Allowance, ...]:
        return tuple([await self._desk.read(pool) for pool in Pool])
