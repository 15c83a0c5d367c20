"""JSON as this product accepts it: no duplicate keys, no NaN or infinities, bounded depth, valid Unicode."""

from __future__ import annotations

import json
import math
import re
from typing import NoReturn, TypeAlias

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"

MAX_DEPTH = 32
_MAX_NUMBER_CHARACTERS = 64
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


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
    _check_depth(text)
    try:
        value: JsonValue = (_LENIENT_DECODER if not_finite_is_null else _DECODER).decode(text)
    except NotStrictJson:
        raise
    except (ValueError, RecursionError):
        raise NotStrictJson("not_json") from None
    if _ESCAPED_SURROGATE.search(text) and _LONE_SURROGATE.search(json.dumps(value, ensure_ascii=False)):
        raise NotStrictJson("lone_surrogate")
    return value


def _check_depth(text: str) -> None:
    """Counts nesting outside strings, so that 40 KB of brackets never reach the parser."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    depth = 0
    for bracket in _STRUCTURE.finditer(text):
        mark = bracket[0][0]
        if mark in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise NotStrictJson("too_deep")
        elif mark in "]}":
            depth -= 1
            if depth < 0:
                raise NotStrictJson("not_json")


_STRUCTURE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)


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
