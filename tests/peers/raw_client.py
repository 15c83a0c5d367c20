"""A client that sends what it is told to, right or wrong."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

PATH = "/mcp"
MODERN = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Received:
    status: int
    headers: dict[str, str]
    data: bytes

    @property
    def json(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self.data)
        return value

    @property
    def code(self) -> str:
        """That of the problem or of the JSON-RPC error; `isError` of a tool's error."""
        body = self.json
        if body.get("result", {}).get("isError"):
            return "isError"
        return str(body["error"]["code"] if "error" in body else body["code"])


@dataclass(frozen=True, slots=True)
class RawClient:
    """`url` is the gateway's."""

    url: str
    token: str = field(repr=False)

    def send(self, data: bytes = b"", *, method: str = "POST", headers: dict[str, str] | None = None) -> Received:
        sent = {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}", **(headers or {})}
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=_TIMEOUT_S)
        try:
            connection.request(method, PATH, data, sent)
            answer = connection.getresponse()
            return Received(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def ask(
        self, method: str, params: dict[str, Any] | None = None, *, headers: dict[str, str] | None = None
    ) -> Received:
        """As clients did that agreed on a revision first."""
        return self.send(_request(method, params or {}), headers=headers)

    def ask_modern(self, method: str, *, meta: dict[str, Any] = META, method_header: str | None = None) -> Received:
        headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method if method_header is None else method_header}
        return self.send(_request(method, {"_meta": meta}), headers=headers)

    def tools(self) -> dict[str, dict[str, Any]]:
        return {tool["name"]: tool for tool in self.ask("tools/list").json["result"]["tools"]}

    def use(self, tool: str, **arguments: Any) -> Received:
        return self.ask("tools/call", {"name": tool, "arguments": arguments})


def _request(method: str, params: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
