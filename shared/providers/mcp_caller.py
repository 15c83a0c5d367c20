"""Calls the one tool of a server that a kind needs, also after it was renamed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

from shared.domain.strict_json import JsonValue
from shared.errors import Refused
from shared.ports.clock import Clock
from shared.ports.exchange import Exchange
from shared.providers.mcp_client import McpClient, McpLine
from shared.providers.mcp_tools import Tool, ToolResult, ToolUnknown, Wish

FOUND_FOR_S: Final = 300.0
_MOST_REMEMBERED: Final = 64


class ToolCaller:
    """One object for each kind. A tool that was found under another name is called by it for five minutes; then the
    usual one is tried again.
    """

    def __init__(self, client: McpClient, wish: Wish, *, clock: Clock) -> None:
        self._client = client
        self._wish = wish
        self._clock = clock
        self._found: OrderedDict[str, tuple[Tool, float]] = OrderedDict()  # by URL, with when it was found

    async def call(self, exchange: Exchange, url: str, values: Mapping[str, JsonValue]) -> tuple[ToolResult, bool]:
        """What the tool said, and whether it is another tool than the usual one. `values` are keyed by the words of the
        wish. The server's tools are listed once, when it does not know the one that was called; raises `Refused`
        (`capability_unavailable`) when none of them will do.
        """
        line = self._client.open(exchange, url)
        tool = self._tool(url)
        try:
            result = await line.call(tool.name, tool.named(values))
        except ToolUnknown:
            tool = await self._find(line, url, instead_of=tool)
            result = await line.call(tool.name, tool.named(values))
        return result, tool != self._wish.usual

    async def offers_as_usual(self, exchange: Exchange, url: str) -> bool:
        """Whether the server lists the usual tool, in its usual shape; calls none. Raises `Refused`
        (`capability_unavailable`) when none of its tools will do.
        """
        tool = self._wish.choose(await self._client.open(exchange, url).list_tools())
        if tool is None:
            raise Refused("capability_unavailable")
        return tool == self._wish.usual

    def _tool(self, url: str) -> Tool:
        tool, found_at_s = self._found.get(url, (self._wish.usual, self._clock.monotonic()))
        return tool if self._clock.monotonic() - found_at_s < FOUND_FOR_S else self._wish.usual

    async def _find(self, line: McpLine, url: str, *, instead_of: Tool) -> Tool:
        self._found.pop(url, None)
        tool = self._wish.choose(await line.list_tools())
        if tool is None or tool == instead_of:
            raise Refused("capability_unavailable")
        self._found[url] = (tool, self._clock.monotonic())
        if len(self._found) > _MOST_REMEMBERED:
            self._found.popitem(last=False)
        return tool
