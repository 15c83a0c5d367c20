"""Fields that more than one kind of search has, with their bounds."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from shared.domain.language_tags import is_language_tag

DEFAULT_DEADLINE_MS = 12_000


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("Write something other than spaces")
    return text


def _language_tag(text: str) -> str:
    if not is_language_tag(text):
        raise ValueError("Write a language tag such as `de` or `pt-BR`")
    return text


NotBlank = AfterValidator(_not_blank)
LanguageTag = Annotated[str, Field(min_length=1, max_length=35), AfterValidator(_language_tag)]
DeadlineMs = Annotated[int, Field(ge=500, le=25_000, description="Milliseconds until the answer, counted here.")]
CollectionIds = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=64)], ...],
    Field(max_length=20, description="Card collections to look in beside the search."),
]
