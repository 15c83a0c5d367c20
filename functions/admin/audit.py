"""The route of the audit."""

from __future__ import annotations

from aws_lambda_powertools.event_handler import Response

from functions.admin.desk import Call, Desk
from functions.admin.parts import Parts
from shared.services.list_audit import ListAudit
from shared.web.api import answer
from shared.web.audit_models import AuditEntryShown, AuditPage
from shared.web.cursors import List, cursor_of
from shared.web.page_queries import page_query

PATH = "/api/v1/audit"


def add_audit_routes(desk: Desk, parts: Parts) -> None:
    entries = ListAudit(audit_log=parts.audit_log)

    @desk.route("GET", PATH)
    async def list_audit(call: Call) -> Response[str]:
        query = page_query(call.event, List.AUDIT)
        page = await entries(limit=query.limit, after=query.after)
        shown = AuditPage(
            entries=tuple(AuditEntryShown.of(each) for each in page.items),
            next_cursor=cursor_of(List.AUDIT, page.next_after) if page.next_after else None,
        )
        return answer(shown.model_dump_json(by_alias=True))
