"""The search as a tool. The class that the token claims decides what may be sent and what comes back."""

from __future__ import annotations

from functions.mcp.tool_parts import ToolParts
from shared.domain.deadlines import Deadline
from shared.domain.exposure import CredentialClass
from shared.services.search import AgentRequest
from shared.services.search_for_customer import CustomerRequest
from shared.web import agent_answers, customer_answers
from shared.web.customer_shown_cards import customer_cards_out
from shared.web.mcp import customer_mirrors, mirrors
from shared.web.mcp.mirror import MAX_STRUCTURED_BYTES
from shared.web.mcp.tool import ToolCall, ToolResult
from shared.web.mcp.tool_inputs import agent_search_of, assistant_search_of


def search(parts: ToolParts, call: ToolCall) -> ToolResult:
    return _for_agent(parts, call) if call.caller is CredentialClass.AGENT else _for_assistant(parts, call)


def _for_agent(parts: ToolParts, call: ToolCall) -> ToolResult:
    received_s = parts.clock.monotonic()
    ask = agent_search_of(call)
    request = AgentRequest(
        token=call.token,
        agent_id=ask.agent_id,
        search=ask.search,
        deadline=Deadline.after(ask.deadline_ms / 1000, now_s=received_s),
        request_id=call.request_id,
    )
    found = parts.loop.run(parts.search(request))
    out, structured = agent_answers.fitted(found, request_id=call.request_id, cap=MAX_STRUCTURED_BYTES)
    mirror = mirrors.search_mirror(out)
    return ToolResult(
        text=mirror.text(beside=structured),
        structured=structured,
        is_error=mirror.is_error,
        headers=agent_answers.headers_of(found, now=parts.clock.now()),
    )


def _for_assistant(parts: ToolParts, call: ToolCall) -> ToolResult:
    received_s = parts.clock.monotonic()
    ask = assistant_search_of(call)
    request = CustomerRequest(
        question=ask.question,
        deadline=Deadline.after(ask.deadline_ms / 1000, now_s=received_s),
        request_id=call.request_id,
    )
    admission = parts.admit_assistant(call.token)
    work = parts.search_for_assistant(request, collections=ask.collections, admission=admission)
    found, found_cards = parts.loop.run(work)
    cards = customer_cards_out(found_cards.cards) if found_cards else None
    out, structured = customer_answers.fitted(found, cards=cards, cap=MAX_STRUCTURED_BYTES)
    return ToolResult(text=customer_mirrors.search_mirror(out).text(beside=structured), structured=structured)
