"""Reading what a contract provider answers: every field checked, nothing believed, nothing unknown kept."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import TypeAlias

from shared.domain.answer_bodies import object_in
from shared.domain.exposure import Audience
from shared.domain.language_tags import is_language_tag
from shared.domain.passages import Freshness, Passage, Retrieval, Warning_
from shared.domain.plain_text import cut, plain
from shared.domain.registrations import CONTRACT_VERSION, Capabilities
from shared.domain.strict_json import JsonValue
from shared.domain.urls import citation_url
from shared.errors import Refused
from shared.ports.retriever import Declaration

MAX_SHORT_CHARACTERS = 512
MAX_SNIPPET_CHARACTERS = 8000
_AUDIENCES = {audience.value: audience for audience in Audience}
_FRESHNESS = {freshness.value: freshness for freshness in Freshness}
_DATE_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})", re.ASCII
)
_Entry: TypeAlias = "dict[str, JsonValue]"


def read_retrieval(body: bytes, *, limit: int, allow_test_names: bool) -> Retrieval:
    """The passages of a `/retrieve` answer, at most `limit`, and what was noticed on the way.

    Raises `Refused`: `unsupported_version`, or `invalid_response` for anything that breaks the contract.
    """
    results = _document(body).get("results")
    if not isinstance(results, list):
        raise _broken()
    reader = _Reader(allow_test_names=allow_test_names)
    if len(results) > limit:
        reader.note(Warning_.SURPLUS_CUT)
    passages = [reader.passage(entry) for entry in results[:limit]]
    return Retrieval(passages=tuple(p for p in passages if p is not None), warnings=tuple(reader.warnings))


def read_declaration(body: bytes) -> Declaration:
    """What a `/capabilities` answer declares; anything absent is false. Raises like `read_retrieval`."""
    declared = _document(body).get("capabilities")
    if declared is None:
        declared = {}
    if not isinstance(declared, dict):
        raise _broken()
    capabilities = Capabilities(
        semantic_search=_flag(declared, "semanticSearch"),
        locale=_flag(declared, "locale"),
        locale_fallback=_flag(declared, "localeFallback"),
        freshness=_flag(declared, "freshness"),
        translation_groups=_flag(declared, "translationGroups"),
        chunking=_flag(declared, "chunking"),
        scoring=_flag(declared, "scoring"),
        citation_url=_flag(declared, "citationUrl"),
    )
    return Declaration(contract_version=CONTRACT_VERSION, capabilities=capabilities)


class _Reader:
    """Reads the results of one answer and gathers its warnings, each once."""

    def __init__(self, *, allow_test_names: bool) -> None:
        self.warnings: dict[Warning_, None] = {}
        self._allow_test_names = allow_test_names

    def note(self, warning: Warning_) -> None:
        self.warnings[warning] = None

    def passage(self, entry: JsonValue) -> Passage | None:
        """None for a result that is dropped alone. Raises `Refused` for one that fails the whole answer."""
        if not isinstance(entry, dict):
            raise _broken()
        document_id, title = _required(entry, "documentId"), _required(entry, "title")
        snippet = _required(entry, "snippet")
        whole = plain(snippet)
        shown = cut(whole, limit=MAX_SNIPPET_CHARACTERS)
        passage = Passage(
            document_id=document_id,
            title=" ".join(plain(title).split()),
            snippet=shown,
            audience=self._audience(entry),
            revision=self._text(entry, "revision", is_sound=_is_short),
            chunk_id=self._text(entry, "chunkId", is_sound=_is_short),
            url=self._url(entry),
            locale=self._text(entry, "locale", is_sound=is_language_tag),
            score=self._score(entry),
            freshness=_FRESHNESS[self._text(entry, "freshness", is_sound=_FRESHNESS.__contains__) or "unknown"],
            review_due_at=self._text(entry, "reviewDueAt", is_sound=_is_date_time),
            translation_group_id=self._text(entry, "translationGroupId", is_sound=_is_short),
            truncated=len(shown) < len(whole),
        )
        if not _is_short(document_id) or len(title) > MAX_SHORT_CHARACTERS or not shown.strip():
            self.note(Warning_.RESULT_DROPPED)
            return None
        if passage.truncated:
            self.note(Warning_.SNIPPET_CUT)
        return passage

    def _audience(self, entry: _Entry) -> Audience:
        """Missing, malformed and unknown labels mean internal."""
        label = entry.get("audience")
        audience = _AUDIENCES.get(label) if isinstance(label, str) else None
        if audience is None:
            self.note(Warning_.AUDIENCE_MISSING)
            return Audience.INTERNAL
        return audience

    def _text(self, entry: _Entry, name: str, *, is_sound: Callable[[str], bool]) -> str | None:
        if (text := _optional(entry, name)) is None or is_sound(text):
            return text
        self.note(Warning_.FIELD_DROPPED)
        return None

    def _url(self, entry: _Entry) -> str | None:
        text = _optional(entry, "url")
        url = None if text is None else citation_url(text, allow_test_names=self._allow_test_names)
        if text is not None and url is None:
            self.note(Warning_.URL_DROPPED)
        return url

    def _score(self, entry: _Entry) -> float | None:
        number = entry.get("score")
        if number is None:
            return None
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise _broken()
        return float(number)  # finite: the JSON reader takes neither NaN nor numbers of hundreds of digits


def _document(body: bytes) -> _Entry:
    """The answer's outer object, its version checked."""
    document = object_in(body)
    if document is None:
        raise _broken()
    version = document.get("contractVersion")
    if isinstance(version, bool) or not isinstance(version, int | float):
        raise _broken()
    if version != CONTRACT_VERSION:
        raise Refused("unsupported_version")
    return document


def _required(entry: _Entry, name: str) -> str:
    value = entry.get(name)
    if not isinstance(value, str):
        raise _broken()
    return value


def _optional(entry: _Entry, name: str) -> str | None:
    """None where the field is absent or null; a value of another type fails the answer."""
    value = entry.get(name)
    if value is None or isinstance(value, str):
        return value
    raise _broken()


def _flag(declared: _Entry, name: str) -> bool:
    value = declared.get(name)
    if value is not None and not isinstance(value, bool):
        raise _broken()
    return value is True


def _is_short(text: str) -> bool:
    """Whether this can be an identifier: 1 to 512 characters, none of them a control character."""
    return 0 < len(text) <= MAX_SHORT_CHARACTERS and plain(text) == text and "\n" not in text and "\t" not in text


def _is_date_time(text: str) -> bool:
    if _DATE_TIME.fullmatch(text) is None:
        return False
    try:
        datetime.fromisoformat(text.upper())
    except ValueError:
        return False
    return True


def _broken() -> Refused:
    return Refused("invalid_response")
