"""Arguments of tools, read by the wire models of the REST operations that do the same. None of these raises a Problem:
what is wrong is returned, and nobody is told before being admitted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, TypeVar

from pydantic import Field

from shared.domain.matching import MatchWish
from shared.errors import Problem
from shared.web.card_requests import LookupBody, MatchBody
from shared.web.customer_requests import AssistantSearchBody, CustomerAsk
from shared.web.mcp.tool import ToolCall
from shared.web.search_fields import DEFAULT_DEADLINE_MS
from shared.web.search_requests import AgentAsk, AgentSearchBody
from shared.web.wire import WireModel, read_object

Model = TypeVar("Model", bound=WireModel)

_THING: Final = "arguments object"
_CollectionId = Annotated[str, Field(min_length=1, max_length=64)]


class LookupArguments(LookupBody):
    """A look-up, and in which collection: in REST that stands in the path."""

    collection_id: _CollectionId


class MatchArguments(MatchBody):
    """A match, and in which collection: in REST that stands in the path."""

    collection_id: _CollectionId


@dataclass(frozen=True, slots=True, kw_only=True)
class LookupAsk:
    """`terms` is a Problem where the arguments could not be read."""

    terms: tuple[str, ...] | Problem
    collection_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchAsk:
    """`wish` is a Problem where the arguments could not be read."""

    wish: MatchWish | Problem
    collection_id: str = ""


def agent_search_of(call: ToolCall) -> AgentAsk:
    try:
        return AgentAsk.of(read_arguments(AgentSearchBody, call), agent_id=call.agent_id)
    except Problem as problem:
        return AgentAsk(search=problem)


def assistant_search_of(call: ToolCall) -> CustomerAsk:
    try:
        return CustomerAsk.of(read_arguments(AssistantSearchBody, call))
    except Problem as problem:
        return CustomerAsk(question=problem, deadline_ms=DEFAULT_DEADLINE_MS)


def lookup_of(call: ToolCall) -> LookupAsk:
    try:
        read = read_arguments(LookupArguments, call)
    except Problem as problem:
        return LookupAsk(terms=problem)
    return LookupAsk(terms=read.terms, collection_id=read.collection_id)


def match_of(call: ToolCall) -> MatchAsk:
    try:
        read = read_arguments(MatchArguments, call)
    except Problem as problem:
        return MatchAsk(wish=problem)
    return MatchAsk(wish=read.to_wish(), collection_id=read.collection_id)


def read_arguments(model: type[Model], call: ToolCall) -> Model:
    return read_object(model, call.arguments, thing=_THING)
