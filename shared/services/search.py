"""Searches for an agent: every provider that its credential may reach, of both exposure profiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from aws_lambda_powertools import Logger

from shared.domain.agent_answers import AgentAnswer, agent_answer
from shared.domain.agent_searches import AgentSearch
from shared.domain.cards import Card
from shared.domain.deadlines import Deadline
from shared.domain.eligibility import choose
from shared.domain.exposure import ExposureProfile, Grant
from shared.domain.passages import Question
from shared.domain.registrations import Provider
from shared.domain.replies import Reply, sifted
from shared.errors import Problem
from shared.ports.clock import Clock
from shared.ports.secret_box import Unsealer
from shared.services.agent_cache import AgentCache, cache_key
from shared.services.fan_out import Inquiry
from shared.services.find_cards import FindCards
from shared.services.guarded_asking import GuardedAsking
from shared.services.open_search import Caller, Opening, OpenSearch
from shared.services.report_search import report_search


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRequest:
    """`search` is a Problem where the body could not be read: told to admitted callers alone. `needs` is a grant that
    the credential must hold beyond its class.
    """

    token: str | None
    agent_id: str | None
    search: AgentSearch | Problem
    deadline: Deadline
    request_id: str
    needs: Grant | None = None


class Search:
    """Nobody is asked unless the caller is admitted.

    Raises what `OpenSearch` raises, then the body's Problem.
    """

    def __init__(
        self,
        *,
        opening: OpenSearch,
        unsealers: Mapping[ExposureProfile, Unsealer],
        asking: GuardedAsking,
        find_cards: FindCards[Card],
        cache: AgentCache,
        clock: Clock,
        logger: Logger,
    ) -> None:
        self._open = opening
        self._unsealers = unsealers
        self._asking = asking
        self._find_cards = find_cards
        self._cache = cache
        self._clock = clock
        self._logger = logger

    async def __call__(self, request: AgentRequest) -> AgentAnswer:
        started_s = self._clock.monotonic()
        caller = Caller(
            token=request.token, agent_id=request.agent_id, request_id=request.request_id, needs=request.needs
        )
        opening = await self._open(caller, deadline=request.deadline)
        if isinstance(request.search, Problem):
            raise request.search
        search, principal = request.search, opening.principal
        choice = choose(opening.providers, named=search.providers, allowed=principal.allowed_providers)
        async with self._find_cards.beside(
            search.collections, search.query, deadline=request.deadline, request_id=request.request_id
        ) as finding:
            finding.start()
            replies = await self._replies(choice.eligible, search, opening=opening, request=request)
            answer = agent_answer(replies, choice.refused, limit=search.limit, locale=search.locale)
            answer = replace(answer, cards=await finding.found(), is_from_memory=opening.is_remembered)
        report_search(
            self._logger,
            request_id=request.request_id,
            lane="agent",
            replies=replies,
            results=len(answer.results),
            duration_s=self._clock.monotonic() - started_s,
            agent_id=principal.agent_id,
        )
        return answer

    async def _replies(
        self, eligible: Sequence[Provider], search: AgentSearch, *, opening: Opening, request: AgentRequest
    ) -> list[Reply]:
        """One reply a provider, in their order, without what its audience label forbids."""
        keys = {p.id: cache_key(p, search, opening.principal) for p in eligible}
        recalled = {id_: reply for id_, key in keys.items() if (reply := self._cache.recall(key)) is not None}
        inquiries = [self._inquiry(p, search) for p in eligible if p.id not in recalled]
        asked = await self._asking.ask(
            inquiries, known=opening.known, deadline=request.deadline, request_id=request.request_id
        )
        every = recalled | {reply.source.id: reply for reply in asked}
        replies = [sifted(every[p.id], p.exposure_profile) for p in eligible]
        for reply in replies:
            if reply.source.id not in recalled:
                self._cache.keep(keys[reply.source.id], _remembered(reply))
        return replies

    def _inquiry(self, provider: Provider, search: AgentSearch) -> Inquiry:
        question = Question(
            query=search.query,
            limit=search.limit,
            locale=search.locale,
            locale_fallback=search.locale_fallback,
            conversation_id=search.conversation_id if _may_have_conversation(provider) else None,
            product=search.product,
            repository=search.repository,
            version=search.version,
            freshness=search.freshness,
        )
        return Inquiry(source=provider.source, question=question, unsealer=self._unsealers[provider.exposure_profile])


def _may_have_conversation(provider: Provider) -> bool:
    return provider.send_conversation_id and provider.exposure_profile is ExposureProfile.AGENT_ONLY


def _remembered(reply: Reply) -> Reply:
    """As it will be told when it is recalled: that took no time."""
    return replace(reply, outcome=replace(reply.outcome, duration_ms=0))
