"""One POST of a client, answered: what it says is read, the token is verified, and only then is anything told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from aws_lambda_powertools.event_handler import Response

from functions.mcp.batches import flaw_of_batch, flaw_of_heard
from functions.mcp.parts import McpParts
from shared.domain.exposure import CredentialClass
from shared.errors import Problem, Unavailable
from shared.observability import MCP_ANSWERED
from shared.web.agent_answers import DEGRADED
from shared.web.agent_ids import agent_id_of
from shared.web.api import answer, nothing
from shared.web.events import Event, body_of
from shared.web.mcp import answers, messages
from shared.web.mcp.calls import flaw_of_listing, read_call
from shared.web.mcp.envelopes import revision_of
from shared.web.mcp.faults import IN_BAND, Fault, FaultCode, wrong_params
from shared.web.mcp.messages import Batch, Heard, Message, Request
from shared.web.mcp.revisions import MODERN, agreed
from shared.web.mcp.tool import Tool, ToolCall
from shared.web.wire import check_media_type

_OF_MODERN: Final = frozenset({"server/discover", "tools/list", "tools/call"})
_OF_HANDSHAKE: Final = frozenset({"initialize", "ping", "tools/list", "tools/call"})
_KNOWN: Final = _OF_MODERN | _OF_HANDSHAKE


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """`credential_class` is what the token claims; nothing is verified yet."""

    credential_class: CredentialClass
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """The members of a result; `tool` is the name of the tool that gave them, where one did."""

    members: list[str]
    tool: str | None = None
    is_error: bool = False


class Dialogue:
    """Good for one POST. The token is verified once, by the tool that is called where one is; never for what is only
    heard, which is answered with nothing.
    """

    def __init__(self, parts: McpParts, *, caller: Caller, event: Event, request_id: str) -> None:
        self._parts = parts
        self._caller = caller
        self._event = event
        self._sent: Mapping[str, str] = event["headers"]
        self._request_id = request_id
        self._started_s = parts.clock.monotonic()
        self._is_admitted = False
        self._headers: dict[str, str] = {}

    def answer(self) -> Response[str]:
        """Raises `Problem` for what is no matter of the protocol: the token, a limit, the body's size or type."""
        try:
            check_media_type(self._event)
            body = body_of(self._event)
        except Problem:
            self._admit()
            raise
        said = messages.read(body)
        return self._answer_batch(said) if isinstance(said, tuple) else self._answer_one(said)

    def _answer_one(self, message: Message) -> Response[str]:
        due = flaw_of_heard(message, self._sent) if isinstance(message, Heard) else message
        if due is None:
            return nothing(status=202)
        text, status = self._reply_to(due)
        return answer(text, status=status, headers=self._headers)

    def _answer_batch(self, batch: Batch) -> Response[str]:
        if flaw := flaw_of_batch(batch, self._sent):
            return self._answer_one(flaw)
        texts = [self._reply_to(each)[0] for each in batch if not isinstance(each, Heard)]
        return answer(f"[{','.join(texts)}]", headers=self._headers) if texts else nothing(status=202)

    def _reply_to(self, message: Request | Fault) -> tuple[str, int]:
        """The answer's text, and the HTTP status for where it goes out alone."""
        if isinstance(message, Fault):
            return self._refuse(message)
        revision = revision_of(message, self._sent)
        if isinstance(revision, Fault):
            return self._refuse(replace(revision, to=message.id), asked=message)
        found = self._found(message, revision)
        if isinstance(found, Fault):
            return self._refuse(replace(found, to=message.id), asked=message, revision=revision)
        self._log(message, revision, found)
        return answers.answered(message.id, found.members, revision=revision), IN_BAND

    def _refuse(self, fault: Fault, *, asked: Request | None = None, revision: str | None = None) -> tuple[str, int]:
        self._admit()
        self._log(asked, revision, fault)
        return answers.refused(fault), fault.status

    def _found(self, request: Request, revision: str) -> _Found | Fault:
        if request.method not in (_OF_MODERN if revision == MODERN else _OF_HANDSHAKE):
            # To clients of the handshake 404 means that a session ended.
            status = 404 if revision == MODERN else IN_BAND
            return Fault(code=FaultCode.METHOD_NOT_FOUND, message="There is no such method.", status=status)
        if request.method == "tools/call":
            return self._call(request)
        self._admit()
        members = self._members(request, revision)
        return members if isinstance(members, Fault) else _Found(members=members)

    def _members(self, request: Request, revision: str) -> list[str] | Fault:
        if request.method == "initialize":
            asked = request.params.get("protocolVersion")
            if not isinstance(asked, str):
                return wrong_params("params.protocolVersion must be a string.")
            return answers.handshake(agreed(asked))
        if request.method == "tools/list":
            described = (tool.description(self._caller.credential_class) for tool in self._offered())
            return flaw_of_listing(request.params) or answers.listing(described, revision=revision)
        return answers.discovery() if request.method == "server/discover" else []

    def _call(self, request: Request) -> _Found | Fault:
        call = read_call(request.params)
        if isinstance(call, Fault):
            return call
        tool = next((each for each in self._offered() if each.name == call.name), None)
        if tool is None:
            return wrong_params("There is no such tool. tools/list names those there are.")
        result = tool.run(
            ToolCall(
                caller=self._caller.credential_class,
                token=self._caller.token,
                arguments=call.arguments,
                request_id=self._request_id,
                agent_id=self._agent_id(),
            )
        )
        self._is_admitted = True
        self._headers |= result.headers
        return _Found(members=answers.outcome(result), tool=tool.name, is_error=result.is_error)

    def _offered(self) -> Iterator[Tool]:
        return (tool for tool in self._parts.tools if self._caller.credential_class in tool.offered_to)

    def _agent_id(self) -> str | None:
        if self._caller.credential_class is not CredentialClass.AGENT:
            return None
        try:
            return agent_id_of(self._event)
        except Problem:
            self._admit()
            raise

    def _admit(self) -> None:
        """Raises `Unauthenticated`, `Forbidden`, `RateLimited`, `Unavailable`."""
        if self._is_admitted:
            return
        if self._caller.credential_class is CredentialClass.AGENT:
            self._admit_agent()
        else:
            self._parts.loop.run(self._parts.admit_assistant(self._caller.token))
        self._is_admitted = True

    def _admit_agent(self) -> None:
        """While the store cannot be used, an agent that it vouched for a moment ago may open anew, as it may search."""
        try:
            self._parts.loop.run(self._parts.admit(self._caller.token, classes=(CredentialClass.AGENT,)))
        except Unavailable:
            if self._parts.admit.remembered_agent(self._caller.token, agent_id=None) is None:
                raise
            self._headers[DEGRADED] = "store"

    def _log(self, asked: Request | None, revision: str | None, found: _Found | Fault) -> None:
        """Of what the client sent, only what is known here by name."""
        self._parts.logger.info(
            MCP_ANSWERED,
            method=asked.method if asked and asked.method in _KNOWN else None,
            tool=None if isinstance(found, Fault) else found.tool,
            revision=revision,
            credential_class=self._caller.credential_class,
            outcome="fault" if isinstance(found, Fault) else "tool_error" if found.is_error else "answered",
            code=int(found.code) if isinstance(found, Fault) else None,
            duration_ms=round((self._parts.clock.monotonic() - self._started_s) * 1000),
            request_id=self._request_id,
        )
