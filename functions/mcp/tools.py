"""The tools, in the order in which they are listed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, TypeAlias

from functions.mcp import glossary_tools
from functions.mcp.descriptions import description_of
from functions.mcp.search_tool import search
from functions.mcp.tool_parts import ToolParts
from shared.domain.exposure import CredentialClass
from shared.web.mcp.tool import Tool, ToolCall, ToolResult, Tools
from shared.web.mcp.tool_problems import telling

_BOTH: Final = frozenset({CredentialClass.AGENT, CredentialClass.ASSISTANT})
_AGENTS: Final = frozenset({CredentialClass.AGENT})

Work: TypeAlias = Callable[[ToolParts, ToolCall], ToolResult]


def tools_of(parts: ToolParts) -> Tools:
    work: tuple[tuple[str, Work, frozenset[CredentialClass]], ...] = (
        ("knowledge_search", search, _BOTH),
        ("glossary_lookup", glossary_tools.look_up, _BOTH),
        ("glossary_match", glossary_tools.match, _BOTH),
        ("knowledge_acquire", _acquire, _AGENTS),
    )
    return tuple(_tool(name, partial(run, parts), offered_to=to) for name, run, to in work)


def _tool(name: str, run: Callable[[ToolCall], ToolResult], *, offered_to: frozenset[CredentialClass]) -> Tool:
    return Tool(name=name, description=description_of(name), offered_to=offered_to, run=telling(run))


def _acquire(parts: ToolParts, call: ToolCall) -> ToolResult:
    from functions.mcp.acquire_tool import acquire  # most processes never need it

    return acquire(parts, call)
