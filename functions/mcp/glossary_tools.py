"""The glossary as tools. The class that the token claims decides the lane."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, Final

from functions.mcp.tool_parts import ToolParts
from shared.domain.credentials import Principal
from shared.domain.deadlines import Deadline
from shared.domain.exposure import CredentialClass
from shared.services.look_up import LookUpRequest
from shared.services.match import MatchRequest
from shared.web import card_answers, customer_card_answers
from shared.web.mcp import customer_mirrors, mirrors
from shared.web.mcp.mirror import MAX_STRUCTURED_BYTES, Mirror
from shared.web.mcp.tool import ToolCall, ToolResult
from shared.web.mcp.tool_inputs import lookup_of, match_of
from shared.web.wire import WireModel

# Reading the keys of a large collection anew takes some seconds.
DEADLINE_S: Final = 15.0


def look_up(parts: ToolParts, call: ToolCall) -> ToolResult:
    ask = lookup_of(call)
    request = LookUpRequest(
        collection_id=ask.collection_id, terms=ask.terms, deadline=_deadline(parts), request_id=call.request_id
    )
    if call.caller is CredentialClass.AGENT:
        found = parts.loop.run(parts.look_up(request, admission=_agent(parts, call)))
        out = card_answers.lookup_out(found, cap=MAX_STRUCTURED_BYTES)
        return _result(out, mirrors.lookup_mirror(out))
    work = parts.look_up_for_customer(request, admission=parts.admit_assistant(call.token))
    safe = customer_card_answers.lookup_out(parts.loop.run(work), cap=MAX_STRUCTURED_BYTES)
    return _result(safe, customer_mirrors.lookup_mirror(safe))


def match(parts: ToolParts, call: ToolCall) -> ToolResult:
    ask = match_of(call)
    request = MatchRequest(
        collection_id=ask.collection_id, wish=ask.wish, deadline=_deadline(parts), request_id=call.request_id
    )
    if call.caller is CredentialClass.AGENT:
        matched = parts.loop.run(parts.match(request, admission=_agent(parts, call)))
        out = card_answers.match_out(matched, cap=MAX_STRUCTURED_BYTES)
        return _result(out, mirrors.match_mirror(out))
    work = parts.match_for_customer(request, admission=parts.admit_assistant(call.token))
    safe = customer_card_answers.match_out(parts.loop.run(work), cap=MAX_STRUCTURED_BYTES)
    return _result(safe, customer_mirrors.match_mirror(safe))


def _deadline(parts: ToolParts) -> Deadline:
    return Deadline.after(DEADLINE_S, now_s=parts.clock.monotonic())


def _agent(parts: ToolParts, call: ToolCall) -> Coroutine[Any, Any, Principal]:
    return parts.admit(call.token, classes=(CredentialClass.AGENT,))


def _result(out: WireModel, mirror: Mirror) -> ToolResult:
    structured = out.model_dump_json(by_alias=True)
    return ToolResult(text=mirror.text(beside=structured), structured=structured)
