"""Finds tools of Alexandria for an agent."""

from __future__ import annotations

from dataclasses import dataclass

from aws_lambda_powertools import Logger

from shared.domain.alexandria import Found
from shared.domain.alexandria_requests import ToolWish
from shared.domain.deadlines import Deadline
from shared.domain.exposure import CredentialClass
from shared.errors import ExchangeError, Problem
from shared.observability import ALEXANDRIA_SEARCHED
from shared.ports.alexandria import Alexandria
from shared.ports.clock import Clock
from shared.services.admit import Admit
from shared.services.at_once import in_time
from shared.services.open_alexandria import OpenAlexandria, answered
from shared.services.provider_problems import problem_for


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchToolsRequest:
    """`wish` is a Problem where the body could not be read: told to admitted callers alone."""

    token: str | None
    agent_id: str | None
    wish: ToolWish | Problem
    deadline: Deadline
    request_id: str


class SearchTools:
    """Raises what `Admit` raises, then the body's Problem, `NotFound` without a provider to go through, what
    `problem_for` makes of a failure of the service, `Unavailable`.
    """

    def __init__(
        self, *, admit: Admit, way: OpenAlexandria, alexandria: Alexandria, clock: Clock, logger: Logger
    ) -> None:
        self._admit = admit
        self._way = way
        self._alexandria = alexandria
        self._clock = clock
        self._logger = logger

    async def __call__(self, request: SearchToolsRequest) -> Found:
        admission = self._admit(request.token, classes=(CredentialClass.AGENT,), agent_id=request.agent_id)
        principal = await in_time(admission, deadline=request.deadline, clock=self._clock)
        if isinstance(request.wish, Problem):
            raise request.wish
        wish = request.wish
        way = await self._way(principal, named=wish.provider, deadline=request.deadline)
        asking = self._alexandria.search(way.source, wish.query, limit=wish.limit, meter=way.meter)
        try:
            found = await answered(asking, deadline=request.deadline, clock=self._clock)
        except ExchangeError as error:
            self._report(request, way.source.id, outcome=error.code)
            raise problem_for(error, provider_id=way.source.id, now=self._clock.now()) from None
        self._report(request, way.source.id, outcome="success", tools=len(found.tools))
        return found

    def _report(self, request: SearchToolsRequest, provider_id: str, *, outcome: str, tools: int = 0) -> None:
        """The one log line of a search: never what was asked for or found."""
        self._logger.info(
            ALEXANDRIA_SEARCHED,
            request_id=request.request_id,
            agent_id=request.agent_id,
            provider=provider_id,
            outcome=outcome,
            tools=tools,
        )
