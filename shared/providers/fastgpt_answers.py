"""Reading what FastGPT answers, in every version from 4.8.5 on.

Neither the HTTP status nor the number in the body says what went wrong: until 4.8.17 refusals come under 200, later all
of them under 500, and the number of one refusal changes from release to release with its place in a list. The word in
`statusText` stays. Only what is used is looked at; a used field of another JSON type fails the answer.
"""

from __future__ import annotations

import math
import re
from typing import Final

from shared.domain.answer_bodies import JsonObject, is_json, object_in
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import NamedScore
from shared.domain.remote_catalogs import MAX_ROWS, EntryKind, NotSearchable, RemoteEntry
from shared.domain.retry_times import retry_at
from shared.domain.server_passages import Piece, is_remote_id, one_line, score_of
from shared.domain.strict_json import JsonValue
from shared.errors import Refused
from shared.ports.exchange import OutboundAnswer

MAX_NAME_CHARACTERS: Final = 256
MAX_DESCRIPTION_CHARACTERS: Final = 1_000
MAX_SCORES: Final = 8  # of one row; the product knows four
_GOOD: Final = 200
_TOO_MANY: Final = 429
_HIDDEN: Final = "unAuthDataset"
_BY_WORD: Final = {
    "unAuthorization": OutcomeCode.UNAUTHORIZED,
    "unAuthApiKey": OutcomeCode.UNAUTHORIZED,
    "openapiUnExist": OutcomeCode.UNAUTHORIZED,
    "openapiUnAuth": OutcomeCode.UNAUTHORIZED,
    "openapiExceedLimit": OutcomeCode.RATE_LIMITED,
    "insufficientQuota": OutcomeCode.RATE_LIMITED,
    "aiPointsNotEnough": OutcomeCode.RATE_LIMITED,
    "unExistDataset": OutcomeCode.NOT_FOUND,
    "unAuthModel": OutcomeCode.CAPABILITY_UNAVAILABLE,
}
_NO_RIGHT: Final = "unAuth"  # how all other words for a missing permission begin
# The few numbers that never moved, for an answer that lost its word.
_BY_NUMBER: Final = {
    403: OutcomeCode.UNAUTHORIZED,
    _TOO_MANY: OutcomeCode.RATE_LIMITED,
    510: OutcomeCode.RATE_LIMITED,
    511: OutcomeCode.CAPABILITY_UNAVAILABLE,
    513: OutcomeCode.FORBIDDEN,
    514: OutcomeCode.UNAUTHORIZED,
}
_BY_STATUS: Final = {
    401: OutcomeCode.UNAUTHORIZED,
    403: OutcomeCode.FORBIDDEN,
    _TOO_MANY: OutcomeCode.RATE_LIMITED,
}
_NO_SUCH_PAGE: Final = frozenset({404, 405})
_SAYS_WHEN: Final = frozenset({_TOO_MANY, 503})
_AGAIN_IN_S = re.compile(r"try again in ([0-9]{1,6}) seconds", re.ASCII | re.IGNORECASE)
_UNIX_MS = re.compile(r"[0-9]{13}", re.ASCII)
_OBJECT_ID = re.compile(r"[0-9a-fA-F]{24}", re.ASCII)
_BAD_CAST: Final = "Cast to ObjectId failed"
_NAMES_OF_ID: Final = ("id", "datasetId")
_SCORE_KIND = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}", re.ASCII)
_FOLDER: Final = "folder"
_SEARCHABLE: Final = frozenset({"dataset", "websiteDataset", "externalFile", "apiDataset", "feishu", "yuque"})


def data_of(answer: OutboundAnswer, *, now: float, asked_id: str | None = None) -> JsonValue:
    """`data` of a good answer, of whatever type. Raises `Refused` for every other one, and repeats none of its words.
    `asked_id` is the id that was asked about, where one was.
    """
    body = _envelope(answer)
    if body is None:
        raise Refused(_code_of_stranger(answer.status), retry_at=_returns_at(answer, {}, now=now))
    if answer.status == _GOOD and body["code"] == _GOOD:
        return body.get("data")
    raise Refused(_code(answer.status, body, asked_id), retry_at=_returns_at(answer, body, now=now))


def is_hidden(answer: OutboundAnswer) -> bool:
    """Whether this is how the server says that the key may not see what it was asked for."""
    body = _envelope(answer)
    return body is not None and body.get("statusText") == _HIDDEN


def is_object_id(text: str) -> bool:
    """Whether this has the form of every id of the product."""
    return _OBJECT_ID.fullmatch(text) is not None


def read_list(data: JsonValue) -> list[RemoteEntry]:
    """All that the server lists, up to `MAX_ROWS`, each id once. Raises `Refused` (`invalid_response`)."""
    if not isinstance(data, list):
        raise _broken()
    entries: dict[str, RemoteEntry] = {}
    for entry in map(read_listed, data[:MAX_ROWS]):
        if is_remote_id(entry.id):
            entries.setdefault(entry.id, entry)
    return list(entries.values())


def read_listed(row: JsonValue) -> RemoteEntry:
    """A folder or a knowledge base, of a list or alone. Raises `Refused` (`invalid_response`) for one without an id."""
    if not isinstance(row, dict) or not isinstance(entry_id := row.get("_id"), str):
        raise _broken()
    kind = _text(row, "type")
    return RemoteEntry(
        id=entry_id,
        name=one_line(_text(row, "name") or "", limit=MAX_NAME_CHARACTERS),
        kind=EntryKind.FOLDER if kind == _FOLDER else EntryKind.KNOWLEDGE_BASE,
        description=one_line(_text(row, "intro") or "", limit=MAX_DESCRIPTION_CHARACTERS),
        not_searchable=_obstacle(kind),
    )


