"""Shows the audit, newest entries first."""

from __future__ import annotations

from shared.domain.audit import AuditEntry
from shared.domain.pages import Page
from shared.ports.audit_log import AuditLog


class ListAudit:
    def __init__(self, *, audit_log: AuditLog) -> None:
        self._audit_log = audit_log

    async def __call__(self, *, limit: int, after: str | None) -> Page[AuditEntry]:
        """Raises `Unavailable`."""
        return await self._audit_log.page(limit=limit, after=after)
