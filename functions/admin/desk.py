"""The door of the admin API: every route is admitted here first, and a change leaves a line in the log. Admins alone
are let in, but where a route says otherwise.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import Response

from shared.adapters.event_loop import ProcessLoop
from shared.domain.credentials import Principal
from shared.domain.exposure import CredentialClass
from shared.domain.identifiers import parse_token
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
Classes = tuple[CredentialClass, ...]
ADMINS: Final = (CredentialClass.ADMIN,)


class Desk:
    """Registers coroutines on the Api. One gets the `Call` and the path's parameters."""

    def __init__(self, api: Api, *, admit: AdmitAdmin, loop: ProcessLoop, logger: Logger) -> None:
        self._api = api
        self._admit = admit
        self._loop = loop
        self._logger = logger

    def route(
        self, method: str, path: str, *, changes: bool = True, classes: Classes = ADMINS
    ) -> Callable[[Work], Work]:
        """`changes` is False for a POST that is no change in itself. A GET never is one. `classes`: who is let in."""

        def register(work: Work) -> Work:
            @self._api.route(method, path)
            def run(**parameters: str) -> Response[str]:
                is_change = changes and method != "GET"
                return self._loop.run(self._answered(work, parameters, classes=classes, is_change=is_change))

            return work

        return register

    async def _answered(
        self, work: Work, parameters: dict[str, str], *, classes: Classes, is_change: bool
    ) -> Response[str]:
        event = self._api.event
        principal = await self._admitted(event, classes)
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

    async def _admitted(self, event: Event, classes: Classes) -> Principal:
        """A failure is logged as a constant that a metric counts: somebody is trying, or a token has leaked or died.
        An agent whose token has ended, where agents are let in, tries nothing.
        """
        token_text = bearer_of(event)
        try:
            return await self._admit(token_text, classes=classes)
        except Unauthenticated:
            token = parse_token(token_text) if token_text else None
            if token is None or token.credential_class not in classes or token.credential_class in ADMINS:
                self._logger.warning(ADMIN_AUTHENTICATION_FAILED, request_id=self._api.request_id)
            raise
