"""Arguments of tools, read by the wire models of the REST operations that do the same. None of these raises a Problem:
what is wrong is returned, and nobody is told before being admitted.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Final, TypeVar

from pydantic import Field

from shared.domain.matching import MatchWish
from shared.domain.strict_json import JsonValue, NotStrictJson, parse
from shared.errors import Problem
from shared.web.card_requests import LookupBody, MatchBody
from shared.web.customer_requests import AssistantSearchBody, CustomerAsk
from shared.web.mcp.tool import ToolCall
from shared.web.search_fields import DEFAULT_DEADLINE_MS
from shared.web.search_requests import AgentAsk, AgentSearchBody
from shared.web.wire import WireModel, read_object

Model = TypeVar("Model", bound=WireModel)

_THING: Final = "arguments object"
_EXACT_BELOW: Final = 2**53
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
    """As the REST operation reads its body, but for two ways of writing that models have: 3.0 is 3, as JSON Schema has
    it, and `null` leaves out what may be left out.
    """
    return read_object(model, _in_plain(model, call.arguments), thing=_THING)


def _in_plain(model: type[Model], sent: bytes) -> bytes:
    """What cannot be read is left as it is, for the reader to refuse."""
    try:
        value = parse(sent)
    except NotStrictJson:
        return sent
    if not isinstance(value, dict):
        return sent
    optional = {field.alias for field in model.model_fields.values() if not field.is_required()}
    kept = {name: _whole(each) for name, each in value.items() if each is not None or name not in optional}
    return json.dumps(kept, ensure_ascii=False).encode()


def _whole(value: JsonValue) -> JsonValue:
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT_BELOW:
        return int(value)
    return value
