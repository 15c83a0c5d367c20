"""The MCP client over real connections to a server that answers what was recorded, in pieces of every size."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from shared.adapters.authorities import public_authorities
from shared.adapters.exchanges import PinnedExchanges
from shared.adapters.resolver import SystemResolver
from shared.domain.deadlines import Deadline
from shared.errors import ExchangeError, ExchangeTimeout, KeyRefused, Refused, ResponseTooLarge, Unclear
from shared.providers.mcp_client import McpClient, McpLine
from shared.providers.mcp_tools import ToolResult, ToolUnknown
from tests.support.builders import NOW, a_source
from tests.support.mcp_servers import BadMcpServer, Framing, bad_mcp_server

FIXTURES = Path(__file__).parents[2] / "fixtures" / "providers" / "mcp"
TLS = public_authorities()
ARGUMENTS = {"query": "ferry passes – 渡轮"}
T = TypeVar("T")
Case = dict[str, Any]


def cases(topic: str) -> pytest.MarkDecorator:
    recorded = json.loads((FIXTURES / f"{topic}.json").read_text(encoding="utf-8"))["cases"]
    return pytest.mark.parametrize("case", recorded, ids=[case["name"].replace(" ", "_") for case in recorded])


class Clock:
    """A wall clock that stands still, and a real one for the deadlines."""

    def now(self) -> float:
        return NOW

    def monotonic(self) -> float:
        return time.monotonic()


CLOCK = Clock()


@pytest.fixture(scope="module")
def server() -> Iterator[BadMcpServer]:
    with bad_mcp_server() as running:
        yield running


def on_a_line(
    server: BadMcpServer, work: Callable[[McpLine], Awaitable[T]], *, client: McpClient, seconds: float = 20.0
) -> T:
    """One operation of a process that then ends."""

    async def operation() -> T:
        exchanges = PinnedExchanges(
            resolver=SystemResolver(), clock=CLOCK, allow_loopback_http=True, private_network_available=False, tls=TLS
        )
        deadline = Deadline.after(seconds, now_s=time.monotonic())
        exchange = exchanges.open(a_source(base_url=server.origin), deadline=deadline)
        try:
            return await work(client.open(exchange, server.url))
        finally:
            exchanges.close()
            await asyncio.sleep(0)

    return asyncio.run(operation())


def call(server: BadMcpServer, *, client: McpClient | None = None, **how: Any) -> ToolResult:
    client = client or McpClient(clock=CLOCK)
    return on_a_line(server, lambda line: line.call("context", ARGUMENTS), client=client, **how)


def check(case: Case, server: BadMcpServer, **how: Any) -> None:
    """The call ends as recorded, and repeats none of the server's words where it fails."""
    outcome = case["outcome"]
    if "error" not in outcome:
        result = call(server, **how)
        assert (result.text, result.is_error) == (outcome["text"], outcome.get("isError", False))
        return
    with pytest.raises(ExchangeError) as failure:
        call(server, **how)
    error = failure.value
    wait = outcome.get("retryInS")
    assert (error.code, error.retry_at) == (outcome["error"], None if wait is None else NOW + wait)
    assert isinstance(error, Unclear) is outcome.get("unclear", False)
    assert isinstance(error, ToolUnknown) is outcome.get("toolUnknown", False)
    assert (error.reason if isinstance(error, KeyRefused) else None) == outcome.get("reason")
    assert "UPSTREAM-WORDS" not in f"{error!r} {error.__cause__!r} {error.__context__!r}"


@pytest.fixture(autouse=True)
def _every_request_is_as_every_server_wants_it(server: BadMcpServer) -> Iterator[None]:
    yield
    assert server.seen
    for seen in server.seen:
        assert (seen.method, seen.path) == ("POST", "/mcp")
        assert seen.headers["accept"] == "application/json, text/event-stream"
        assert seen.headers["content-type"] == "application/json"
        assert not {"origin", "authorization", "last-event-id", "cookie"} & seen.headers.keys()
        assert seen.json["jsonrpc"] == "2.0"
    numbers = [seen.json["id"] for seen in server.seen if "id" in seen.json]
    assert len(set(numbers)) == len(numbers)
    assert all(type(number) is int and number > 0 for number in numbers)


# --- answers ---
@pytest.mark.parametrize("framing", Framing, ids=lambda framing: framing.name.lower())
@cases("streams")
def test_the_answer_is_found_in_a_stream(server: BadMcpServer, case: Case, framing: Framing) -> None:
    server.play(case["answers"], framing=framing)
    began = time.monotonic()
    check(case, server)
    assert time.monotonic() - began < 5  # of twenty seconds, also where the stream stays open
    assert server.methods == ["tools/call"]
    assert server.is_left()


