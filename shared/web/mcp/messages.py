"""Reading what a client posted: one JSON-RPC message, or several in a list. Nothing is raised: a fault is a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from shared.domain.strict_json import JsonValue, NotStrictJson, parse
from shared.web.mcp.faults import Fault, FaultCode, RequestId
from shared.web.wire import json_words

MAX_ID_CHARACTERS: Final = 256
# What every reader of JSON holds exactly.
MAX_ID_NUMBER: Final = 2**53 - 1

_WRONG_ID = f"id must be a string of at most {MAX_ID_CHARACTERS} characters, or an integer of at most 2^53-1."


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    id: RequestId
    method: str
    params: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What asks for no answer: a notification, or a client's reply to a request that is never made here."""

    is_reply: bool = False


Message: TypeAlias = Request | Heard | Fault
Batch: TypeAlias = tuple[Message, ...]


def read(body: bytes) -> Message | Batch:
    try:
        value = parse(body)
    except NotStrictJson as error:
        return Fault(code=FaultCode.PARSE_ERROR, message=json_words(error, "body"))
    if isinstance(value, list):
        return tuple(_message(each) for each in value)
    return _message(value)


def _message(value: JsonValue) -> Message:
    if not isinstance(value, dict):
        return _invalid("A message is a JSON object.")
    if "id" in value and not _is_id(value["id"]):
        return _invalid(_WRONG_ID)
    read = _said(value)
    return replace(read, to=_id_of(value)) if isinstance(read, Fault) else read


def _said(value: Mapping[str, JsonValue]) -> Message:
    if value.get("jsonrpc") != "2.0":
        return _invalid('jsonrpc must be "2.0".')
    if "method" in value:
        return _asked(value)
    if ("result" in value) is ("error" in value):
        return _invalid("A message has a method, or else a result or an error.")
    return Heard(is_reply=True)


def _asked(value: Mapping[str, JsonValue]) -> Message:
    method, params, request_id = value["method"], value.get("params"), _id_of(value)
    if not isinstance(method, str):
        return _invalid("method must be a string.")
    if request_id is None:
        return Heard()
    if params is not None and not isinstance(params, dict):
        return Fault(code=FaultCode.INVALID_PARAMS, message="params must be an object.")
    return Request(id=request_id, method=method, params=params or {})


def _is_id(value: JsonValue) -> bool:
    if isinstance(value, str):
        return len(value) <= MAX_ID_CHARACTERS
    return type(value) is int and abs(value) <= MAX_ID_NUMBER


def _id_of(value: Mapping[str, JsonValue]) -> RequestId | None:
    """Of a message whose id, where it has one, was found to be one."""
    given = value.get("id")
    return given if isinstance(given, str | int) else None


def _invalid(message: str) -> Fault:
    return Fault(code=FaultCode.INVALID_REQUEST, message=message)
