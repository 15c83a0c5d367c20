"""Any server that implements Dify's External Knowledge API, asked just as Dify asks it.

POST {base_url}/retrieval

Asked as it is written down, with one difference: Dify escapes the double quotes of a query before it writes JSON, so
that they arrive with a backslash; here a query arrives as it was asked.
"""

from __future__ import annotations

import json
from typing import Final

from shared.domain.answer_bodies import JsonObject, is_json, object_in
from shared.domain.bindings import DifyExternalConfig
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import Question, Retrieval
from shared.domain.registrations import Source
from shared.domain.retry_times import retry_at
from shared.domain.server_passages import Piece, is_short, retrieval_of, score_of
from shared.domain.server_requests import server_headers
from shared.domain.strict_json import JsonValue
from shared.errors import Refused
from shared.ports.clock import Clock
from shared.ports.exchange import Exchange, OutboundAnswer, OutboundRequest
from shared.ports.retriever import RetrieverLimits

# The interface names no longest query, and Dify's workflows send whatever was typed: as much as our own contract sends.
LIMITS: Final = RetrieverLimits(query_characters=1_024, results=20, timeout_s=25.0)
_SAYS_WHEN: Final = frozenset({429, 503})
_BY_STATUS: Final = {
    401: OutcomeCode.UNAUTHORIZED,
    403: OutcomeCode.FORBIDDEN,
    404: OutcomeCode.NOT_FOUND,
    429: OutcomeCode.RATE_LIMITED,
}
# A convention that servers follow under any status, 200 included.
_BY_ERROR_CODE: Final = {
    "1001": OutcomeCode.UNAUTHORIZED,  # a malformed Authorization header
    "1002": OutcomeCode.UNAUTHORIZED,
    "2001": OutcomeCode.NOT_FOUND,  # no such knowledge
}
_NAMES_OF_DOCUMENT: Final = ("document_id", "doc_id")  # in the metadata, best first


class DifyExternalRetriever:
    """Implements `ports.knowledge_server.ServerRetriever`. Metadata is free text of the server's: no address in it is
    cited, so `allow_test_names`, which every kind is built with, changes nothing here.
    """

    def __init__(self, *, clock: Clock, allow_test_names: bool) -> None:
        del allow_test_names
        self._clock = clock

    @property
    def limits(self) -> RetrieverLimits:
        return LIMITS

    async def retrieve(
        self, source: Source, question: Question, *, credential: str | None, exchange: Exchange
    ) -> Retrieval:
        config = source.config
        if not isinstance(config, DifyExternalConfig):
            raise Refused(OutcomeCode.NOT_CONFIGURED)
        if len(question.query) > LIMITS.query_characters:
            raise Refused(OutcomeCode.QUERY_TOO_LONG)
        limit = min(question.limit, config.common.result_limit)
        request = OutboundRequest(
            method="POST",
            url=f"{source.base_url.rstrip('/')}/retrieval",
            headers=server_headers(credential, has_body=True),
            body=_body(question.query, config, limit=limit),
        )
        answer = await exchange.send(lambda: request)
        return retrieval_of(
            self._pieces(answer, within=config.knowledge_id, most=limit + 1),
            source=source,
            limit=limit,
            max_snippet_characters=config.common.max_snippet_characters,
        )

    def _pieces(self, answer: OutboundAnswer, *, within: str, most: int) -> list[Piece]:
        """Records that are absent are none: that is how Dify itself takes it, and some servers answer so."""
        body = _object(answer)
        if answer.status != 200 or (body is not None and _is_failure(body)):
            raise self._refused(answer, body)
        records = None if body is None else body.get("records")
        if body is None or not isinstance(records, list | None):
            raise _broken()
        return [_piece(record, within=within) for record in (records or [])[:most]]

    def _refused(self, answer: OutboundAnswer, body: JsonObject | None) -> Refused:
        says = answer.headers.get("retry-after") if answer.status in _SAYS_WHEN else None
        return Refused(_code(answer.status, body), retry_at=retry_at(says, now=self._clock.now()))


def _body(query: str, config: DifyExternalConfig, *, limit: int) -> bytes:
    fields = {
        "retrieval_setting": {"top_k": limit, "score_threshold": config.score_threshold},
        "query": query,
        "knowledge_id": config.knowledge_id,
        "metadata_condition": None,
    }
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()


def _is_failure(body: JsonObject) -> bool:
    """Whether an answer under 200 is none: it has no records and speaks of an error, in the interface's own way or in
    that of a server which has another envelope.
    """
    if isinstance(body.get("records"), list):
        return False
    return body.get("error_code") is not None or body.get("code") not in (None, 0, 200)


def _code(status: int, body: JsonObject | None) -> OutcomeCode:
    said = None if body is None else body.get("error_code")
    known = _BY_ERROR_CODE.get(str(said)) if isinstance(said, int | str) else None
    if known is not None and status != 429:
        return known
    if 200 < status < 300:
        return OutcomeCode.INVALID_RESPONSE
    return _BY_STATUS.get(status, OutcomeCode.UPSTREAM_ERROR)


def _piece(record: JsonValue, *, within: str) -> Piece:
    if not isinstance(record, dict):
        raise _broken()
    return Piece(
        text=_text(record, "content") or "",
        within=within,
        title=_text(record, "title"),
        document_id=_document_id(record.get("metadata")),
        score=score_of(record.get("score")),
    )


def _document_id(metadata: JsonValue) -> str | None:
    """Only what the metadata says as a text. Whatever else stands there is the server's own affair."""
    if not isinstance(metadata, dict):
        return None
    named = (metadata.get(name) for name in _NAMES_OF_DOCUMENT)
    return next((each for each in named if isinstance(each, str) and is_short(each)), None)


def _object(answer: OutboundAnswer) -> JsonObject | None:
    """Most such servers are small Python programs, whose JSON writers know NaN; such a score is none."""
    if not is_json(answer.headers.get("content-type", "")):
        return None
    return object_in(answer.body, not_finite_is_null=True)


def _text(record: JsonObject, name: str) -> str | None:
    value = record.get(name)
    if value is not None and not isinstance(value, str):
        raise _broken()
    return value


def _broken() -> Refused:
    return Refused(OutcomeCode.INVALID_RESPONSE)
