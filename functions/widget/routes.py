"""The widget's route and its preflight. CORS is answered here, because the list of origins belongs to credentials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import Response

from shared.adapters.event_loop import ProcessLoop
from shared.domain.deadlines import Deadline
from shared.errors import Forbidden, RateLimited
from shared.observability import WIDGET_REFUSED
from shared.ports.clock import Clock
from shared.ports.front_door import FrontDoor
from shared.services.admit_preflight import AdmitPreflight
from shared.services.admit_widget import AdmitWidget, WidgetVisit
from shared.services.search_for_customer import CustomerRequest, SearchForCustomer
from shared.web import cors, customer_answers, problems
from shared.web.api import Api, answer, nothing
from shared.web.customer_requests import read_widget_search
from shared.web.events import Event, bearer_of

PATH: Final = "/api/v1/knowledge/widget/search"
_REFUSAL = Forbidden("This key does not work on this page.")
_REFUSAL_BODY = problems.body_of(_REFUSAL, request_id=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class WidgetParts:
    search_for_customer: SearchForCustomer
    admit_widget: AdmitWidget
    admit_preflight: AdmitPreflight
    clock: Clock
    loop: ProcessLoop
    logger: Logger
    front: FrontDoor | None = None


def api_for(parts: WidgetParts) -> Api:
    def headers(event: Event) -> Mapping[str, str]:
        visit = _visit(event)
        recognised = visit.origin is not None and parts.admit_widget.recognises(visit)
        return cors.readable_by(visit.origin) if recognised and visit.origin else cors.VARY

    api = Api(parts.logger, headers=headers, front=parts.front)
    api.turn_away_by(lambda: _refused(headers=cors.VARY))

    @api.route("OPTIONS", PATH)
    def preflight() -> Response[str]:
        origin = api.event["headers"].get("origin")
        is_listed = parts.loop.run(parts.admit_preflight(origin))
        return nothing(headers=cors.preflight_for(origin) if is_listed else cors.VARY)

    @api.route("POST", PATH)
    def search() -> Response[str]:
        received_s = parts.clock.monotonic()
        ask = read_widget_search(api.event)
        deadline = Deadline.after(ask.deadline_ms / 1000, now_s=received_s)
        request = CustomerRequest(question=ask.question, deadline=deadline, request_id=api.request_id)
        admission = parts.admit_widget(_visit(api.event))
        try:
            found = parts.loop.run(parts.search_for_customer(request, admission=admission))
        except (Forbidden, RateLimited) as refusal:
            parts.logger.info(WIDGET_REFUSED, code=refusal.code, request_id=api.request_id)
            return _refused() if isinstance(refusal, Forbidden) else api.problem(refusal)
        return answer(customer_answers.encoded(found))

    return api


def _refused(*, headers: Mapping[str, str] | None = None) -> Response[str]:
    """Always the same bytes, whatever was wrong; the request id is in the headers alone."""
    return Response(
        status_code=_REFUSAL.status, content_type=problems.PROBLEM_JSON, body=_REFUSAL_BODY, headers=dict(headers or {})
    )


def _visit(event: Event) -> WidgetVisit:
    """The address is the one that API Gateway saw, or that the front told: no forwarding header is read."""
    return WidgetVisit(
        token=bearer_of(event),
        origin=event["headers"].get("origin"),
        address=str(event["requestContext"]["http"]["sourceIp"]),
    )
