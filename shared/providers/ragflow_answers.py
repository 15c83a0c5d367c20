"""Reading what RAGFlow answers, in every version from 0.14 on.

Most refusals come under 200, and one of them, for a missing key, even with the code of a success: an answer is good
when its status is 200, its code 0 and its `data` of the right type. Only what is used is looked at; a used field of
another JSON type fails the answer.
"""

from __future__ import annotations

import re
from typing import Final

from shared.domain.answer_bodies import JsonObject, is_json, object_in
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import Evidence
from shared.domain.remote_catalogs import MAX_ROWS, RemoteEntry
from shared.domain.retry_times import retry_at
from shared.domain.server_passages import Piece, count_of, is_remote_id, one_line, score_of
from shared.domain.strict_json import JsonValue
from shared.errors import Refused
from shared.ports.exchange import OutboundAnswer
from shared.providers.ragflow_listing import ListPage

MAX_NAME_CHARACTERS: Final = 256
MAX_DESCRIPTION_CHARACTERS: Final = 1_000
_FORMER_CODE: Final = "retcode"  # of versions before 0.14
_SAYS_WHEN: Final = frozenset({429, 503})
_NO_SUCH_PAGE: Final = frozenset({404, 405})
_OK: Final = 0
_ARGUMENT, _DATA, _EXCEPTION = 101, 102, 100
_PERMISSION: Final = 108
_KEY: Final = 109
_BY_CODE: Final = {
    _PERMISSION: OutcomeCode.FORBIDDEN,
    _KEY: OutcomeCode.UNAUTHORIZED,
    401: OutcomeCode.UNAUTHORIZED,
    403: OutcomeCode.FORBIDDEN,
    404: OutcomeCode.UNSUPPORTED_VERSION,  # a page that the server does not have
    405: OutcomeCode.UNSUPPORTED_VERSION,
    429: OutcomeCode.RATE_LIMITED,
}
_BY_STATUS: Final = {
    401: OutcomeCode.UNAUTHORIZED,
    403: OutcomeCode.FORBIDDEN,
    429: OutcomeCode.RATE_LIMITED,
}
_NOT_YOURS: Final = ("don't own the dataset", "lacks permission for dataset")
_NO_INDEX: Final = "No chunk found"
_ABOUT_ID: Final = "<id>"
_LONGEST_REFUSAL_BYTES: Final = 65_536
_FINISHED_AT: Final = "graphrag_task_finish_at"
_VERSION = re.compile(r"v?([0-9]{1,4}(?:\.[0-9]{1,4}){1,3}(?:[-+.][0-9A-Za-z.-]{1,20})?)(?: (?:slim|full))?", re.ASCII)


def is_doubtful(answer: OutboundAnswer) -> bool:
    """Whether an answer looks like a wrong key and may be anything else: the server gives this form to every failure in
    whose words 401 occurs, such as that of the model that it asks. Every 401 is one: something before the server may
    have said it too.
    """
    if answer.status != 401 and len(answer.body) > _LONGEST_REFUSAL_BYTES:
        return False  # and so is not read twice
    return 401 in (answer.status, _number(_object(answer)))


def is_hidden(answer: OutboundAnswer) -> bool:
    """Whether this is how the server says that the key may not see what it was asked for."""
    return _number(_object(answer)) == _PERMISSION


def read_page(answer: OutboundAnswer, *, now: float, asked_id: str | None = None) -> ListPage:
    """Raises `Refused` for every answer but a list, and repeats none of its words. `asked_id` is the one id that was
    asked about, where one was.
    """
    body = _good(answer, now=now, asked_id=asked_id)
    rows = body.get("data")
    if not isinstance(rows, list):
        raise _broken()
    entries = [_listed(_sure(row)) for row in rows[:MAX_ROWS]]
    total = count_of(body.get("total_datasets"))
    return ListPage(entries=[each for each in entries if is_remote_id(each.id)], rows=len(rows), total=total)


def read_pieces(answer: OutboundAnswer, *, within: str, most: int, now: float) -> list[Piece]:
    """The first `most` chunks, in the server's order. Raises `Refused`.

    The chunk that a knowledge graph adds belongs to no document, and its id is another each time.
    """
    found = _good(answer, now=now).get("data")
    chunks = _sure(found).get("chunks")
    if not isinstance(chunks, list):
        raise _broken()
    return [_piece(_sure(chunk), within=within) for chunk in chunks[:most]]


def version_in(answer: OutboundAnswer) -> str | None:
    """None unless the server says it."""
    body = _object(answer)
    said = body.get("data") if answer.status == 200 and body is not None and _number(body) == _OK else None
    match = _VERSION.fullmatch(said) if isinstance(said, str) else None
    return match[1] if match else None


