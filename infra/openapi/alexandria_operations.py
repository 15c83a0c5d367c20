"""The operations of Alexandria, and their examples."""

from __future__ import annotations

from typing import Any

from infra.openapi.operation import Operation
from shared.web.alexandria_models import (
    ExecutionOut,
    QuoteOut,
    ReceiptOut,
    ToolExecuteBody,
    ToolInspectBody,
    ToolReceiptBody,
    ToolSearchBody,
    ToolsOut,
)

Json = dict[str, Any]

_AGENT = ("agentToken",)
_ALEXANDRIA = "/api/v1/knowledge/alexandria"
_SERVICE_FAILED = (
    "not_found",
    "provider_failed",
    "source_too_large",
    "keys_exhausted",
    "allowance_exhausted",
    "provider_rate_limited",
    "not_configured",
    "provider_timeout",
)

ALEXANDRIA_OPERATIONS: dict[tuple[str, str], Operation] = {
    ("POST", _ALEXANDRIA + "/search"): Operation(
        id="searchTools",
        tag="Alexandria",
        summary="Find tools of other companies by what they do",
        description=(
            "Goes through an active provider of kind firecrawl that the credential may reach: the one that `provider` "
            "names, else the one of the lowest priority. Costs no credits, and one operation of the pool's allowance. "
            "`credits` null means that the service names no price."
        ),
        tokens=_AGENT,
        request=(ToolSearchBody,),
        answer=(ToolsOut,),
        problems=_SERVICE_FAILED,
    ),
    ("POST", _ALEXANDRIA + "/inspect"): Operation(
        id="inspectTool",
        tag="Alexandria",
        summary="Have one tool priced and described",
        description=(
            "The answer is a quote for ten minutes, for this credential and this `X-Helpthread-Agent-Id` alone. Costs "
            "no credits, and one operation of the pool's allowance. The quote is what the service publishes and no "
            "upper limit: the service takes none."
        ),
        tokens=_AGENT,
        request=(ToolInspectBody,),
        answer=(QuoteOut,),
        problems=_SERVICE_FAILED,
    ),
    ("POST", _ALEXANDRIA + "/execute"): Operation(
        id="executeTool",
        tag="Alexandria",
        summary="Execute a quoted tool, once",
        description=(
            "Whatever the service answered, failures included, is 200 with a receipt. A repetition under the same "
            "`requestId` sends nothing: it shows the receipt, without the result, which is kept nowhere. Only a "
            "receipt of state `refused` (nothing was executed) is tried again by the same request. Another quote or "
            "other options under a used `requestId` are refused. Never sent twice: what was accepted, what timed out, "
            "and what somebody died over."
        ),
        tokens=_AGENT,
        request=(ToolExecuteBody,),
        answer=(ExecutionOut,),
        problems=("not_found", "quote_unknown", "request_id_reused", "terms_required"),
    ),
    ("POST", _ALEXANDRIA + "/receipt"): Operation(
        id="readToolReceipt",
        tag="Alexandria",
        summary="Ask what became of an execution",
        description=(
            "Reads the gateway's own record, kept for 30 days; nobody else is asked. An execution that was not settled "
            "within a minute is `unknown`: it may have been carried out and charged."
        ),
        tokens=_AGENT,
        request=(ToolReceiptBody,),
        answer=(ReceiptOut,),
        problems=("not_found",),
    ),
}

_AT = "2026-09-21T14:13:20.000Z"
_QUOTE_ID = "aq_0123456789abcdef0123456789abcdef"
_REQUEST_ID = "ferry-report-2026-11"
_NAME: Json = {"provider": "acmestats", "capability": "series/observations"}
_TOOL: Json = {
    "id": "acmestats:series/observations",
    "tool": _NAME,
    "name": "Observations of a series",
    "description": "Numbers of one series, by month.",
    "credits": 3,
    "perRecord": False,
    "options": [
        {"name": "series", "type": "string", "about": "Which series.", "required": True, "rules": {}},
        {"name": "rows", "type": "integer", "about": "How many.", "required": False, "rules": {"default": 10}},
    ],
    "requiresOneOf": [["from", "to"]],
}
_RECEIPT: Json = {
    "requestId": _REQUEST_ID,
    "quoteId": _QUOTE_ID,
    "tool": _NAME,
    "state": "done",
    "cost": {"status": "confirmed", "credits": 3},
    "errorCode": None,
    "retryAt": None,
    "startedAt": _AT,
    "settledAt": "2026-09-21T14:13:21.250Z",
    "expiresAt": "2026-10-21T14:13:20.000Z",
    "mayTryAgain": False,
}
ALEXANDRIA_REQUESTS: dict[str, Json] = {
    "ToolSearchBody": {"query": "monthly ferry passengers", "limit": 5},
    "ToolInspectBody": {"tool": _NAME},
    "ToolExecuteBody": {
        "quoteId": _QUOTE_ID,
        "requestId": _REQUEST_ID,
        "options": {"series": "ferry-passengers", "from": "2026-01"},
    },
    "ToolReceiptBody": {"requestId": _REQUEST_ID},
}
ALEXANDRIA_ANSWERS: dict[str, Json] = {
    "ToolsOut": {"tools": [_TOOL, {**_TOOL, "id": None, "credits": None, "perRecord": None}], "warnings": []},
    "QuoteOut": {"quoteId": _QUOTE_ID, "expiresAt": "2026-09-21T14:23:20.000Z", "tool": _TOOL},
    "ExecutionOut": {"receipt": _RECEIPT, "result": {"rows": [["2026-01", 4100]]}, "warnings": []},
    "ReceiptOut": {
        **_RECEIPT,
        "state": "unknown",
        "cost": {"status": "unknown", "credits": None},
        "errorCode": "timeout",
    },
}
