"""Reading what Dify answers, in every version from 0.15 on: keys come and go, null stands where a list did, and `query`
is an object here and a text there. Only what is used is looked at; a used field of another JSON type fails the answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from shared.domain.answer_bodies import JsonObject, is_json, object_in
from shared.domain.outcomes import OutcomeCode
from shared.domain.remote_catalogs import MAX_ROWS, NotSearchable, RemoteEntry
from shared.domain.retry_times import retry_at
from shared.domain.server_passages import Piece, count_of, is_remote_id, one_line, score_of
from shared.domain.strict_json import JsonValue
from shared.errors import Refused
from shared.ports.exchange import OutboundAnswer

MAX_NAME_CHARACTERS: Final = 256
MAX_DESCRIPTION_CHARACTERS: Final = 1_000
METHOD_NOT_ALLOWED: Final = 405
_SAYS_WHEN: Final = frozenset({429, 503})
_BY_STATUS: Final = {
    401: OutcomeCode.UNAUTHORIZED,
    403: OutcomeCode.FORBIDDEN,
    404: OutcomeCode.NOT_FOUND,
    429: OutcomeCode.RATE_LIMITED,
}
# What 400 can mean beyond "a fault on the server's side", which is how this product reports most of those.
_BY_WORD: Final = {
    "dataset_not_initialized": OutcomeCode.CAPABILITY_UNAVAILABLE,
    "provider_not_initialize": OutcomeCode.CAPABILITY_UNAVAILABLE,
    "model_currently_not_support": OutcomeCode.CAPABILITY_UNAVAILABLE,
    "provider_quota_exceeded": OutcomeCode.RATE_LIMITED,
    "too_many_requests": OutcomeCode.RATE_LIMITED,
}
_RATE_LIMIT: Final = "rate limit"  # the hosted service says so under 403; the rest of its sentence may change
_IS_ECONOMY: Final = {"economy": True, "high_quality": False}
_VERSION = re.compile(r"[0-9]{1,4}(?:\.[0-9]{1,4}){1,3}(?:[-+.][0-9A-Za-z.-]{1,20})?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """`created_at` is Unix seconds, None where the server does not say."""

    entry: RemoteEntry
    created_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPage:
    """`rows` counts what the server sent, also entries that can never be bound and are left out of `listed`."""

    listed: tuple[Listed, ...]
    rows: int
    has_more: bool = False
    total: int | None = None


def body_of(answer: OutboundAnswer, *, now: float) -> JsonObject:
    """The object in a good answer. Raises `Refused` for every other one, and repeats none of its words."""
    body = _object(answer)
    if answer.status != 200:
        raise _refused(answer, answer.status, body, now=now)
    if body is None:
        raise _broken()
    inner = body.get("status")
    if isinstance(body.get("code"), str) and isinstance(inner, int) and inner >= 400:
        raise _refused(answer, inner, body, now=now)  # something on the way has turned a refusal into a 200
    return body


def is_without_detail(answer: OutboundAnswer) -> bool:
    """Whether this is how versions before 1.2 say that they do not describe single data sets."""
    return answer.status == METHOD_NOT_ALLOWED and _word(_object(answer)) == "method_not_allowed"


def version_of(headers: Mapping[str, str]) -> str | None:
    """Every answer carries it, refusals too, unless a proxy strips it."""
    said = headers.get("x-version", "").strip()
    return said if _VERSION.fullmatch(said) else None


def read_page(body: JsonObject) -> ListPage:
    """Raises `Refused` (`invalid_response`)."""
    rows = body.get("data")
    if not isinstance(rows, list):
        raise _broken()
    entries = [read_listed(_sure(row)) for row in rows[:MAX_ROWS]]
    return ListPage(
        listed=tuple(each for each in entries if is_remote_id(each.entry.id)),
        rows=len(rows),
        has_more=body.get("has_more") is True,
        total=count_of(body.get("total")),
    )


def read_listed(row: JsonObject) -> Listed:
    """One data set, of a list or alone. Raises `Refused` (`invalid_response`) for one without an id."""
    created_at = row.get("created_at")
    is_time = isinstance(created_at, int | float) and not isinstance(created_at, bool)
    technique = row.get("indexing_technique")
    entry = RemoteEntry(
        id=_required(row, "id"),
        name=one_line(_text(row, "name") or "", limit=MAX_NAME_CHARACTERS),
        description=one_line(_text(row, "description") or "", limit=MAX_DESCRIPTION_CHARACTERS),
        not_searchable=_obstacle(row),
        documents=count_of(row.get("document_count")),
        is_economy=_IS_ECONOMY.get(technique) if isinstance(technique, str) else None,
    )
    return Listed(entry=entry, created_at=float(created_at) if is_time else None)  # type: ignore[arg-type]


def read_pieces(body: JsonObject, *, within: str, most: int) -> list[Piece]:
    """The first `most` records, in the server's order. Raises `Refused` (`invalid_response`).

    Of a record with parent and child chunks the parent's text is the passage, as in the product itself. Scores stay as
    they came: of a keyword search they are null or 0.0, depending on the version, and say nothing.
    """
    records = body.get("records")
    if not isinstance(records, list):
        raise _broken()
    return [_piece(_sure(record), within=within) for record in records[:most]]


def _piece(record: JsonObject, *, within: str) -> Piece:
    segment = _sure(record.get("segment"))
    document = segment.get("document")
    about = {} if document is None else _sure(document)
    question, answer = _text(segment, "content") or "", _text(segment, "answer")
    return Piece(
        text=f"{question}\n{answer}" if answer else question,
        within=within,
        title=_text(about, "name"),
        document_id=_text(about, "id") or _text(segment, "document_id"),
        chunk_id=_text(segment, "id") or None,
        score=score_of(record.get("score")),
    )


def _obstacle(row: JsonObject) -> NotSearchable | None:
    """The product's own search of external data sets does not work over its API in any version."""
    provider = _text(row, "provider")
    if provider == "external":
        return NotSearchable.EXTERNAL
    if provider not in (None, "vendor"):
        return NotSearchable.UNKNOWN_TYPE
    return NotSearchable.API_DISABLED if row.get("enable_api") is False else None