def _piece(chunk: JsonObject, *, within: str) -> Piece:
    document_id = _text(chunk, "document_id") or None
    is_made = document_id is None or isinstance(chunk.get("dataset_id"), list)
    return Piece(
        text=_text(chunk, "content") or "",
        within=within,
        title=_text(chunk, "document_keyword"),
        document_id=document_id,
        chunk_id=None if is_made else _text(chunk, "id") or None,
        score=score_of(chunk.get("similarity")),
        evidence=Evidence.DERIVED_CONTEXT if is_made else Evidence.SOURCE_EXCERPT,
    )


def _listed(row: JsonObject) -> RemoteEntry:
    entry_id = _text(row, "id")
    if entry_id is None:
        raise _broken()
    return RemoteEntry(
        id=entry_id,
        name=one_line(_text(row, "name") or "", limit=MAX_NAME_CHARACTERS),
        description=one_line(_text(row, "description") or "", limit=MAX_DESCRIPTION_CHARACTERS),
        documents=count_of(row.get("document_count")),
        has_graph=_has_graph(row),
    )


def _has_graph(row: JsonObject) -> bool | None:
    """A time at which a graph was finished proves one. Versions before 0.21 name none and build the graph along with
    the chunks: there, chunks and the wish for a graph are as good. A wish alone is none, and says nothing.
    """
    if _is_moment(row.get(_FINISHED_AT)):
        return True
    wish = _wish_for_graph(row)
    if wish is True and _FINISHED_AT not in row and count_of(row.get("chunk_count")):
        return True
    return False if wish is False else None


def _wish_for_graph(row: JsonObject) -> JsonValue:
    parser = row.get("parser_config")
    graph = parser.get("graphrag") if isinstance(parser, dict) else None
    return graph.get("use_graphrag") if isinstance(graph, dict) else None


def _is_moment(value: JsonValue) -> bool:
    """Times come as text in two forms, or as a number. Zero in any form is none."""
    return isinstance(value, str | int | float) and not isinstance(value, bool) and bool(re.search("[1-9]", str(value)))


def _good(answer: OutboundAnswer, *, now: float, asked_id: str | None = None) -> JsonObject:
    body = _object(answer)
    number = _number(body)
    if body is not None and answer.status == 200 and number == _OK and body.get("data") is not False:
        return body
    says = answer.headers.get("retry-after") if answer.status in _SAYS_WHEN else None
    raise Refused(_code(answer.status, body, number, asked_id), retry_at=retry_at(says, now=now))


def _code(status: int, body: JsonObject | None, number: int | None, asked_id: str | None) -> OutcomeCode:
    if body is None or number is None:
        is_former = body is not None and _FORMER_CODE in body
        return OutcomeCode.UNSUPPORTED_VERSION if is_former else _code_of_stranger(status)
    if number == _OK:  # with `data` false: the key is missing, or keys are switched off
        return OutcomeCode.UNAUTHORIZED if status == 200 else _code_of_stranger(status)
    message = body.get("message")
    meant = _code_of_words(number, message if isinstance(message, str) else "", asked_id)
    return meant or _BY_CODE.get(number) or _BY_STATUS.get(status, OutcomeCode.UPSTREAM_ERROR)


def _code_of_words(number: int, message: str, asked_id: str | None) -> OutcomeCode | None:
    """Where a code stands for too many things."""
    if number == _DATA and any(words in message for words in _NOT_YOURS):
        return OutcomeCode.NOT_FOUND
    if number in (_DATA, _EXCEPTION) and _NO_INDEX in message:
        return OutcomeCode.CAPABILITY_UNAVAILABLE
    if number == _ARGUMENT:
        is_about_id = asked_id is not None and _ABOUT_ID in message
        return OutcomeCode.NOT_FOUND if is_about_id else OutcomeCode.UNSUPPORTED_VERSION
    return None


def _code_of_stranger(status: int) -> OutcomeCode:
    """Of an answer that is not the product's: of a proxy before it, or of something else under its address."""
    if 200 <= status < 300 or status in _NO_SUCH_PAGE:
        return OutcomeCode.INVALID_RESPONSE
    return _BY_STATUS.get(status, OutcomeCode.UPSTREAM_ERROR)


def _object(answer: OutboundAnswer) -> JsonObject | None:
    """The server's JSON writer knows NaN; such a score is none."""
    if not is_json(answer.headers.get("content-type", "")):
        return None
    return object_in(answer.body, not_finite_is_null=True)


def _number(body: JsonObject | None) -> int | None:
    number = None if body is None else body.get("code")
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def _sure(value: JsonValue) -> JsonObject:
    if not isinstance(value, dict):
        raise _broken()
    return value


def _text(entry: JsonObject, name: str) -> str | None:
    value = entry.get(name)
    if value is not None and not isinstance(value, str):
        raise _broken()
    return value


def _broken() -> Refused:
    return Refused(OutcomeCode.INVALID_RESPONSE)
