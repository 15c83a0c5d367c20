"""The MCP endpoint in memory: its real routes over a few small tools that only note that they were called."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from functions.mcp.parts import McpParts
from functions.mcp.routes import api_for
from shared.adapters.event_loop import ProcessLoop
from shared.domain.exposure import CredentialClass, Grant
from shared.services.admit import Admit
from shared.services.admit_assistant import AdmitAssistant
from shared.web.mcp.tool import Tool, ToolCall, ToolResult
from tests.support.builders import a_credential, a_token
from tests.support.fakes import FakeClock, FakeCredentials, FakeRateLimits
from tests.support.search_stage import Answered, RecordedLog, event_for

PAGE = "https://assistant.fern-desk.test"
BOTH = frozenset({CredentialClass.AGENT, CredentialClass.ASSISTANT})
MODERN = "2026-07-28"


class McpStage:
    """`echo` gives back its arguments; `agents_echo` is for agents alone; `failing` says that it failed. Each verifies
    its caller, as the real tools do.
    """

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.log = RecordedLog()
        self.loop = ProcessLoop()
        self.calls: list[ToolCall] = []
        self.agent = a_credential(credential_class=CredentialClass.AGENT)
        self.assistant = a_credential(
            credential_class=CredentialClass.ASSISTANT, grants=frozenset({Grant.READ_PUBLIC}), id="b" * 16
        )
        self.agent_token, self.assistant_token = a_token(self.agent), a_token(self.assistant)
        self.credentials = FakeCredentials([self.agent, self.assistant])
        self.rate_limits = FakeRateLimits(clock=self.clock)
        self.admit = Admit(credentials=self.credentials, rate_limits=self.rate_limits, clock=self.clock)
        self.result = ToolResult(text="done", structured='{"n":1.50}')
        self._api = api_for(self._parts())

    def close(self) -> None:
        self.loop.close()

    def post(
        self,
        body: Any,
        *,
        token: str | None = None,
        headers: Mapping[str, str | None] | None = None,
        method: str = "POST",
    ) -> Answered:
        """`body` is sent as JSON, a text or bytes as they are. Without `token` the agent's is sent; an empty one sends
        none.
        """
        every = {"accept": "application/json, text/event-stream", **(headers or {})}
        sent = base64.b64encode(body).decode() if isinstance(body, bytes) else body
        event = event_for("search_agent", self.agent_token if token is None else token, sent, every)
        event["isBase64Encoded"] = isinstance(body, bytes)
        event["rawPath"] = event["requestContext"]["http"]["path"] = "/mcp"
        event["routeKey"] = f"{method} /mcp"
        event["requestContext"]["http"]["method"] = method
        response = self._api.handle(event, None)
        return Answered(status=response["statusCode"], headers=response["headers"], text=response.get("body") or "")

    def modern(self, method: str, *, token: str | None = None, **params: Any) -> Answered:
        """One request as a client of 2026-07-28 makes it."""
        meta = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        headers = {"mcp-protocol-version": MODERN, "mcp-method": method, "mcp-name": params.get("name")}
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        return self.post(body, token=token, headers=headers)

    def legacy(self, method: str, *, token: str | None = None, **params: Any) -> Answered:
        return self.post({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, token=token)

    def _parts(self) -> McpParts:
        log: Any = self.log
        return McpParts(
            tools=(
                self._tool("echo", BOTH),
                self._tool("agents_echo", frozenset({CredentialClass.AGENT})),
                self._tool("failing", BOTH),
            ),
            admit=self.admit,
            admit_assistant=AdmitAssistant(admit=self.admit),
            origins=frozenset({PAGE}),
            clock=self.clock,
            loop=self.loop,
            logger=log,
        )

    def _tool(self, name: str, offered_to: frozenset[CredentialClass]) -> Tool:
        def described(caller: CredentialClass) -> str:
            return json.dumps({"name": name, "inputSchema": {"type": "object"}, "description": f"For {caller}."})

        def run(call: ToolCall) -> ToolResult:
            self.loop.run(self.admit(call.token, classes=(call.caller,)))
            self.calls.append(call)
            return ToolResult(text="It failed.", is_error=True) if name == "failing" else self.result

        return Tool(name=name, description=described, offered_to=offered_to, run=run)


@contextmanager
def mcp_stage() -> Iterator[McpStage]:
    stage = McpStage()
    try:
        yield stage
    finally:
        stage.close()
