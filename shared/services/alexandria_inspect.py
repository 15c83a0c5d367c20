"""Has one tool of Alexandria priced and described, and keeps the price as a quote."""

from __future__ import annotations

from dataclasses import dataclass

from aws_lambda_powertools import Logger

from shared.domain.alexandria import QUOTE_LIFE_S, Holder, Quote, Tool, ToolName
from shared.domain.alexandria_requests import Quoted, ToolChoice
from shared.domain.credentials import Principal
from shared.domain.deadlines import Deadline
from shared.domain.exposure import CredentialClass
from shared.domain.identifiers import new_nonce
from shared.domain.outcomes import OutcomeCode
from shared.errors import ExchangeError, NotFound, Problem
from shared.observability import ALEXANDRIA_INSPECTED
from shared.ports.alexandria import Alexandria
from shared.ports.clock import Clock
from shared.ports.quotes import Quotes
from shared.services.admit import Admit
from shared.services.at_once import in_time
from shared.services.open_alexandria import OpenAlexandria, Way, answered
from shared.services.provider_problems import problem_for


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectToolRequest:
    """`choice` is a Problem where the body could not be read: told to admitted callers alone."""

    token: str | None
    agent_id: str | None
    choice: ToolChoice | Problem
    deadline: Deadline
    request_id: str


class InspectTool:
    """Raises what `Admit` raises, then the body's Problem, `NotFound` without a provider to go through or for a tool
    that is not listed, what `problem_for` makes of a failure of the service, `Unavailable`.
    """

    def __init__(
        self,
        *,
        admit: Admit,
        way: OpenAlexandria,
        alexandria: Alexandria,
        quotes: Quotes,
        clock: Clock,
        logger: Logger,
    ) -> None:
        self._admit = admit
        self._way = way
        self._alexandria = alexandria
        self._quotes = quotes
        self._clock = clock
        self._logger = logger

    async def __call__(self, request: InspectToolRequest) -> Quoted:
        admission = self._admit(request.token, classes=(CredentialClass.AGENT,), agent_id=request.agent_id)
        principal = await in_time(admission, deadline=request.deadline, clock=self._clock)
        if isinstance(request.choice, Problem):
            raise request.choice
        choice = request.choice
        way = await self._way(principal, named=choice.provider, deadline=request.deadline)
        tool = await self._described(request, choice.tool, way)
        quote = self._quote(principal, tool, way)
        await self._quotes.keep(quote)
        return Quoted(quote, tool)

    async def _described(self, request: InspectToolRequest, name: ToolName, way: Way) -> Tool:
        asking = self._alexandria.inspect(way.source, name, meter=way.meter)
        try:
            tool = await answered(asking, deadline=request.deadline, clock=self._clock)
        except ExchangeError as error:
            self._report(request, way, outcome=error.code)
            if error.code == OutcomeCode.NOT_FOUND:
                raise NotFound("Alexandria lists no tool of these names.") from None
            raise problem_for(error, provider_id=way.source.id, now=self._clock.now()) from None
        self._report(request, way, outcome="success")
        return tool

    def _quote(self, principal: Principal, tool: Tool, way: Way) -> Quote:
        return Quote(
            id=f"aq_{new_nonce()}",
            holder=Holder.of(principal),
            source_id=way.source.id,
            tool=tool.tool,
            price=tool.price,
            expires_at=self._clock.now() + QUOTE_LIFE_S,
        )

    def _report(self, request: InspectToolRequest, way: Way, *, outcome: str) -> None:
        """The one log line of an inspection: never which tool."""
        self._logger.info(
            ALEXANDRIA_INSPECTED,
            request_id=request.request_id,
            agent_id=request.agent_id,
            provider=way.source.id,
            outcome=outcome,
        )
