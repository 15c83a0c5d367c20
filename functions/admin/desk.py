"""The door of the admin API: every route is admitted here first, and a change leaves a line in the log."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import Response

from shared.adapters.event_loop import ProcessLoop
from shared.domain.credentials import Principal
from shared.errors import Unauthenticated
from shared.observability import ADMIN_AUTHENTICATION_FAILED, ADMIN_CHANGED
from shared.services.admit_admin import AdmitAdmin
from shared.web.api import Api
from shared.web.events import Event, bearer_of


@dataclass(frozen=True, slots=True)
class Call:
    """An admitted request."""

    event: Event
    principal: Principal


Work = Callable[..., Awaitable[Response[str]]]


class Desk:
    """Registers coroutines on the Api. One gets the `Call` and the path's parameters."""

    def __init__(self, api: Api, *, admit: AdmitAdmin, loop: ProcessLoop, logger: Logger) -> None:
        self._api = api
        self._admit = admit
        self._loop = loop
        self._logger = logger

    def route(self, method: str, path: str, *, changes: bool = True) -> Callable[[Work], Work]:
        """`changes` is False for a POST that is no change in itself. A GET never is one."""

        def register(work: Work) -> Work:
            @self._api.route(method, path)
            def run(**parameters: str) -> Response[str]:
                return self._loop.run(self._answered(work, parameters, is_change=changes and method != "GET"))

            return work

        return register

    async def _answered(self, work: Work, parameters: dict[str, str], *, is_change: bool) -> Response[str]:
        event = self._api.event
        principal = await self._admitted(event)
        response = await work(Call(event, principal), **parameters)
        if is_change:
            self._logger.info(
                ADMIN_CHANGED,
                actor=principal.credential_id,
                method=event["requestContext"]["http"]["method"],
                route=event["rawPath"],
                status=response.status_code,
                request_id=self._api.request_id,
            )
        return response

    async def _admitted(self, event: Event) -> Principal:
        """A failure is logged as a constant that a metric counts: somebody is trying, or a token has leaked or died."""
        try:
            return await self._admit(bearer_of(event))
        except Unauthenticated:
            self._logger.warning(ADMIN_AUTHENTICATION_FAILED, request_id=self._api.request_id)
            raise
