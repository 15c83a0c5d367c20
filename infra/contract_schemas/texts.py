"""Shapes of single texts in the provider contract, as JSON Schema keywords."""

from __future__ import annotations

from typing import Any, Final

Json = dict[str, Any]

# Written as a refusal, so that a line feed at the very end is found too: there regular expressions differ.
NO_CONTROL: Final[Json] = {"not": {"type": "string", "pattern": r"[\u0000-\u001f\u007f-\u009f]"}}

IDENTIFIER: Final[Json] = {"minLength": 1, "maxLength": 512, **NO_CONTROL}
LANGUAGE_TAG: Final[Json] = {
    "minLength": 2,
    "maxLength": 35,
    "pattern": r"^(?:[A-Za-z]{2,8}|[xXiI](?=-))(?:-[A-Za-z0-9]{1,8})*$",
    **NO_CONTROL,
}
_DAY: Final = r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
_TIME: Final = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?"
_OFFSET: Final = r"(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
DATE_TIME: Final[Json] = {"format": "date-time", "pattern": rf"^{_DAY}[Tt]{_TIME}{_OFFSET}$", **NO_CONTROL}
CITATION: Final[Json] = {
    "maxLength": 2048,
    "pattern": r"""^[hH][tT][tT][pP][sS]://[^\s/?#@\\]+(?:[/?#][^\s\\"<>^`{|}]*)?$""",
    **NO_CONTROL,
}
SNIPPET: Final[Json] = {"maxLength": 8000, "pattern": r"[^\s\u0000-\u001f\u007f-\u009f]"}
TITLE: Final[Json] = {"maxLength": 512}


def text(words: str, shape: Json) -> Json:
    """A field that is always there."""
    return {"type": "string", **shape, "description": words}


def optional_text(words: str, shape: Json) -> Json:
    """A field that may be absent; null says the same."""
    return {"type": ["string", "null"], **shape, "description": words}
