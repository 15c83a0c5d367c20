"""Reading the audit. It is written by the stores, in each change's own transaction."""

from __future__ import annotations

from typing import Protocol

from shared.domain.audit import AuditEntry
from shared.domain.pages import Page


class AuditLog(Protocol):
    """`page` returns the newest entries first. Raises `Unavailable` when the store cannot be read."""

    async def page(self, *, limit: int, after: str | None) -> Page[AuditEntry]: ...
