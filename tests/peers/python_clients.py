"""Clients in Python: the protocol's own SDK in each era, and FastMCP's. Each lists the tools and makes the calls
planned.

They check what comes back against the output schemas that were listed, and raise where it does not fit.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import mcp_types as types
from fastmcp import Client as FastClient
from fastmcp.client.transports import StreamableHttpTransport
from mcp import Client, ClientSession, MCPError
from mcp.client.streamable_http import streamable_http_client

from tests.peers.heard import Heard, Planned, Said

TIMEOUT_S = 60.0
_ME = types.Implementation(name="peer", version="1")

Plan = Mapping[str, Planned]
Peer = Callable[[str, str, Plan], Awaitable[Heard]]


async def modern_sdk(url: str, token: str, plan: Plan) -> Heard:
    """Asks what the server speaks, which leads to the newest revision."""
    return await _sdk(url, token, plan, mode="auto")


async def modern_sdk_unasked(url: str, token: str, plan: Plan) -> Heard:
    """Asks nothing beforehand: the first request is one for the tools."""
    return await _sdk(url, token, plan, mode="2026-07-28")


async def legacy_sdk(url: str, token: str, plan: Plan) -> Heard:
    return await _sdk(url, token, plan, mode="legacy")


async def older_sdk(url: str, token: str, plan: Plan) -> Heard:
    """The SDK's session, told to offer a revision that clients in use still offer."""
    async with (
        _bearer(token) as http,
        streamable_http_client(url, http_client=http) as (read, write),
        ClientSession(read, write, client_info=_ME, read_timeout_seconds=TIMEOUT_S) as session,
    ):
        offer = types.InitializeRequestParams(
            protocol_version="2025-06-18", capabilities=types.ClientCapabilities(), client_info=_ME
        )
        session.adopt(await session.send_request(types.InitializeRequest(params=offer), types.InitializeResult))
        await session.send_notification(types.InitializedNotification())
        return await _heard(session, session.call_tool, plan)


async def fastmcp(url: str, token: str, plan: Plan) -> Heard:
    transport = StreamableHttpTransport(url, headers={"Authorization": f"Bearer {token}"})
    async with FastClient(transport, timeout=TIMEOUT_S) as client:
        return await _heard(client.session, client.call_tool_mcp, plan)


PEERS: dict[str, tuple[Peer, str]] = {
    "python-sdk-modern": (modern_sdk, "2026-07-28"),
    "python-sdk-modern-unasked": (modern_sdk_unasked, "2026-07-28"),
    "python-sdk-2025-11-25": (legacy_sdk, "2025-11-25"),
    "python-sdk-2025-06-18": (older_sdk, "2025-06-18"),
    "fastmcp": (fastmcp, "2026-07-28"),
}


@asynccontextmanager
async def _bearer(token: str) -> AsyncIterator[httpx2.AsyncClient]:
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=TIMEOUT_S) as http:
        yield http


async def _sdk(url: str, token: str, plan: Plan, *, mode: str) -> Heard:
    async with _bearer(token) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, mode=mode, client_info=_ME, read_timeout_seconds=TIMEOUT_S) as client:
            return await _heard(client.session, client.call_tool, plan)


async def _heard(
    session: ClientSession, call_tool: Callable[[str, dict[str, Any]], Awaitable[types.CallToolResult]], plan: Plan
) -> Heard:
    listed = await session.list_tools()
    tools = [tool.model_dump(by_alias=True, mode="json", exclude_unset=True) for tool in listed.tools]
    return Heard(
        revision=session.protocol_version or "",
        server=session.server_info.name if session.server_info else "",
        tools={tool["name"]: tool for tool in tools},
        said={key: await _said(call_tool, planned) for key, planned in plan.items()},
    )


async def _said(call_tool: Callable[[str, dict[str, Any]], Awaitable[types.CallToolResult]], planned: Planned) -> Said:
    try:
        result = await call_tool(planned.tool, planned.arguments)
    except MCPError as error:
        return Said([], error_code=error.error.code, error=error.error.message)
    blocks = [block.model_dump(by_alias=True, mode="json", exclude_unset=True) for block in result.content]
    return Said(blocks, result.structured_content, bool(result.is_error))
