"""Uses the deployed gateway as MCP clients do: with the protocol's own SDK, in each of its two eras."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from infra.cli.seed import Seeded
from infra.rehearsal.cards import TERM, TITLE
from infra.rehearsal.live_services import PAGE
from infra.rehearsal.searches import CUSTOMER_FIELDS, Callers
from infra.rehearsal.steps import Failed

PATH = "/mcp"
_FOR_AGENTS_ALONE = "knowledge_acquire"
_TIMEOUT_S = 35.0
# How the SDK is told which era to speak, and what it has to arrive at.
_ERAS = {"auto": "2026-07-28", "legacy": "2025-11-25"}


@dataclass(frozen=True, slots=True)
class _Found:
    revision: str | None
    tools: tuple[str, ...]
    body: dict[str, Any]


def search_over_mcp(callers: Callers, seeded: Seeded) -> str:
    """Raises `Failed` unless a client of each era finds what it may, as an agent and as an assistant."""
    told = []
    for mode, revision in _ERAS.items():
        agent, assistant = (
            _use(callers, seeded.tokens[name], mode, "knowledge_search", query="refund")
            for name in ("agent", "assistant")
        )
        if {agent.revision, assistant.revision} != {revision}:
            raise Failed(f"The clients speak {agent.revision} and {assistant.revision}, not {revision}.")
        _must_be_for_agents(agent, seeded)
        _must_be_for_customers(assistant)
        told.append(f"{revision}: {len(agent.body['results'])} results for the agent")
    return f"{', '.join(told)}; public ones alone for the assistant"


def fetch_over_mcp(callers: Callers, seeded: Seeded) -> str:
    """Raises `Failed` unless the function that serves the tools gets at the keys that a fetch takes."""
    fetched = _use(callers, seeded.tokens["agent"], "auto", _FOR_AGENTS_ALONE, url=PAGE).body
    if fetched["finalUrl"] != PAGE or not fetched["text"]:
        raise Failed(f"Over MCP the page came from {fetched['finalUrl']}, {len(fetched['text'])} characters.")
    return f"{len(fetched['text'])} characters of the same page over MCP"


def look_up_over_mcp(callers: Callers, seeded: Seeded) -> str:
    """Raises `Failed` unless both classes are told what a word means."""
    asked = {"collectionId": seeded.collections["customer_safe"], "terms": [TERM]}
    for name in ("agent", "assistant"):
        body = _use(callers, seeded.tokens[name], "auto", "glossary_lookup", **asked).body
        if (titles := [card["title"] for card in body["results"][TERM]]) != [TITLE]:
            raise Failed(f"Over MCP, looking up {TERM} found {titles} for the {name}.")
    return "the same word over MCP, for both"


def _must_be_for_agents(found: _Found, seeded: Seeded) -> None:
    outcomes = {each["id"]: each["status"] for each in found.body["providers"]}
    if _FOR_AGENTS_ALONE not in found.tools or not found.body["results"]:
        raise Failed(f"The agent was offered {found.tools} and found {len(found.body['results'])} results.")
    if any(outcomes.get(seeded.ids[key]) != "success" for key in ("public", "internal")):
        raise Failed(f"The agent's search over MCP: {outcomes}")


def _must_be_for_customers(found: _Found) -> None:
    fields = {name for result in found.body["results"] for name in result}
    if _FOR_AGENTS_ALONE in found.tools or fields != CUSTOMER_FIELDS or set(found.body) != {"results"}:
        raise Failed(f"The assistant was offered {found.tools} and got {sorted(found.body)}, {sorted(fields)}.")


def _use(callers: Callers, token: str, mode: str, tool: str, **arguments: Any) -> _Found:
    try:
        revision, tools, result = asyncio.run(_used(callers, token, mode, tool, arguments))
    except (MCPError, httpx2.HTTPError, RuntimeError, ExceptionGroup) as error:
        raise Failed(f"The MCP client ({mode}) gave up on {tool}: {error!r}") from None
    if result.is_error or not isinstance(result.structured_content, dict):
        raise Failed(f"The tool {tool} failed: {[getattr(block, 'text', '') for block in result.content]}")
    return _Found(revision, tools, result.structured_content)


async def _used(
    callers: Callers, token: str, mode: str, tool: str, arguments: dict[str, Any]
) -> tuple[str | None, tuple[str, ...], CallToolResult]:
    """The client checks the answer against the output schema that it was shown."""
    headers = {"Host": callers.host, "Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=_TIMEOUT_S) as http:
        transport = streamable_http_client(f"{callers.endpoint_url}{PATH}", http_client=http)
        async with Client(transport, mode=mode, read_timeout_seconds=_TIMEOUT_S) as client:
            tools = tuple(each.name for each in (await client.list_tools()).tools)
            result = await client.call_tool(tool, arguments)
            return client.session.protocol_version, tools, result
