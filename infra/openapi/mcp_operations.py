"""The endpoint for clients of the Model Context Protocol: one path, JSON-RPC both ways."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from infra.openapi.operation import Operation, OwnError
from shared.web.customer_answers import CustomerAnswerOut
from shared.web.mcp import customer_mirrors
from shared.web.mcp.faults import FaultCode

Json = dict[str, Any]


class _Spoken(BaseModel):
    """Further members are let pass, as JSON-RPC has it."""

    model_config = ConfigDict(extra="allow", strict=True)

    jsonrpc: Literal["2.0"]


class McpMessage(_Spoken):
    """A request, or without an `id` a notification, which is not answered. `params` are those of the protocol."""

    id: str | int | None = Field(default=None, description="Of a request: a text, or a whole number; never null.")
    method: str
    params: dict[str, Any] = Field(default_factory=dict)


class McpAnswer(_Spoken):
    """What a method gives: for `tools/call` `content`, `isError` and, but for refused arguments, `structuredContent`,
    which is what the REST operation answers.
    """

    id: str | int
    result: dict[str, Any]


class McpError(BaseModel):
    """`docs/errors.md` explains each code."""

    code: FaultCode
    message: str
    data: dict[str, Any] | None = Field(default=None, exclude_if=lambda value: value is None)


class McpFault(_Spoken):
    """What is wrong with a message itself. Without an `id` where none could be read."""

    id: str | int | None = Field(default=None, exclude_if=lambda value: value is None)
    error: McpError


_ID: Final = 7
MCP_REQUESTS: dict[str, Json] = {
    "McpMessage": {
        "jsonrpc": "2.0",
        "id": _ID,
        "method": "tools/call",
        "params": {"name": "knowledge_search", "arguments": {"query": "night ferry pass", "limit": 5}},
    },
}
MCP_ANSWERS: dict[str, Json] = {
    "McpAnswer": {
        "jsonrpc": "2.0",
        "id": _ID,
        "result": {
            "content": [{"type": "text", "text": customer_mirrors.search_mirror(CustomerAnswerOut(results=())).head}],
            "structuredContent": {"results": []},
            "isError": False,
        },
    },
    "McpFault": {
        "jsonrpc": "2.0",
        "id": _ID,
        "error": {"code": -32602, "message": "There is no such tool. tools/list names those there are."},
    },
    "McpFault400": {
        "jsonrpc": "2.0",
        "error": {"code": -32700, "message": "The body is not JSON."},
    },
    "McpFault404": {
        "jsonrpc": "2.0",
        "id": _ID,
        "error": {"code": -32601, "message": "There is no such method."},
    },
}

MCP_OPERATIONS: dict[tuple[str, str], Operation] = {
    ("POST", "/mcp"): Operation(
        id="mcp",
        tag="MCP",
        summary="Speak the Model Context Protocol: list the tools, and call one",
        description=(
            "Stateless: each message stands alone, no session id is given out, and a stream is never opened. Revision "
            "2026-07-28, and 2025-11-25, 2025-06-18 and 2025-03-26 by `initialize`. The tools are searches, look-ups "
            "and matches, and for class agt acquisitions; what each takes and gives is what its REST operation does, "
            "for the same credential. Arguments that a tool refuses are a result with `isError`. Under 2025-03-26 "
            "several messages may come as a list, and are then answered as one. A page of a web site may ask only "
            "where the deployment lists its origin. GET and DELETE are answered 405."
        ),
        tokens=("agentToken", "assistantToken"),
        request=(McpMessage,),
        answer=(McpAnswer, McpFault),
        also=(
            (
                202,
                "A notification, or the reply to a request that was never made: there is nothing to answer, and the "
                "token is not verified.",
            ),
        ),
        problems=("forbidden",),
        faults=(
            OwnError(
                status=400,
                words="The message is none, or not as its revision demands.",
                model=McpFault,
                example="McpFault400",
            ),
            OwnError(
                status=404,
                words="Under revision 2026-07-28: there is no such method.",
                model=McpFault,
                example="McpFault404",
            ),
        ),
    ),
    ("OPTIONS", "/mcp"): Operation(
        id="preflightMcp",
        tag="MCP",
        summary="Answer a browser's question whether a page may speak to the endpoint",
        description="Allows the origins that the deployment lists, and refuses others.",
        status=204,
        problems=("forbidden", "not_through_front"),
    ),
}
