"""Retrievals as Dify sends them. Fields that are not known are ignored here: Dify adds some with its versions."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from shared.domain.agent_searches import AgentSearch
from shared.domain.external_knowledge import agent_knowledge, check_customer_knowledge
from shared.domain.passages import Question
from shared.errors import BadRequest, Invalid, Problem, Violation
from shared.web.events import Event, body_of
from shared.web.search_fields import SentText
from shared.web.wire import read_body

# Dify waits five seconds for a byte, then asks again, up to three times: a later answer would be asked for four times
# and read by nobody. The rest of the five is for the way there and back.
DEADLINE_MS: Final = 4_000
MAX_RECORDS: Final = 50
DEFAULT_RECORDS: Final = 10
ASSISTANT_QUERY_CHARACTERS: Final = 1_024
AGENT_QUERY_CHARACTERS: Final = 4_000


class _Sent(BaseModel):
    """No coercion, whatever else is ignored: `"5"` is not 5."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)


class DifyRetrievalSetting(_Sent):
    """`score_threshold` is not applied: scores say the order and nothing else."""

    top_k: Annotated[
        int | None, Field(ge=1, description="How many records at most; beyond 50, 50. null = 10.", examples=[5])
    ] = None
    score_threshold: float | None = None


class DifyMetadataCondition(_Sent):
    """A filter that the sources cannot apply: one with conditions is refused."""

    logical_operator: str | None = None
    conditions: Annotated[tuple[JsonValue, ...] | None, Field(max_length=0)] = None


class DifyRetrievalBody(_Sent):
    """`knowledge_id`: `public` for class ast; for class agt `all` or the id of one provider."""

    knowledge_id: str
    query: Annotated[
        str,
        Field(
            min_length=1,
            max_length=2 * AGENT_QUERY_CHARACTERS,
            description="At most 1,024 characters for class ast and 4,000 for class agt, without the backslashes that "
            "Dify puts before double quotes.",
        ),
        SentText,
    ]
    retrieval_setting: DifyRetrievalSetting | None = None
    metadata_condition: DifyMetadataCondition | None = None

    @property
    def limit(self) -> int:
        wanted = self.retrieval_setting.top_k if self.retrieval_setting else None
        return DEFAULT_RECORDS if wanted is None else min(wanted, MAX_RECORDS)


def read_for_assistant(event: Event) -> Question | Problem:
    """Never raises a Problem: what is wrong is returned."""
    try:
        body = _read(event)
        query = _query(body, characters=ASSISTANT_QUERY_CHARACTERS)
        check_customer_knowledge(body.knowledge_id.strip())
    except Problem as problem:
        return problem
    return Question(query=query, limit=body.limit)


def read_for_agent(event: Event) -> AgentSearch | Problem:
    """Never raises a Problem: what is wrong is returned."""
    try:
        body = _read(event)
        query = _query(body, characters=AGENT_QUERY_CHARACTERS)
        providers = agent_knowledge(body.knowledge_id.strip())
    except Problem as problem:
        return problem
    return AgentSearch(query=query, limit=body.limit, providers=providers)


def _read(event: Event) -> DifyRetrievalBody:
    if not body_of(event).strip():
        # What Dify sends to see whether the key works: every answer but a few tells it so.
        raise BadRequest("The key works. A retrieval needs a JSON object with knowledge_id and query.")
    try:
        return read_body(DifyRetrievalBody, event)
    except Invalid as problem:
        raise _explained(problem) from None


def _explained(problem: Invalid) -> Invalid:
    """A refused filter is worth words of its own: whoever set it does not think of a list that is too long."""
    if any(violation.pointer == _FILTER for violation in problem.violations):
        return Invalid(violations=(Violation(_FILTER, _NO_FILTERS),))
    return problem


_FILTER = "/metadata_condition/conditions"
_NO_FILTERS = (
    "The sources of this gateway cannot be filtered by metadata, and records that were not filtered would be wrong. "
    "Remove the metadata filter."
)


def _query(body: DifyRetrievalBody, *, characters: int) -> str:
    query = _as_typed(body.query)
    if len(query) > characters:
        raise Invalid(violations=(Violation("/query", f"At most {characters:,} characters are taken with this key."),))
    return query


def _as_typed(query: str) -> str:
    """Dify puts a backslash before every double quote. Where one stands without, they are the caller's own."""
    return query.replace('\\"', '"') if query.count('\\"') == query.count('"') else query
