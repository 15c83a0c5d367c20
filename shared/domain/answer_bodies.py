"""The JSON object that an upstream answered, if it is one: strict, of bounded depth, and not so tangled that reading it
would hold up everybody else's answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from shared.domain.strict_json import JsonValue, NotStrictJson, outside_texts, parse

JsonObject: TypeAlias = "dict[str, JsonValue]"

MOST_MARKS: Final = 30_000  # brackets and commas
_MARKS: Final = (b"{", b"[", b",")


def object_in(body: bytes, *, not_finite_is_null: bool = False, most_marks: int = MOST_MARKS) -> JsonObject | None:
    """None for anything that is not one sound JSON object. NaN and infinities are unsound, or read as null."""
    if _is_tangled(body, most_marks):
        return None
    try:
        value = parse(body, not_finite_is_null=not_finite_is_null)
    except NotStrictJson:
        return None
    return value if isinstance(value, dict) else None


def typed_object_in(headers: Mapping[str, str], body: bytes, *, most_marks: int = MOST_MARKS) -> JsonObject | None:
    """`object_in` for an answer that also says that it is JSON. `headers` have lower-case names."""
    return object_in(body, most_marks=most_marks) if is_json(headers.get("content-type", "")) else None


def is_json(content_type: str) -> bool:
    media_type = media_type_of(content_type)
    return media_type == "application/json" or (media_type.startswith("application/") and media_type.endswith("+json"))


def media_type_of(content_type: str) -> str:
    return content_type.partition(";")[0].strip(" \t").lower()


def _is_tangled(body: bytes, most_marks: int) -> bool:
    """Between so many marks lie at most twice as many texts, each in two quotes; escaped ones aside."""
    if body.count(b'"') - body.count(b'\\"') > 4 * most_marks:
        return True
    if sum(body.count(mark) for mark in _MARKS) <= most_marks:
        return False
    outside = outside_texts(body)
    return sum(outside.count(mark) for mark in _MARKS) > most_marks