@pytest.mark.parametrize("framing", [Framing.WHOLE, Framing.WINDOWS_BYTE_BY_BYTE], ids=lambda f: f.name.lower())
@cases("broken_streams")
def test_a_stream_without_a_sound_answer_is_none(server: BadMcpServer, case: Case, framing: Framing) -> None:
    server.play(case["answers"], framing=framing)
    check(case, server)
    assert server.methods == ["tools/call"]


@pytest.mark.parametrize("framing", [Framing.WHOLE, Framing.BYTE_BY_BYTE], ids=lambda framing: framing.name.lower())
@cases("answers")
def test_an_answer_that_is_no_stream_is_read(server: BadMcpServer, case: Case, framing: Framing) -> None:
    server.play(case["answers"], framing=framing)
    check(case, server)
    assert server.methods == ["tools/call"]


@cases("refusals")
def test_a_refusal_means_what_its_status_says(server: BadMcpServer, case: Case) -> None:
    server.play(case["answers"])
    check(case, server)
    assert server.methods == case["posts"]


def test_a_call_is_one_message(server: BadMcpServer) -> None:
    server.play([{"json": {"jsonrpc": "2.0", "id": "$id", "result": {"content": []}}}])
    call(server)
    (seen,) = server.seen
    number = seen.json["id"]
    params = {"name": "context", "arguments": ARGUMENTS}
    assert seen.json == {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
    assert "渡轮".encode() in seen.body


def test_an_endless_stream_without_an_answer_ends_at_the_size_of_any_answer(server: BadMcpServer) -> None:
    server.play([{"stream": [": " + "ping" * 300_000], "keepOpen": True}])
    with pytest.raises(ResponseTooLarge):
        call(server)
    assert server.is_left()


def test_an_answer_that_is_too_large_is_refused(server: BadMcpServer) -> None:
    server.play([{"json": {"jsonrpc": "2.0", "id": "$id", "result": {"content": [], "x": "y" * 1_100_000}}}])
    with pytest.raises(ResponseTooLarge):
        call(server)


def test_a_stream_that_says_nothing_ends_at_the_deadline(server: BadMcpServer) -> None:
    server.play([{"stream": [": ping", ""], "keepOpen": True}])
    with pytest.raises(ExchangeTimeout):
        call(server, seconds=0.3)
    assert server.is_left()


# --- manners ---
def sent_to(server: BadMcpServer) -> list[Case]:
    """What was sent, in the form in which it is recorded."""
    return [
        {
            "method": seen.json["method"],
            "headers": {name: value for name, value in seen.headers.items() if name.startswith("mcp-")},
        }
        | ({"offers": seen.json["params"]["protocolVersion"]} if seen.json["method"] == "initialize" else {})
        | ({"meta": True} if "_meta" in seen.json.get("params", {}) else {})
        for seen in server.seen
    ]


@cases("manners")
def test_a_server_is_spoken_to_as_it_asks(server: BadMcpServer, case: Case) -> None:
    server.play(case["answers"])
    check(case, server, client=McpClient(clock=CLOCK, starts_modern=case.get("startsModern", False)))
    assert sent_to(server) == case["posts"]


def test_a_modern_request_says_what_it_is(server: BadMcpServer) -> None:
    server.play([{"json": {"jsonrpc": "2.0", "id": "$id", "result": {"content": [], "resultType": "complete"}}}])
    call(server, client=McpClient(clock=CLOCK, starts_modern=True))
    assert server.seen[0].json["params"]["_meta"] == {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "knowledge-gateway", "version": "1"},
    }


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("context", "context"),
        ("read page", "read page"),
        ("渡轮", "=?base64?5rih6L2u?="),
        (" edge", "=?base64?IGVkZ2U=?="),
        ("=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="),
    ],
    ids=["plain", "blank_inside", "non_ascii", "blank_at_the_edge", "looks_coded"],
)
def test_the_name_of_a_tool_travels_in_a_header(server: BadMcpServer, name: str, header: str) -> None:
    server.play([{"json": {"jsonrpc": "2.0", "id": "$id", "result": {"content": []}}}])
    client = McpClient(clock=CLOCK, starts_modern=True)
    on_a_line(server, lambda line: line.call(name, {}), client=client)
    assert server.seen[0].headers["mcp-name"] == header


INITIALIZED = {"jsonrpc": "2.0", "id": "$id", "result": {"protocolVersion": "2025-06-18", "capabilities": {}}}
ANSWER = {"json": {"jsonrpc": "2.0", "id": "$id", "result": {"content": [{"type": "text", "text": "Yes."}]}}}
ACCEPTED = {"status": 202, "text": "", "type": ""}
IN_SESSION = {"json": INITIALIZED, "headers": {"Mcp-Session-Id": "s-one"}}


