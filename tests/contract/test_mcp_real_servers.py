"""The MCP client against real servers, made with FastMCP and with the protocol's own SDK: without sessions and with,
answering in JSON and in streams, in both eras of the protocol.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

import fastmcp
import pytest
from mcp.server.mcpserver import Context, MCPServer

from shared.adapters.authorities import public_authorities
from shared.adapters.clock import SystemClock
from shared.adapters.exchanges import PinnedExchanges
from shared.adapters.resolver import SystemResolver
from shared.domain.deadlines import Deadline
from shared.providers.mcp_client import McpClient, McpLine
from shared.providers.mcp_tools import ToolUnknown
from tests.support.builders import a_source
from tests.support.mcp_servers import RealServer, real_mcp_server

# It is, in the modern era; in the other one it is how a server speaks before it answers.
pytestmark = pytest.mark.filterwarnings("ignore:The logging capability is deprecated")

TLS = public_authorities()
CLOCK = SystemClock()
TEXT = "渡轮卡 – Fährpass 🛳: valid on every night ferry."
T = TypeVar("T")


async def context(query: str, includeDomains: list[str], tokenBudget: int = 3000) -> str:
    """Documentation for a question."""
    return f"{TEXT} {query} {','.join(includeDomains)} {tokenBudget}"


async def fails(query: str) -> str:
    """Always fails."""
    raise RuntimeError("a wheel came off")


async def counts(query: str) -> dict[str, int]:
    """Answers with a structure."""
    return {"characters": len(query)}


async def reports(ctx: Context, query: str) -> str:
    """Says something before it answers."""
    await ctx.info("reading")
    await ctx.info("still reading")
    return TEXT


async def reports_to_fastmcp(ctx: fastmcp.Context, query: str) -> str:
    """Says something before it answers."""
    await ctx.info("reading")
    await ctx.info("still reading")
    return TEXT


def fast_mcp(*, stateless: bool, in_json: bool) -> Any:
    server = fastmcp.FastMCP("Ferry docs")
    for tool in (context, fails, counts):
        server.tool(tool)
    server.tool(reports_to_fastmcp, name="reports")
    return server.http_app(path="/mcp", stateless_http=stateless, json_response=in_json)


def sdk(*, stateless: bool, in_json: bool) -> Any:
    server = MCPServer("Ferry docs")
    for tool in (context, fails, counts, reports):
        server.add_tool(tool)
    return server.streamable_http_app(stateless_http=stateless, json_response=in_json)


SERVERS = {
    f"{maker.__name__}-{'stateless' if stateless else 'sessions'}-{'json' if in_json else 'stream'}": (
        maker,
        stateless,
        in_json,
    )
    for maker, stateless, in_json in itertools.product((fast_mcp, sdk), (True, False), (True, False))
}


@pytest.fixture(scope="module", params=SERVERS.values(), ids=SERVERS)
def server(request: pytest.FixtureRequest) -> Iterator[RealServer]:
    maker, stateless, in_json = request.param
    with real_mcp_server(maker(stateless=stateless, in_json=in_json)) as running:
        running.has_sessions = not stateless
        yield running


@pytest.fixture(params=[False, True], ids=["legacy", "modern"])
def client(request: pytest.FixtureRequest) -> McpClient:
    return McpClient(clock=CLOCK, starts_modern=request.param)


def on_a_line(server: RealServer, client: McpClient, work: Callable[[McpLine], Awaitable[T]]) -> T:
    async def operation() -> T:
        exchanges = PinnedExchanges(
            resolver=SystemResolver(), clock=CLOCK, allow_loopback_http=True, private_network_available=False, tls=TLS
        )
        deadline = Deadline.after(20, now_s=CLOCK.monotonic())
        exchange = exchanges.open(a_source(base_url=server.origin), deadline=deadline)
        try:
            return await work(client.open(exchange, f"{server.origin}/mcp"))
        finally:
            exchanges.close()
            await asyncio.sleep(0)

    server.seen.clear()
    return asyncio.run(operation())


def test_a_tool_answers(server: RealServer, client: McpClient) -> None:
    arguments = {"query": "Nachtfähre?", "includeDomains": ["docs.example.com"], "tokenBudget": 500}
    began = time.monotonic()
    result = on_a_line(server, client, lambda line: line.call("context", arguments))
    assert time.monotonic() - began < 5
    assert (result.text, result.is_error) == (f"{TEXT} Nachtfähre? docs.example.com 500", False)


def test_only_messages_are_posted(server: RealServer, client: McpClient) -> None:
    arguments = {"query": "q", "includeDomains": []}
    is_modern = client.manner_of("").version != ""
    on_a_line(server, client, lambda line: line.call("context", arguments))
    assert {(method, path) for method, path, _ in server.seen} == {("POST", "/mcp")}
    assert not [headers for _, _, headers in server.seen if "origin" in headers]
    shakes_hands = server.has_sessions and not is_modern
    assert len(server.seen) == (4 if shakes_hands else 1)
    sessions = [headers.get("mcp-session-id") for _, _, headers in server.seen]
    assert (sessions[0], sessions[-1] is not None) == (None, shakes_hands)


def test_the_manner_is_known_the_second_time(server: RealServer, client: McpClient) -> None:
    arguments = {"query": "q", "includeDomains": []}
    on_a_line(server, client, lambda line: line.call("context", arguments))
    first = len(server.seen)
    on_a_line(server, client, lambda line: line.call("context", arguments))
    assert len(server.seen) == (3 if first == 4 else 1)


def test_what_happens_before_the_answer_is_passed_over(server: RealServer, client: McpClient) -> None:
    assert on_a_line(server, client, lambda line: line.call("reports", {"query": "q"})).text == TEXT


def test_a_structured_answer_is_read_once(server: RealServer, client: McpClient) -> None:
    result = on_a_line(server, client, lambda line: line.call("counts", {"query": "four"}))
    assert result.text.count("characters") == 1
    assert '"characters"' in result.text


def test_a_tool_that_fails_says_so(server: RealServer, client: McpClient) -> None:
    assert on_a_line(server, client, lambda line: line.call("fails", {"query": "q"})).is_error


@pytest.mark.parametrize("arguments", [{}, {"query": "q"}], ids=["without_arguments", "with_arguments"])
def test_an_unknown_tool_is_told_from_one_that_fails(
    server: RealServer, client: McpClient, arguments: dict[str, Any]
) -> None:
    with pytest.raises(ToolUnknown):
        on_a_line(server, client, lambda line: line.call("ask_question", arguments))


def test_the_tools_are_listed(server: RealServer, client: McpClient) -> None:
    offers = {offer.name: offer for offer in on_a_line(server, client, lambda line: line.list_tools())}
    assert offers.keys() == {"context", "fails", "counts", "reports"}
    assert offers["context"].arguments == {"query", "includeDomains", "tokenBudget"}
    assert offers["context"].required == {"query", "includeDomains"}


def test_an_operation_may_hold_several_calls(server: RealServer, client: McpClient) -> None:
    async def several(line: McpLine) -> list[str]:
        with pytest.raises(ToolUnknown):
            await line.call("ask_question", {})
        await line.list_tools()
        return [(await line.call("counts", {"query": query})).text for query in ("a", "bb")]

    one, two = on_a_line(server, client, several)
    assert ("1" in one, "2" in two) == (True, True)
