"""An agent's search, as it arrives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from shared.domain.agent_searches import AgentSearch
from shared.domain.passages import FreshnessWish
from shared.errors import Problem
from shared.web.agent_ids import agent_id_of
from shared.web.events import Event
from shared.web.search_fields import (
    DEFAULT_DEADLINE_MS,
    CollectionIds,
    ConversationId,
    DeadlineMs,
    LanguageTag,
    Product,
    Repository,
    SentText,
    Version,
)
from shared.web.wire import WireModel, read_body


class SearchContext(WireModel):
    """`conversationId` goes to internal providers alone, and of these only to those registered to receive it."""

    conversation_id: ConversationId | None = None


class AgentSearchBody(WireModel):
    """What an agent may send. `providers` narrows what the credential may reach and never widens it."""

    query: Annotated[str, Field(min_length=1, max_length=4000), SentText]
    limit: Annotated[int, Field(ge=1, le=50)] = 10
    locale: LanguageTag | None = None
    locale_fallback: LanguageTag | None = None
    context: SearchContext | None = None
    providers: Annotated[tuple[Annotated[str, Field(max_length=128)], ...], Field(max_length=400)] | None = None
    collections: CollectionIds | None = None
    product: Product | None = None
    repository: Repository | None = None
    version: Version | None = None
    freshness: FreshnessWish = FreshnessWish.NORMAL
    deadline_ms: DeadlineMs = DEFAULT_DEADLINE_MS

    def to_search(self) -> AgentSearch:
        return AgentSearch(
            query=self.query,
            limit=self.limit,
            locale=self.locale,
            locale_fallback=self.locale_fallback,
            conversation_id=self.context.conversation_id if self.context else None,
            providers=self.providers,
            collections=self.collections or (),
            product=self.product,
            repository=self.repository,
            version=self.version,
            freshness=self.freshness,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentAsk:
    """A read request. `search` is a Problem where it could not be read: nobody is told before being admitted."""

    search: AgentSearch | Problem
    agent_id: str | None = None
    deadline_ms: int = DEFAULT_DEADLINE_MS

    @classmethod
    def of(cls, body: AgentSearchBody, *, agent_id: str | None) -> AgentAsk:
        return cls(search=body.to_search(), agent_id=agent_id, deadline_ms=body.deadline_ms)


def read_agent_search(event: Event) -> AgentAsk:
    """Never raises a Problem: what is wrong is returned."""
    try:
        agent_id = agent_id_of(event)
        return AgentAsk.of(read_body(AgentSearchBody, event), agent_id=agent_id)
    except Problem as problem:
        return AgentAsk(search=problem)
