"""Fetching one approved source, as a tool for agents. Loaded when it is first used."""

from __future__ import annotations

from functions.mcp.tool_parts import ToolParts
from shared.domain.deadlines import Deadline
from shared.services.acquire import AcquireRequest
from shared.web.acquire_models import acquired_out
from shared.web.mcp.acquire_input import acquire_of
from shared.web.mcp.acquired_mirror import acquired_mirror
from shared.web.mcp.tool import ToolCall, ToolResult


def acquire(parts: ToolParts, call: ToolCall) -> ToolResult:
    received_s = parts.clock.monotonic()
    ask = acquire_of(call)
    request = AcquireRequest(
        token=call.token,
        agent_id=ask.agent_id,
        wish=ask.wish,
        deadline=Deadline.after(ask.deadline_ms / 1000, now_s=received_s),
        request_id=call.request_id,
    )
    out = acquired_out(parts.loop.run(parts.acquire()(request)), request_id=call.request_id)
    structured = out.model_dump_json(by_alias=True)
    return ToolResult(text=acquired_mirror(out).text(beside=structured), structured=structured)