def test_the_manner_is_remembered_and_the_session_is_not(server: BadMcpServer) -> None:
    client = McpClient(clock=CLOCK)
    server.play([{"status": 400, "text": ""}, IN_SESSION, ACCEPTED, ANSWER])
    call(server, client=client)
    server.play([{**IN_SESSION, "headers": {"Mcp-Session-Id": "s-two"}}, ACCEPTED, ANSWER])
    call(server, client=client)
    assert server.methods == ["initialize", "notifications/initialized", "tools/call"]
    assert server.seen[0].json["params"]["protocolVersion"] == "2025-06-18"
    assert [seen.headers.get("mcp-session-id") for seen in server.seen] == [None, "s-two", "s-two"]


def test_modern_manners_are_remembered(server: BadMcpServer) -> None:
    client = McpClient(clock=CLOCK)
    error = {"code": -32022, "message": "", "data": {"supported": ["2026-07-28"]}}
    server.play([{"status": 400, "json": {"jsonrpc": "2.0", "id": None, "error": error}}, ANSWER])
    call(server, client=client)
    server.play([ANSWER])
    call(server, client=client)
    assert [seen.headers.get("mcp-method") for seen in server.seen] == ["tools/call"]


@pytest.mark.parametrize(
    ("failure", "first"),
    [({"status": 404, "text": ""}, "tools/call"), ({"status": 429, "json": {}}, "initialize")],
    ids=["refused_as_it_spoke", "merely_busy"],
)
def test_a_server_that_did_not_take_the_manner_is_met_as_a_stranger(
    server: BadMcpServer, failure: Case, first: str
) -> None:
    client = McpClient(clock=CLOCK)
    server.play([{"status": 400, "text": ""}, IN_SESSION, ACCEPTED, ANSWER])
    call(server, client=client)
    server.play([failure])
    with pytest.raises(Refused):
        call(server, client=client)
    server.play([{"json": INITIALIZED}, ACCEPTED, ANSWER] if first == "initialize" else [ANSWER])
    assert call(server, client=client).text == "Yes."
    assert server.methods[0] == first


def test_what_is_remembered_is_bounded() -> None:
    client = McpClient(clock=CLOCK, starts_modern=True)
    bare = McpClient(clock=CLOCK).manner_of("https://mcp.example.com/mcp")
    for number in range(200):
        client.remember(f"https://mcp{number}.example.com/mcp", bare)
    remembered = [client.manner_of(f"https://mcp{number}.example.com/mcp") == bare for number in range(200)]
    assert remembered == [False] * 136 + [True] * 64


# --- lists of tools ---
def tools(*names: str, cursor: object = None) -> Case:
    listed = [{"name": name, "inputSchema": {"type": "object", "properties": {"query": {}}}} for name in names]
    more = {} if cursor is None else {"nextCursor": cursor}
    return {"json": {"jsonrpc": "2.0", "id": "$id", "result": {"tools": listed, **more}}}


def list_tools(server: BadMcpServer) -> list[str]:
    offers = on_a_line(server, lambda line: line.list_tools(), client=McpClient(clock=CLOCK))
    return [offer.name for offer in offers]


def test_tools_are_listed_over_several_pages(server: BadMcpServer) -> None:
    server.play([tools("one", cursor="c-1"), tools("two", cursor="c-2"), tools("three")])
    assert list_tools(server) == ["one", "two", "three"]
    assert [seen.json.get("params") for seen in server.seen] == [None, {"cursor": "c-1"}, {"cursor": "c-2"}]


def test_an_endless_list_is_read_for_a_few_pages(server: BadMcpServer) -> None:
    server.play([tools("again", cursor="c")])
    assert list_tools(server) == ["again"] * 4


def test_entries_that_are_no_tools_are_passed_over(server: BadMcpServer) -> None:
    schema = {"type": "object", "properties": {"hosts": {"items": {"$ref": "#/properties/query"}}, "query": {}}}
    listed = [None, {}, {"name": 7, "inputSchema": {}}, {"name": "a\nb", "inputSchema": {}}, {"name": "no schema"}]
    page = {"tools": [*listed, {"name": "context", "inputSchema": {**schema, "required": ["query", 7]}}]}
    server.play([{"json": {"jsonrpc": "2.0", "id": "$id", "result": page}}])
    (offer,) = on_a_line(server, lambda line: line.list_tools(), client=McpClient(clock=CLOCK))
    assert (offer.name, offer.arguments, offer.required) == ("context", {"hosts", "query"}, {"query"})


def test_a_list_that_is_none_is_a_broken_answer(server: BadMcpServer) -> None:
    server.play([{"json": {"jsonrpc": "2.0", "id": "$id", "result": {"tools": "UPSTREAM-WORDS"}}}])
    with pytest.raises(Refused) as failure:
        list_tools(server)
    assert failure.value.code == "invalid_response"
