"""An MCP client for servers that keep nothing between calls (Streamable HTTP): it posts messages, and nothing else.

A call is simply made. A server that wants to be spoken to in another manner says so, and is obeyed inside the same
operation. Its manner is remembered for as long as the process lives; a session never is.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

from shared.domain.answer_bodies import JsonObject
from shared.domain.refusals import Meaning, refusal
from shared.domain.strict_json import JsonValue
from shared.errors import ExchangeError, Refused, Unclear
from shared.ports.clock import Clock
from shared.ports.exchange import Exchange, OutboundRequest
from shared.providers.mcp_manners import (
    ABOUT_THE_CALL,
    BARE,
    CLIENT,
    LEGACY_VERSIONS,
    MODERN,
    Era,
    Headers,
    Manner,
    legacy_headers,
    modern_headers,
    modern_params,
    named_by,
    wanted_by,
)
from shared.providers.mcp_messages import (
    METHOD_NOT_FOUND,
    UNSUPPORTED_VERSION,
    Heard,
    Listener,
    new_id,
    request_bytes,
)
from shared.providers.mcp_tools import Offer, ToolResult, ToolUnknown, read_offers, read_result

REFUSALS: Final = (
    Meaning(status=400),
    Meaning(status=401, code="unauthorized"),
    Meaning(status=403, code="forbidden"),  # often a firewall's page, which says nothing of a credential
    Meaning(status=404, code="not_found"),
    Meaning(status=408, code="timeout", unclear=True),
    Meaning(status=410, code="not_found"),
    Meaning(status=429, code="rate_limited", key="rate"),
    Meaning(status=504, code="timeout", unclear=True),
    *(Meaning(status=status) for status in (301, 302, 303, 307, 308)),  # not followed, so nothing was done
)
_ENDED: Final = frozenset({404, 410})  # said of a session
_NOT_A_STRANGERS: Final = frozenset({401, 403, 408, 429})  # refusals that have nothing to do with manners
_MOST_REMEMBERED: Final = 64
_MOST_PAGES: Final = 4
_LONGEST_CURSOR: Final = 4_096
_SESSION_ID = re.compile(r"[\x21-\x7e]{1,1024}", re.ASCII)
_USUAL_HEADERS: Final = (
    ("Accept", "application/json, text/event-stream"),
    ("Content-Type", "application/json"),
    ("User-Agent", "knowledge-gateway/1"),
)


class McpClient:
    """One object for each kind of service. `starts_modern` is for one that is known to be."""

    def __init__(self, *, clock: Clock, starts_modern: bool = False) -> None:
        self.clock = clock
        self._first = MODERN if starts_modern else BARE
        self._remembered: OrderedDict[str, Manner] = OrderedDict()

    def open(self, exchange: Exchange, url: str) -> McpLine:
        """A line for one operation: everything on it goes to `url`, through `exchange`."""
        return McpLine(self, exchange, url)

    def manner_of(self, url: str) -> Manner:
        return self._remembered.get(url, self._first)

    def remember(self, url: str, manner: Manner) -> None:
        self._remembered[url] = manner
        self._remembered.move_to_end(url)
        if len(self._remembered) > _MOST_REMEMBERED:
            self._remembered.popitem(last=False)

    def forget(self, url: str) -> None:
        self._remembered.pop(url, None)


class McpLine:
    """One operation. Raises the `ExchangeError` family: `Unclear` for a stream that ended without an answer, `Refused`
    (`invalid_response`) for what the protocol does not allow, and `ToolUnknown`.
    """

    def __init__(self, client: McpClient, exchange: Exchange, url: str) -> None:
        self._client = client
        self._exchange = exchange
        self._url = url
        self._manner = client.manner_of(url)
        self._tried = {self._manner.era}
        self._is_open = self._manner.era is not Era.HANDSHAKE
        self._session: str | None = None
        self._has_restarted = False

    async def call(self, tool: str, arguments: Mapping[str, JsonValue]) -> ToolResult:
        """What the tool said, which may be that it failed (`is_error`)."""
        result = read_result(await self._ask("tools/call", {"name": tool, "arguments": dict(arguments)}))
        if result.is_unknown_tool:
            raise ToolUnknown
        return result

    async def list_tools(self) -> list[Offer]:
        """What the server offers, over its first few pages."""
        offers: list[Offer] = []
        params: JsonObject = {}
        for _ in range(_MOST_PAGES):
            result = await self._ask("tools/list", params)
            offers += read_offers(result)
            cursor = result.get("nextCursor")
            if not isinstance(cursor, str) or len(cursor) > _LONGEST_CURSOR:
                break
            params = {"cursor": cursor}
        return offers

    async def _ask(self, method: str, params: JsonObject) -> JsonObject:
        """The result, once the server is spoken to as it wants. A request that is repeated here did nothing before."""
        if not self._is_open:
            await self._shake_hands()
        heard = await self._post(method, params)
        while heard.result is None and (manner := self._better_manner(heard)) is not None:
            await self._adopt(manner)
            heard = await self._post(method, params)
        if heard.result is None:
            is_about_the_call = heard.error is not None and heard.error.code in ABOUT_THE_CALL
            raise ToolUnknown() if is_about_the_call else self._failed(heard)
        self._client.remember(self._url, self._manner)
        return heard.result

    def _better_manner(self, heard: Heard) -> Manner | None:
        """Each era is tried once; a session that ended is started over once."""
        if self._session is not None and heard.status in _ENDED and not self._has_restarted:
            return self._manner
        wanted = wanted_by(heard)
        return wanted if wanted is not None and wanted.era not in self._tried else None

    async def _adopt(self, manner: Manner) -> None:
        self._has_restarted = manner == self._manner
        self._manner, self._session = manner, None
        self._tried.add(manner.era)
        if manner.era is Era.HANDSHAKE:
            await self._shake_hands()

    async def _shake_hands(self) -> None:
        """In the end the line is open: with a session if the server wants one, or in modern manners if it knows no
        handshake. An older version that the server names is tried once.
        """
        self._session = None
        heard = await self._initialize(self._manner.version)
        named = named_by(heard)
        if named is not None and named.era is Era.HANDSHAKE and named != self._manner:
            heard = await self._initialize(named.version)
        if heard.result is not None:
            await self._agree(heard.result, session=heard.headers.get("mcp-session-id") or None)
        elif self._knows_no_handshake(heard):
            self._manner = MODERN
            self._tried.add(Era.MODERN)
        else:
            raise Refused("unsupported_version") if named_by(heard) else self._failed(heard)
        self._is_open = True

    def _knows_no_handshake(self, heard: Heard) -> bool:
        says_so = heard.error is not None and heard.error.code == METHOD_NOT_FOUND
        return (says_so or named_by(heard) == MODERN) and Era.MODERN not in self._tried

    async def _initialize(self, version: str) -> Heard:
        params: JsonObject = {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT}
        return await self._send("initialize", params, headers=())

    async def _agree(self, result: JsonObject, *, session: str | None) -> None:
        version = result.get("protocolVersion")
        if not isinstance(version, str) or version not in LEGACY_VERSIONS:
            raise Refused("unsupported_version")
        if session is not None and _SESSION_ID.fullmatch(session) is None:
            raise Refused("invalid_response")
        self._manner, self._session = Manner(Era.HANDSHAKE, version), session
        await self._notify("notifications/initialized")

    async def _post(self, method: str, params: JsonObject) -> Heard:
        if self._manner.era is Era.MODERN:
            return await self._send(method, modern_params(params), headers=modern_headers(method, params))
        return await self._send(method, params, headers=legacy_headers(self._manner, self._session))

    async def _send(self, method: str, params: JsonObject, *, headers: Headers) -> Heard:
        listener = Listener(number := new_id())
        request = self._request(request_bytes(method, params, number=number), headers)
        return listener.heard(await self._exchange.send(lambda: request, watch=listener.hears))

    async def _notify(self, method: str) -> None:
        """Accepted or refused by its status; whatever else is said to it is not waited for."""
        request = self._request(request_bytes(method, {}), legacy_headers(self._manner, self._session))
        answer = await self._exchange.send(lambda: request, watch=lambda _headers, _piece: True)
        if not 200 <= answer.status < 300:
            raise self._failed(Heard(status=answer.status, headers=answer.headers))

    def _request(self, body: bytes, headers: Headers) -> OutboundRequest:
        return OutboundRequest(method="POST", url=self._url, headers=(*_USUAL_HEADERS, *headers), body=body)

    def _failed(self, heard: Heard) -> ExchangeError:
        """What to raise. A server that did not take our manners is met as a stranger the next time."""
        if 400 <= heard.status < 500 and heard.status not in _NOT_A_STRANGERS:
            self._client.forget(self._url)
        if heard.error is not None and heard.error.code == UNSUPPORTED_VERSION:
            return Refused("unsupported_version")
        if heard.status == 200:
            return Refused("upstream_error")
        if heard.status < 300:
            return Unclear("invalid_response")  # a request is answered, not accepted for later
        return refusal(
            REFUSALS,
            status=heard.status,
            headers=heard.headers,
            body=heard.body,
            tag=None,
            now=self._client.clock.now(),
        )
