"""JSON as this product accepts it: no duplicate keys, no NaN or infinities, bounded depth, valid Unicode."""

from __future__ import annotations

import json
import math
import re
from typing import NoReturn, TypeAlias

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"

MAX_DEPTH = 32
_MAX_NUMBER_CHARACTERS = 64
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPED_PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_BESIDES_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


class NotStrictJson(ValueError):
    """`reason` is one of a fixed set of words: never a piece of the input."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def parse(data: bytes, *, not_finite_is_null: bool = False) -> JsonValue:
    """Parses UTF-8 JSON (a leading byte order mark is accepted). Raises `NotStrictJson`.

    `not_finite_is_null` is for upstreams that write NaN and infinities where they have no number: null is read there.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise NotStrictJson("not_utf8") from None
    _check_depth(data)
    try:
        value: JsonValue = (_LENIENT_DECODER if not_finite_is_null else _DECODER).decode(text)
    except NotStrictJson:
        raise
    except (ValueError, RecursionError):
        raise NotStrictJson("not_json") from None
    if _has_lone_surrogate(text):
        raise NotStrictJson("lone_surrogate")
    return value


def outside_texts(data: bytes) -> bytes:
    """JSON without its strings. By operations on the whole alone, so that a string costs no more than its length,
    however many escapes it holds. Of what is no JSON, at least all that lies before the first fault.
    """
    if b"\\" in data:
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    return b"".join(data.split(b'"')[::2])


def _check_depth(data: bytes) -> None:
    """Counts nesting outside strings, so that 40 KB of brackets never reach the parser."""
    if data.count(b"[") + data.count(b"{") <= MAX_DEPTH:
        return
    depth = 0
    for bracket in outside_texts(data).translate(None, _BESIDES_BRACKETS):
        depth += 1 if bracket in b"[{" else -1
        if depth > MAX_DEPTH:
            raise NotStrictJson("too_deep")
        if depth < 0:
            raise NotStrictJson("not_json")


def _has_lone_surrogate(text: str) -> bool:
    """In decoded text a surrogate can only be an escaped one, and only in pairs is it half of a character."""
    if _ESCAPED_SURROGATE.search(text) is None:
        return False
    return _ESCAPED_SURROGATE.search(_ESCAPED_PAIR.sub("", text.replace("\\\\", ""))) is not None


def _object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise NotStrictJson("duplicate_key")
    return result


def _constant(_name: str) -> NoReturn:
    raise NotStrictJson("not_finite")


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise NotStrictJson("not_finite")
    return value


def _no_constant(_name: str) -> None:
    return None


def _float_or_null(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None


def _int(text: str) -> int:
    if len(text) > _MAX_NUMBER_CHARACTERS:
        raise NotStrictJson("number_too_long")
    return int(text)


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_float=_float, parse_int=_int)
_LENIENT_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=_no_constant, parse_float=_float_or_null, parse_int=_int
)
