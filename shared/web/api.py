"""A function's HTTP face: routes on a Powertools resolver, problems as problem+json, one set of headers on all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response

from shared.errors import InternalFault, NotFound, NotThroughFront, Problem
from shared.observability import REQUEST_FAULT, REQUEST_REFUSED, correlate, place_of
from shared.ports.front_door import FrontDoor
from shared.web import problems
from shared.web.door import let_in
from shared.web.events import Event, gateway_request_id_of, normalised, request_id_of

JSON = "application/json"


class Api:
    """Register routes with `route`; `handle` is the Lambda entry point.

    A route function takes the path parameters by name and returns a Response made by `answer`. One invocation at a
    time, as in a Lambda process: the resolver keeps the event it is working on.
    What it raises becomes a problem; an error nobody expected is logged by type and place and answered as 500.
    """

    def __init__(
        self,
        logger: Logger,
        *,
        headers: Callable[[Event], Mapping[str, str]] | None = None,
        front: FrontDoor | None = None,
    ) -> None:
        """`headers` gives headers that every answer to an event carries, unless the answer itself says otherwise.
        With a `front` nothing is answered that did not come through it.
        """
        self._logger = logger
        self._front = front
        self._turn_away: Callable[[], Response[str]] | None = None
        self._headers = headers
        self._resolver = APIGatewayHttpResolver()
        self._resolver.exception_handler(Problem)(self._refused)
        self._resolver.exception_handler(Exception)(self._fault)
        self._resolver.not_found(lambda _error: self._answer_unrouted())
        self._answer_unrouted: Callable[[], Response[str]] = self._unrouted
        self._refusals: dict[str, Callable[[Problem], Response[str]]] = {}

    @property
    def event(self) -> Event:
        """The event being handled."""
        return self._resolver.current_event.raw_event

    @property
    def request_id(self) -> str:
        return request_id_of(self.event)

    def route(self, method: str, path: str) -> Callable[[Callable[..., Response[str]]], Callable[..., Response[str]]]:
        """`path` is written as in the route table: `/things/{thingId}`."""
        return self._resolver.route(_powertools_rule(path), method=method)

    def on_unrouted(self, answer_unrouted: Callable[[], Response[str]]) -> None:
        """What answers the paths and methods that no route takes, in place of a plain 404."""
        self._answer_unrouted = answer_unrouted

    def refuse_by(self, path: str, refusal: Callable[[Problem], Response[str]]) -> None:
        """Every problem on `path` is answered as `refusal` writes it: for callers who know another shape."""
        self._refusals[path] = refusal

    def turn_away_by(self, refusal: Callable[[], Response[str]]) -> None:
        """What did not come through the front is answered like this, in place of a problem."""
        self._turn_away = refusal

    def handle(self, event: Mapping[str, Any], context: Any) -> dict[str, Any]:
        prepared = normalised(event)
        self._correlate(event, context, request_id=request_id_of(prepared))
        always = {"X-Request-Id": request_id_of(prepared), **_ALWAYS}
        if self._front is not None:
            try:
                prepared = let_in(prepared, self._front)
            except Problem as problem:
                return _outside(self._at_the_door(prepared, problem), headers=always)
        response = self._resolver.resolve(prepared, context)
        if self._headers:
            always |= self._headers(prepared)
        response["headers"] = always | response.get("headers", {})
        return response

    def problem(self, problem: Problem, *, headers: Mapping[str, str] | None = None) -> Response[str]:
        return self._answer_to(self.event, problem, headers=headers)

    def _answer_to(self, event: Event, problem: Problem, *, headers: Mapping[str, str] | None = None) -> Response[str]:
        if (refusal := self._refusals.get(event["rawPath"])) is not None:
            return refusal(problem)
        body = problems.body_of(problem, request_id=request_id_of(event))
        every = {**problems.headers_of(problem), **(headers or {})}
        return Response(status_code=problem.status, content_type=problems.PROBLEM_JSON, body=body, headers=every)

    def _correlate(self, event: Mapping[str, Any], context: Any, *, request_id: str) -> None:
        """What joins our lines with the caller's id, the line of the API's access log and those of Lambda itself."""
        ids = {
            "request_id": request_id,
            "gateway_request_id": gateway_request_id_of(event),
            "function_request_id": getattr(context, "aws_request_id", None),
        }
        correlate(self._logger, ids)

    def _at_the_door(self, event: Event, problem: Problem) -> Response[str]:
        self._logger.info(REQUEST_REFUSED, code=problem.code, status=problem.status, request_id=request_id_of(event))
        if isinstance(problem, NotThroughFront) and self._turn_away is not None:
            return self._turn_away()
        return self._answer_to(event, problem)

    def _refused(self, problem: Problem) -> Response[str]:
        tell = self._logger.warning if problem.status >= 500 else self._logger.info
        tell(REQUEST_REFUSED, code=problem.code, status=problem.status, request_id=self.request_id)
        return self.problem(problem)

    def _fault(self, error: Exception) -> Response[str]:
        self._logger.error(REQUEST_FAULT, fault=place_of(error), request_id=self.request_id)
        return self.problem(InternalFault("Quote the request id when you report this."))

    def _unrouted(self) -> Response[str]:
        return self.problem(NotFound("No such path."))


def _outside(response: Response[str], *, headers: Mapping[str, str]) -> dict[str, Any]:
    """As the gateway takes it, for an event that no route has seen."""
    return {
        "statusCode": response.status_code,
        "headers": {**headers, **response.headers},
        "body": response.body,
        "isBase64Encoded": False,
    }


_ALWAYS = {"Cache-Control": "private, no-store", "X-Content-Type-Options": "nosniff"}


def answer(
    body: str, *, status: int = 200, headers: Mapping[str, str] | None = None, media_type: str = JSON
) -> Response[str]:
    """A JSON answer, unless `media_type` says otherwise. `body` is the text itself: the wire model serialised it."""
    return Response(status_code=status, content_type=media_type, body=body, headers=dict(headers or {}))


def nothing(*, status: int = 204, headers: Mapping[str, str] | None = None) -> Response[str]:
    return Response(status_code=status, body="", headers=dict(headers or {}))


def _powertools_rule(path: str) -> str:
    return path.replace("{", "<").replace("}", ">")
