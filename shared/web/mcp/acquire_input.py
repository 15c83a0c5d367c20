"""Arguments of an acquisition, read by the wire model of the REST operation."""

from __future__ import annotations

from shared.errors import Problem
from shared.web.acquire_models import AcquireAsk, AcquireBody
from shared.web.mcp.tool import ToolCall
from shared.web.mcp.tool_inputs import read_arguments


def acquire_of(call: ToolCall) -> AcquireAsk:
    """Never raises a Problem: nobody is told what is wrong before being admitted."""
    try:
        return AcquireAsk.of(read_arguments(AcquireBody, call), agent_id=call.agent_id)
    except Problem as problem:
        return AcquireAsk(wish=problem)
