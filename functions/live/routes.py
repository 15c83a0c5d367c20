"""The routes of single operations at live services, for agents alone. Nothing of the body is told, and nobody is asked,
before the token is verified.
"""

from __future__ import annotations

from aws_lambda_powertools.event_handler import Response

from functions.live.alexandria import add_alexandria_routes
from functions.live.parts import LiveParts
from shared.domain.deadlines import Deadline
from shared.services.acquire import AcquireRequest
from shared.web.acquire_models import encoded, read_acquire
from shared.web.api import Api, answer
from shared.web.events import bearer_of


def api_for(parts: LiveParts) -> Api:
    api = Api(parts.logger, front=parts.front)

    @api.route("POST", "/api/v1/knowledge/acquire")
    def acquire() -> Response[str]:
        received_s = parts.clock.monotonic()
        ask = read_acquire(api.event)
        request = AcquireRequest(
            token=bearer_of(api.event),
            agent_id=ask.agent_id,
            wish=ask.wish,
            deadline=Deadline.after(ask.deadline_ms / 1000, now_s=received_s),
            request_id=api.request_id,
        )
        return answer(encoded(parts.loop.run(parts.acquire(request)), request_id=api.request_id))

    add_alexandria_routes(api, parts)
    return api