def _refused(answer: OutboundAnswer, status: int, body: JsonObject | None, *, now: float) -> Refused:
    says = answer.headers.get("retry-after") if status in _SAYS_WHEN else None
    return Refused(_code(status, body), retry_at=retry_at(says, now=now))


def _code(status: int, body: JsonObject | None) -> OutcomeCode:
    if 200 < status < 300:
        return OutcomeCode.INVALID_RESPONSE
    if status == METHOD_NOT_ALLOWED:  # of a page that is no refusal of this product: something else answers there
        return OutcomeCode.INVALID_RESPONSE if _word(body) is None else OutcomeCode.UNSUPPORTED_VERSION
    if status == 403 and _speaks_of_rate(body):
        return OutcomeCode.RATE_LIMITED
    if status == 400:
        return _BY_WORD.get(_word(body) or "", OutcomeCode.UPSTREAM_ERROR)
    return _BY_STATUS.get(status, OutcomeCode.UPSTREAM_ERROR)


def _speaks_of_rate(body: JsonObject | None) -> bool:
    message = None if body is None else body.get("message")
    return isinstance(message, str) and _RATE_LIMIT in message.casefold()


def _word(body: JsonObject | None) -> str | None:
    """The product's own word for a refusal."""
    word = None if body is None else body.get("code")
    return word if isinstance(word, str) else None


def _object(answer: OutboundAnswer) -> JsonObject | None:
    """The server's JSON writer knows NaN; such a score is none."""
    if not is_json(answer.headers.get("content-type", "")):
        return None
    return object_in(answer.body, not_finite_is_null=True)


def _sure(value: JsonValue) -> JsonObject:
    if not isinstance(value, dict):
        raise _broken()
    return value


def _required(entry: JsonObject, name: str) -> str:
    text = _text(entry, name)
    if text is None:
        raise _broken()
    return text


def _text(entry: JsonObject, name: str) -> str | None:
    value = entry.get(name)
    if value is not None and not isinstance(value, str):
        raise _broken()
    return value


def _broken() -> Refused:
    return Refused(OutcomeCode.INVALID_RESPONSE)
