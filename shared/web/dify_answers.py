"""What Dify's External Knowledge API answers: records, and refusals in its own shape.

Dify shows the body of a refusal from 1.11 on; before, most refusals look like an empty list. 429, 500 and 503 are
errors in every version, and are asked again up to three times. So what may pass is answered with one of those, and
what only a person can put right is not.
"""

from __future__ import annotations

import json
from typing import Annotated, Final

from aws_lambda_powertools.event_handler import Response
from pydantic import BaseModel, ConfigDict, Field

from shared.domain.agent_answers import AgentAnswer, AgentResult
from shared.domain.customer_answers import CustomerAnswer, CustomerResult
from shared.domain.exposure import Grant
from shared.domain.external_knowledge import score_at
from shared.domain.passages import Evidence
from shared.errors import (
    BadRequest,
    BodyTooLarge,
    Forbidden,
    Invalid,
    NotFound,
    Problem,
    ProviderFailed,
    RateLimited,
    Unauthenticated,
    Unavailable,
)
from shared.web.api import answer
from shared.web.problems import headers_of

# The first three are Dify's own numbers.
MALFORMED: Final = 1001
NOT_ACCEPTED: Final = 1002
NO_SUCH_KNOWLEDGE: Final = 2001
NOT_VALID: Final = 4001
TOO_MANY: Final = 4002
NO_SOURCE_ANSWERED: Final = 5001
UNAVAILABLE: Final = 5002
FAULT: Final = 5003

# Dify's check of a new key takes every status for a success but 403, 404 and 502: never 401.
_BY_PROBLEM: Final[tuple[tuple[type[Problem], int, int], ...]] = (
    (Unauthenticated, 403, NOT_ACCEPTED),
    (Forbidden, 403, NOT_ACCEPTED),
    (NotFound, 404, NO_SUCH_KNOWLEDGE),
    (BadRequest, 400, NOT_VALID),
    (BodyTooLarge, 400, NOT_VALID),
    (Invalid, 400, NOT_VALID),
    (RateLimited, 429, TOO_MANY),
    (ProviderFailed, 424, NO_SOURCE_ANSWERED),  # not 502: Dify would ask the same sources four times
    (Unavailable, 503, UNAVAILABLE),
)
# One text each, whatever the reason.
_FIXED: Final = {
    MALFORMED: "Send the header Authorization: Bearer, a space, and the key.",
    NOT_ACCEPTED: (
        f"This key is not accepted here. It has to be a valid one of class ast with the grant {Grant.READ_PUBLIC}, or "
        f"of class agt with the grant {Grant.EXTERNAL_KNOWLEDGE_AGENT}."
    ),
    NO_SUCH_KNOWLEDGE: (
        "There is no such knowledge. The External Knowledge ID is public for a key of class ast; for one of class agt "
        "it is all, or the id of a provider that the key may reach."
    ),
}
_IfKnown = Field(exclude_if=lambda value: value is None)


class _Shown(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class DifyCustomerMetadata(_Shown):
    """`document_id` is the URL, or the title where there is none: Dify needs a string there, and a customer is told
    nothing else.
    """

    document_id: str
    url: Annotated[str | None, _IfKnown] = None
    locale: Annotated[str | None, _IfKnown] = None


class DifyAgentMetadata(_Shown):
    """`document_id` is the provider's own."""

    document_id: str
    url: Annotated[str | None, _IfKnown] = None
    locale: Annotated[str | None, _IfKnown] = None
    provider_id: str
    evidence: Evidence


class DifyRecord(_Shown):
    """`content` is untrusted and plain. `score` is 1 for the first record, 1/2 for the second, and so on."""

    content: str
    score: float
    title: str
    metadata: DifyAgentMetadata | DifyCustomerMetadata


class DifyRecords(_Shown):
    """Best first."""

    records: tuple[DifyRecord, ...]


class DifyRefusal(_Shown):
    """1001, 1002 and 2001 are Dify's own codes; the others are this gateway's."""

    error_code: int
    error_msg: str


def customer_records(found: CustomerAnswer) -> str:
    """The JSON text: what a customer may see, under Dify's names."""
    told = [result for result in found.results if result.snippet.strip()]
    return _text([_record(r.snippet, r.title, rank, _of_customer(r)) for rank, r in enumerate(told, start=1)])


def agent_records(found: AgentAnswer) -> str:
    """The JSON text. Places without text and what happened at each source have no room in it."""
    told = [result for result in found.results if result.passage.snippet.strip()]
    return _text(
        [_record(r.passage.snippet, r.passage.title, rank, _of_agent(r)) for rank, r in enumerate(told, start=1)]
    )


def refused(problem: Problem) -> Response[str]:
    """The body says nothing of which key was sent: all that are not accepted get the same bytes."""
    status, code = _meaning(problem)
    headers = {} if code in _FIXED else headers_of(problem)
    return _refusal(status, code, _FIXED.get(code) or _words(problem), headers)


def malformed_authorization() -> Response[str]:
    return _refusal(403, MALFORMED, _FIXED[MALFORMED], {})


def _meaning(problem: Problem) -> tuple[int, int]:
    found = ((status, code) for kind, status, code in _BY_PROBLEM if isinstance(problem, kind))
    return next(found, (500, FAULT))


def _words(problem: Problem) -> str:
    wrong = [f"{violation.pointer.lstrip('/') or 'body'}: {violation.detail}" for violation in problem.violations]
    return " ".join([f"{problem.title}.", *(wrong or [problem.detail])]).rstrip()


def _refusal(status: int, code: int, message: str, headers: dict[str, str]) -> Response[str]:
    body = json.dumps({"error_code": code, "error_msg": message}, ensure_ascii=False)
    return answer(body, status=status, headers=headers)


def _text(records: list[DifyRecord]) -> str:
    return DifyRecords(records=tuple(records)).model_dump_json()


def _record(content: str, title: str, rank: int, metadata: DifyAgentMetadata | DifyCustomerMetadata) -> DifyRecord:
    return DifyRecord(content=content, score=score_at(rank), title=title, metadata=metadata)


def _of_customer(result: CustomerResult) -> DifyCustomerMetadata:
    return DifyCustomerMetadata(document_id=result.url or result.title, url=result.url, locale=result.locale)


def _of_agent(result: AgentResult) -> DifyAgentMetadata:
    passage = result.passage
    return DifyAgentMetadata(
        document_id=passage.document_id,
        url=passage.url,
        locale=passage.locale,
        provider_id=result.provider_id,
        evidence=passage.evidence,
    )
