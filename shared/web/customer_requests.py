"""Searches of the customer lane, as they arrive: an assistant's and a widget's. Neither can name a provider."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from shared.domain.passages import Question
from shared.errors import Problem
from shared.web.events import Event
from shared.web.search_fields import DEFAULT_DEADLINE_MS, CollectionIds, DeadlineMs, LanguageTag, SentText
from shared.web.wire import WireModel, read_body

WIDGET_DEADLINE_MS = 8_000


class AssistantSearchBody(WireModel):
    """All that an assistant may send; every other field is refused."""

    query: Annotated[str, Field(min_length=1, max_length=1024), SentText]
    limit: Annotated[int, Field(ge=1, le=50)] = 10
    locale: LanguageTag | None = None
    locale_fallback: LanguageTag | None = None
    collections: CollectionIds | None = None
    deadline_ms: DeadlineMs = DEFAULT_DEADLINE_MS


class WidgetSearchBody(WireModel):
    """All that a widget may send; every other field is refused."""

    query: Annotated[str, Field(min_length=1, max_length=300), SentText]
    limit: Annotated[int, Field(ge=1, le=10)] = 10
    locale: LanguageTag | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerAsk:
    """A read request. `question` is a Problem where it could not be read: nobody is told before being admitted."""

    question: Question | Problem
    deadline_ms: int
    collections: tuple[str, ...] = ()

    @classmethod
    def of(cls, body: AssistantSearchBody) -> CustomerAsk:
        question = Question(
            query=body.query, limit=body.limit, locale=body.locale, locale_fallback=body.locale_fallback
        )
        return cls(question=question, deadline_ms=body.deadline_ms, collections=body.collections or ())


def read_assistant_search(event: Event) -> CustomerAsk:
    """Never raises a Problem: what is wrong is returned."""
    try:
        return CustomerAsk.of(read_body(AssistantSearchBody, event))
    except Problem as problem:
        return CustomerAsk(question=problem, deadline_ms=DEFAULT_DEADLINE_MS)


def read_widget_search(event: Event) -> CustomerAsk:
    """Never raises a Problem: what is wrong is returned."""
    try:
        body = read_body(WidgetSearchBody, event)
    except Problem as problem:
        return CustomerAsk(question=problem, deadline_ms=WIDGET_DEADLINE_MS)
    question = Question(query=body.query, limit=body.limit, locale=body.locale)
    return CustomerAsk(question=question, deadline_ms=WIDGET_DEADLINE_MS)
