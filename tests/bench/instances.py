"""Instances of the functions as Lambda has them, and the bare calls that nobody can do without."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import boto3
import httpx

from functions.mcp.routes import PATH as MCP
from functions.mcp.routes import api_for as mcp_api
from functions.mcp.wiring import wired as wired_mcp
from functions.search.routes import api_for as search_api
from functions.search.wiring import wired as wired_search
from functions.widget.routes import PATH as WIDGET
from functions.widget.routes import api_for as widget_api
from functions.widget.wiring import wired as wired_widget
from shared.adapters import long_lived
from shared.adapters.event_loop import ProcessLoop
from shared.adapters.generations import GENERATION
from shared.adapters.keys import ONLY, key_of
from tests.bench.world import ORIGIN, Gateway

SEARCH = "/api/v1/knowledge/search"
QUERY = "how do I change a booking"
RESULTS = 10  # of each provider
LIMIT = 50  # of an answer
# What bare calls send to a provider, and read of the table of internal registrations.
QUESTION = json.dumps({"query": QUERY, "limit": RESULTS, "locale": "en"}).encode()
A_ROW = key_of(GENERATION, ONLY)

Ask: TypeAlias = Callable[[], Any]


def measured(ask: Ask, check: Callable[[Any], None], *, by: Callable[[Ask], float]) -> Callable[[], float]:
    """What asking costs. That the answer is right is looked at each time, and afterwards."""

    def figure() -> float:
        answers: list[Any] = []
        cost = by(lambda: answers.append(ask()))
        for answer in answers:
            check(answer)
        return cost

    return figure


class Searching:
    """An instance of the search function, and of the others when they are first asked."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        with long_lived.set_up():  # as the handlers do
            self.parts = wired_search(gateway.environment)
        self._search = search_api(self.parts).handle

    def agent(self, providers: Sequence[str], **body: object) -> Ask:
        body = {"query": QUERY, "limit": LIMIT, "locale": "en", "providers": list(providers), **body}
        return _calling(self._search, SEARCH, body, token=self._gateway.agent)

    def assistant(self) -> Ask:
        """Asks every provider, as a widget does."""
        body = {"query": QUERY, "limit": LIMIT, "locale": "en"}
        return _calling(self._search, SEARCH, body, token=self._gateway.assistant)

    def widget(self) -> Ask:
        handle = widget_api(wired_widget(self._gateway.environment)).handle
        return _calling(handle, WIDGET, {"query": QUERY, "locale": "en"}, token=self._gateway.widget, origin=ORIGIN)

    def tool(self) -> Callable[[str], Ask]:
        """`knowledge_search` of an instance of its own, for the bearer of a token."""
        handle = mcp_api(wired_mcp(self._gateway.environment)).handle
        params = {"name": "knowledge_search", "arguments": {"query": QUERY, "limit": LIMIT, "locale": "en"}}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = {"mcp-protocol-version": "2025-11-25", "accept": "application/json, text/event-stream"}
        return lambda token: _calling(handle, MCP, call, token=token, **headers)


def _calling(handle: Callable[[Any, Any], Any], path: str, body: object, *, token: str, **headers: str) -> Ask:
    def ask() -> Any:
        event = {
            "version": "2.0",
            "rawPath": path,
            "headers": {"authorization": f"Bearer {token}", "content-type": "application/json", **headers},
            "requestContext": {"http": {"method": "POST", "sourceIp": "127.0.0.1"}, "stage": "$default"},
            "body": json.dumps(body),
        }
        with contextlib.redirect_stdout(io.StringIO()):  # its measures
            return handle(event, None)

    return ask


def found(answer: Any) -> Any:
    """The document of a search's answer, by REST or by the tool."""
    document = json.loads(answer["body"])
    return document["result"]["structuredContent"] if "jsonrpc" in document else document


def complete(*, providers: int) -> Callable[[Any], None]:
    """Checks that all of them were heard, which an answer for customers does not say: it has results and no more."""

    def check(answer: Any) -> None:
        document = found(answer)
        assert len(document.get("results", ())) >= min(10, RESULTS * providers), document
        assert document.get("status", "complete") == "complete", document
        asked = document.get("providers")
        assert asked is None or [each["resultCount"] for each in asked] == [RESULTS] * providers, document

    return check


class Bare:
    """The calls themselves and their JSON; with the store, one read of it before them."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.loop = ProcessLoop()
        self._client = httpx.AsyncClient(timeout=10, trust_env=False, limits=httpx.Limits(max_connections=None))
        self._dynamodb = boto3.client("dynamodb")
        self._table = environment["KG_TABLE_REGISTRATIONS_INTERNAL"]

    def gathering(self, url: str, count: int, *, with_store: bool = False) -> Ask:
        return lambda: self.loop.run(self.gather(url, count, with_store=with_store))

    async def gather(self, url: str, count: int, *, with_store: bool = False) -> list[Any]:
        if with_store:
            self._dynamodb.get_item(TableName=self._table, Key=A_ROW)
        return await asyncio.gather(*(self._ask(url) for _ in range(count)))

    async def _ask(self, url: str) -> Any:
        headers = {"content-type": "application/json"}
        return (await self._client.post(f"{url}/retrieve", content=QUESTION, headers=headers)).json()


def heard(answers: Any) -> None:
    assert all(len(answer["results"]) == RESULTS for answer in answers)
