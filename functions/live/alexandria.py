"""The routes of Alexandria, for agents alone."""

from __future__ import annotations

from typing import Final

from aws_lambda_powertools.event_handler import Response

from functions.live.parts import LiveParts
from shared.domain.deadlines import Deadline
from shared.services.alexandria_execute import ExecuteToolRequest
from shared.services.alexandria_inspect import InspectToolRequest
from shared.services.alexandria_receipt import ReadReceiptRequest
from shared.services.alexandria_search import SearchToolsRequest
from shared.web.alexandria_models import (
    encoded_execution,
    encoded_quote,
    encoded_receipt,
    encoded_tools,
    read_tool_execute,
    read_tool_inspect,
    read_tool_receipt,
    read_tool_search,
)
from shared.web.api import Api, answer
from shared.web.events import bearer_of

DEADLINE_S: Final = 25.0
_ALEXANDRIA: Final = "/api/v1/knowledge/alexandria"


def add_alexandria_routes(api: Api, parts: LiveParts) -> None:
    """Nothing of the body is told, and nobody is asked, before the token is verified."""

    @api.route("POST", _ALEXANDRIA + "/search")
    def search() -> Response[str]:
        deadline, ask = _deadline(parts), read_tool_search(api.event)
        request = SearchToolsRequest(
            token=bearer_of(api.event),
            agent_id=ask.agent_id,
            wish=ask.wish,
            deadline=deadline,
            request_id=api.request_id,
        )
        return answer(encoded_tools(parts.loop.run(parts.alexandria.search(request))))

    @api.route("POST", _ALEXANDRIA + "/inspect")
    def inspect() -> Response[str]:
        deadline, ask = _deadline(parts), read_tool_inspect(api.event)
        request = InspectToolRequest(
            token=bearer_of(api.event),
            agent_id=ask.agent_id,
            choice=ask.wish,
            deadline=deadline,
            request_id=api.request_id,
        )
        return answer(encoded_quote(parts.loop.run(parts.alexandria.inspect(request))))

    @api.route("POST", _ALEXANDRIA + "/execute")
    def execute() -> Response[str]:
        deadline, ask = _deadline(parts), read_tool_execute(api.event)
        request = ExecuteToolRequest(
            token=bearer_of(api.event),
            agent_id=ask.agent_id,
            order=ask.wish,
            deadline=deadline,
            request_id=api.request_id,
        )
        return answer(encoded_execution(parts.loop.run(parts.alexandria.execute(request))))

    @api.route("POST", _ALEXANDRIA + "/receipt")
    def receipt() -> Response[str]:
        deadline, ask = _deadline(parts), read_tool_receipt(api.event)
        request = ReadReceiptRequest(
            token=bearer_of(api.event), agent_id=ask.agent_id, wanted=ask.wish, deadline=deadline
        )
        return answer(encoded_receipt(parts.loop.run(parts.alexandria.receipt(request))))


def _deadline(parts: LiveParts) -> Deadline:
    return Deadline.after(DEADLINE_S, now_s=parts.clock.monotonic())
