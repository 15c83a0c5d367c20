"""The tools of the MCP endpoint in memory: the real ones, over the services of the three REST functions."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from functions.mcp.parts import McpParts
from functions.mcp.routes import api_for
from functions.mcp.tool_parts import ToolParts
from functions.mcp.tools import tools_of
from shared.domain.credentials import Credential
from shared.domain.exposure import CredentialClass, Grant
from shared.ports.front_door import FrontDoor
from shared.web.api import Api
from shared.web.mcp.tool import ToolCall, ToolResult
from tests.support.builders import a_credential, a_token
from tests.support.live_stage import LiveStage
from tests.support.lookup_stage import LookupStage
from tests.support.search_stage import Stage, event_for

AGENT, ASSISTANT = CredentialClass.AGENT, CredentialClass.ASSISTANT
EVERY = {
    AGENT: ("knowledge_search", "glossary_lookup", "glossary_match", "knowledge_acquire"),
    ASSISTANT: ("knowledge_search", "glossary_lookup", "glossary_match"),
}


class ToolStage:
    """`search`, `glossary` and `live` are the stages of REST; a caller of the tools is known to all three."""

    def __init__(self, search: Stage | None = None) -> None:
        self.search = search or Stage()
        self.glossary = LookupStage()
        self.live = LiveStage()
        self.tools = {tool.name: tool for tool in tools_of(self._parts())}
        self.callers = {
            AGENT: self.known(a_credential(credential_class=AGENT)),
            ASSISTANT: self.known(a_credential(credential_class=ASSISTANT, grants=frozenset({Grant.READ_PUBLIC}))),
        }

    def close(self) -> None:
        for stage in (self.search, self.glossary, self.live):
            stage.close()

    def known(self, credential: Credential) -> Credential:
        for stage in (self.search, self.glossary, self.live):
            stage.store.credentials[credential.id] = credential
        return credential

    def token(self, caller: CredentialClass) -> str:
        return a_token(self.callers[caller])

    def agent(self, tool: str, arguments: Any, **over: Any) -> ToolResult:
        return self.call(tool, arguments, caller=AGENT, **over)

    def assistant(self, tool: str, arguments: Any, **over: Any) -> ToolResult:
        return self.call(tool, arguments, caller=ASSISTANT, **over)

    def call(
        self,
        tool: str,
        arguments: Any,
        *,
        caller: CredentialClass,
        token: str | None = None,
        agent_id: str | None = None,
        request_id: str = "r-1",
    ) -> ToolResult:
        """`arguments` is an object, or bytes as they are. What comes back is judged by what the tool declares."""
        result = self.tools[tool].run(
            ToolCall(
                caller=caller,
                token=token or self.token(caller),
                arguments=arguments if isinstance(arguments, bytes) else json.dumps(arguments).encode(),
                request_id=request_id,
                agent_id=agent_id,
            )
        )
        judge(self.tools[tool].description(caller), result)
        return result

    def endpoint(self, *, front: FrontDoor | None = None) -> Api:
        """The whole function, over these tools."""
        parts = self._parts()
        return api_for(
            McpParts(
                tools=tools_of(parts),
                admit=parts.admit,
                admit_assistant=parts.admit_assistant,
                origins=frozenset(),
                clock=parts.clock,
                loop=parts.loop,
                logger=self.search.log,
                front=front,
            )
        )

    def event(self, tool: str, arguments: Any, *, caller: CredentialClass = AGENT, headers: Any = None) -> Any:
        """A call of a tool as a client of 2025-06-18 sends it."""
        params = {"name": tool, "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        event = event_for("search_agent", self.token(caller), body, headers)
        event["rawPath"] = event["requestContext"]["http"]["path"] = "/mcp"
        event["routeKey"] = "POST /mcp"
        return event

    def _parts(self) -> ToolParts:
        search, glossary = self.search._search_parts(0.0), self.glossary._parts()
        return ToolParts(
            search=search.search,
            search_for_assistant=search.search_for_assistant,
            look_up=glossary.look_up,
            look_up_for_customer=glossary.look_up_for_customer,
            match=glossary.match,
            match_for_customer=glossary.match_for_customer,
            acquire=lambda: self.live.parts.acquire,
            admit=glossary.admit,
            admit_assistant=search.admit_assistant,
            clock=self.search.clock,
            loop=self.search.loop,
        )


def judge(description: str, result: ToolResult) -> None:
    """What every result holds to, errors included."""
    assert result.text.strip()
    if result.structured is not None:
        faults = [error.message for error in _validator(description).iter_errors(strictly(result.structured))]
        assert not faults, faults
    assert result.is_error or result.structured is not None


def strictly(text: str) -> Any:
    """JSON as a browser reads it."""

    def refuse(word: str) -> Any:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


@cache
def _validator(description: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads(description)["outputSchema"])
