"""Fields that more than one kind of search has, with their bounds."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from shared.domain.language_tags import is_language_tag

DEFAULT_DEADLINE_MS = 12_000
# All control characters but tab, line feed and carriage return.
_NEVER_SENT: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
# All control characters, line separators, the marks that turn text around, and what nobody sees.
_NOT_ON_A_LINE: Final = "\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u200b\\u2028-\\u202e\\u2060\\u2066-\\u2069\\ufeff"
_LINE: Final = re.compile(f"[^{_NOT_ON_A_LINE}]*")


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("Write something other than spaces")
    return text


def _language_tag(text: str) -> str:
    if not is_language_tag(text):
        raise ValueError("Write a language tag such as `de` or `pt-BR`")
    return text


def _text(text: str) -> str:
    if _NEVER_SENT.search(text):
        raise ValueError("Write text without control characters")
    return _not_blank(text)


def _line(text: str) -> str:
    if _LINE.fullmatch(text) is None:
        raise ValueError("Write one line without control characters and invisible ones")
    return _not_blank(text)


# Whatever a caller writes that goes on to a service is one of these: a text (a query, say) or a line (a name).
SentText = AfterValidator(_text)
SentLine = AfterValidator(_line)
_LINE_SCHEMA: Final = {"pattern": f"^[^{_NOT_ON_A_LINE}]*[^{_NOT_ON_A_LINE}\\s][^{_NOT_ON_A_LINE}]*$"}

Product = Annotated[str, Field(min_length=1, max_length=256, json_schema_extra=_LINE_SCHEMA), SentLine]
Repository = Annotated[
    str, Field(min_length=1, max_length=256, examples=["acme/widgets"], json_schema_extra=_LINE_SCHEMA), SentLine
]
Version = Annotated[str, Field(min_length=1, max_length=128, json_schema_extra=_LINE_SCHEMA), SentLine]
ConversationId = Annotated[str, Field(min_length=1, max_length=256, json_schema_extra=_LINE_SCHEMA), SentLine]
LanguageTag = Annotated[str, Field(min_length=1, max_length=35), AfterValidator(_language_tag)]
DeadlineMs = Annotated[int, Field(ge=500, le=25_000, description="Milliseconds until the answer, counted here.")]
CollectionIds = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=64)], ...],
    Field(max_length=20, description="Card collections to look in beside the search."),
]
