"""JSON-RPC as MCP uses it over HTTP: the messages that are sent, and finding the one that answers.

An error may come with any status, and without the id of the request when the server could not read that far.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from shared.domain.answer_bodies import JsonObject, is_json, media_type_of, object_in
from shared.domain.strict_json import JsonValue
from shared.errors import Refused, Unclear
from shared.ports.exchange import OutboundAnswer
from shared.providers.mcp_stream import MEDIA_TYPE, EventStream

METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602  # an unknown tool too
UNSUPPORTED_VERSION: Final = -32022
# Only servers of the era without handshakes say these.
MODERN_CODES: Final = frozenset({-32020, -32021, UNSUPPORTED_VERSION})
_SPEAK_FOR_THEMSELVES: Final = frozenset({401, 403, 429})
_MOST_MESSAGES: Final = 1_000  # before the answer, in one stream
_MOST_VERSIONS: Final = 16
_MOST_WORDS: Final = 2_000
_VERSION = re.compile(r"(?<![\w-])20[0-9]{2}-[0-9]{2}-[0-9]{2}(?![\w-])", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class RpcError:
    """`versions` are those of the protocol that the error names, in its order. Its words are not kept."""

    code: int
    versions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What came back for one request: a `result`, an `error`, or neither (a refusal that only its status explains).
    `body` is the JSON object of a refusal, if it was one.
    """

    status: int
    headers: Mapping[str, str]
    result: JsonObject | None = field(default=None, repr=False)
    error: RpcError | None = None
    body: JsonObject | None = field(default=None, repr=False)


def new_id() -> int:
    """Another number for each request, so that an answer meant for somebody else is not taken for ours."""
    return secrets.randbelow(2**31 - 1) + 1


def request_bytes(method: str, params: Mapping[str, JsonValue], *, number: int | None = None) -> bytes:
    """One message; without a number it is a notification."""
    message: JsonObject = {"jsonrpc": "2.0", "method": method}
    if number is not None:
        message["id"] = number
    if params:
        message["params"] = dict(params)
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()


class Listener:
    """Listens to one answer for what request `number` is told. `hears` is a `Watch`, which has heard enough then.

    It and `heard` raise `Refused` (`invalid_response`) for anything that the protocol does not allow.
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self._stream = EventStream()
        self._messages = 0
        self._answer: JsonObject | None = None

    def hears(self, headers: Mapping[str, str], piece: bytes) -> bool:
        if not _is_stream(headers):
            return False
        try:
            events = self._stream.feed(piece)
        except ValueError:
            raise _broken() from None
        for data in events:
            self._hear(data)
        return self._answer is not None

    def heard(self, answer: OutboundAnswer) -> Heard:
        """What the whole answer says. Raises `Unclear` for a stream that ended too soon."""
        if _is_stream(answer.headers):
            return self._from_stream(answer)
        body = object_in(answer.body) if is_json(answer.headers.get("content-type", "")) else None
        if answer.status != 200:
            return _refused(answer, body)
        if body is None or not self._is_answer(body):
            raise _broken()
        return _read(answer, body)

    def _from_stream(self, answer: OutboundAnswer) -> Heard:
        if self._answer is None:
            self._hear_the_rest()
        if answer.status != 200:
            return _refused(answer, self._answer)
        if self._answer is None:
            raise Unclear("upstream_error")
        return _read(answer, self._answer)

    def _hear_the_rest(self) -> None:
        """A last event that was cut is none; one that only lacks its blank line counts."""
        try:
            events = self._stream.end()
        except ValueError:
            return
        for data in events:
            if object_in(data.encode()) is not None:
                self._hear(data)

    def _hear(self, data: str) -> None:
        self._messages += 1
        message = object_in(data.encode())
        if self._answer is not None and message is None:
            return  # what follows the answer is nobody's business any more
        if message is None or self._messages > _MOST_MESSAGES:
            raise _broken()
        if self._is_answer(message):
            if self._answer is not None:
                raise _broken()
            self._answer = message

    def _is_answer(self, message: JsonObject) -> bool:
        """A request or notification of the server's is none, whatever its id. An error without an id is ours: nothing
        else was asked in this exchange.
        """
        id_ = message.get("id")
        if "method" in message:
            return False
        return (type(id_) is int and id_ == self._number) or (id_ is None and message.get("error") is not None)


def _is_stream(headers: Mapping[str, str]) -> bool:
    return media_type_of(headers.get("content-type", "")) == MEDIA_TYPE


def _read(answer: OutboundAnswer, message: JsonObject) -> Heard:
    result, error = message.get("result"), message.get("error")
    if message.get("jsonrpc") != "2.0" or (result is None) == (error is None):
        raise _broken()
    if error is None:
        if not isinstance(result, dict):
            raise _broken()
        return Heard(status=answer.status, headers=answer.headers, result=result)
    read = _error(error)
    if read is None:
        raise _broken()
    return Heard(status=answer.status, headers=answer.headers, error=read, body=message)


def _refused(answer: OutboundAnswer, body: JsonObject | None) -> Heard:
    """A status that refuses. Its body may explain it, and some servers number the error there as they like."""
    is_explained = answer.status < 500 and answer.status not in _SPEAK_FOR_THEMSELVES
    error = _error(body.get("error")) if is_explained and body is not None and body.get("result") is None else None
    return Heard(status=answer.status, headers=answer.headers, error=error, body=body)


def _error(value: JsonValue) -> RpcError | None:
    if not isinstance(value, dict):
        return None
    code = value.get("code")
    if isinstance(code, bool) or not isinstance(code, int):
        return None
    return RpcError(code=code, versions=_versions(value))


def _versions(error: JsonObject) -> tuple[str, ...]:
    """In the list made for it, else wherever the error's words name some."""
    data = error.get("data")
    listed = data.get("supported") if isinstance(data, dict) else None
    if isinstance(listed, list):
        return tuple(version for version in listed[:_MOST_VERSIONS] if isinstance(version, str))
    words = error.get("message")
    return tuple(_VERSION.findall(words[:_MOST_WORDS])[:_MOST_VERSIONS]) if isinstance(words, str) else ()


def _broken() -> Refused:
    return Refused("invalid_response")