def read_pieces(data: JsonValue, *, within: str, most: int) -> list[Piece]:
    """The first `most` rows, in the server's order. Raises `Refused` (`invalid_response`).

    Versions up to 4.4 answer with the rows alone. A piece's `score` is set only where all rows have one score, each of
    the same kind: of several, none stands for the row, and the order is that of none of them.
    """
    rows = data.get("list") if isinstance(data, dict) else data
    if not isinstance(rows, list):
        raise _broken()
    pieces = [(row, _scores(row)) for row in map(_sure, rows[:most])]
    kinds = {tuple(score.kind for score in scores) for _, scores in pieces if scores}
    is_one_scale = len(kinds) == 1 and len(next(iter(kinds))) == 1
    return [_piece(row, scores, within=within, is_one_scale=is_one_scale) for row, scores in pieces]


def _piece(row: JsonObject, scores: tuple[NamedScore, ...], *, within: str, is_one_scale: bool) -> Piece:
    question, answer = _text(row, "q") or "", _text(row, "a")
    plain_score = None if isinstance(row.get("score"), list) else score_of(row.get("score"))
    return Piece(
        text=f"{question}\n{answer}" if answer else question,
        within=within,
        title=_text(row, "sourceName"),
        document_id=_text(row, "collectionId"),
        chunk_id=_text(row, "id") or None,
        score=scores[0].value if scores and is_one_scale else plain_score,
        scores=scores,
    )


def _scores(row: JsonObject) -> tuple[NamedScore, ...]:
    """In the server's order; a score without a usable name is left out."""
    listed = row.get("score")
    if not isinstance(listed, list):
        return ()
    named = [(_text(each, "type") or "", score_of(each.get("value"))) for each in map(_sure, listed[:MAX_SCORES])]
    return tuple(NamedScore(kind=kind, value=value) for kind, value in named if _SCORE_KIND.fullmatch(kind))


def _obstacle(kind: str | None) -> NotSearchable | None:
    if kind == _FOLDER:
        return NotSearchable.FOLDER
    return None if kind in _SEARCHABLE else NotSearchable.UNKNOWN_TYPE


def _code(status: int, body: JsonObject, asked_id: str | None) -> OutcomeCode:
    word = body.get("statusText")
    if isinstance(word, str) and (known := _BY_WORD.get(word)):
        return known
    if isinstance(word, str) and word.startswith(_NO_RIGHT):
        return OutcomeCode.FORBIDDEN
    if status == _TOO_MANY:
        return OutcomeCode.RATE_LIMITED
    if _is_about_id(body, asked_id):
        return OutcomeCode.NOT_FOUND
    if isinstance(body.get("zodError"), list) or status in _NO_SUCH_PAGE:
        return OutcomeCode.UNSUPPORTED_VERSION  # it does not take what is sent
    return _code_of_number(status, body["code"])


def _code_of_number(status: int, number: JsonValue) -> OutcomeCode:
    if isinstance(number, int) and number in _BY_NUMBER:
        return _BY_NUMBER[number]
    if number == _GOOD:  # a success inside another status
        return _code_of_stranger(status)
    return _BY_STATUS.get(status, OutcomeCode.UPSTREAM_ERROR)


def _is_about_id(body: JsonObject, asked_id: str | None) -> bool:
    """Whether the server could do nothing with an id because of its form."""
    if asked_id is None or is_object_id(asked_id):
        return False
    message = body.get("message")
    issues = body.get("zodError")
    paths = [each.get("path") for each in issues if isinstance(each, dict)] if isinstance(issues, list) else []
    is_named = any(path == [name] for path in paths for name in _NAMES_OF_ID)
    return is_named or (isinstance(message, str) and message.startswith(_BAD_CAST))


def _code_of_stranger(status: int) -> OutcomeCode:
    """Of an answer that is not the product's: of a proxy before it, or of something else under its address."""
    if 200 <= status < 300 or status in _NO_SUCH_PAGE:
        return OutcomeCode.INVALID_RESPONSE
    return _BY_STATUS.get(status, OutcomeCode.UPSTREAM_ERROR)


def _returns_at(answer: OutboundAnswer, body: JsonObject, *, now: float) -> float | None:
    """When the server says to come back: in a header, or in its sentence alone."""
    if answer.status not in _SAYS_WHEN and body.get("code") != _TOO_MANY:
        return None
    message = body.get("message")
    sentence = _AGAIN_IN_S.search(message) if isinstance(message, str) else None
    reset = _UNIX_MS.fullmatch(answer.headers.get("x-ratelimit-reset", "").strip())
    said = [answer.headers.get("retry-after"), sentence and sentence[1], reset and _seconds_until(reset[0], now=now)]
    return next((when for text in said if (when := retry_at(text, now=now)) is not None), None)


def _seconds_until(unix_ms: str, *, now: float) -> str:
    return str(max(0, math.ceil(int(unix_ms) / 1000 - now)))


def _envelope(answer: OutboundAnswer) -> JsonObject | None:
    """The product's own; None for any other answer."""
    body = object_in(answer.body) if is_json(answer.headers.get("content-type", "")) else None
    number = None if body is None else body.get("code")
    return body if isinstance(number, int) and not isinstance(number, bool) else None


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
