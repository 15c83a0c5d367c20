"""Reading what Firecrawl fetched. That the fetching succeeded says nothing about the page: its own status, type and
final address are looked at too, and only its Markdown is text.
"""

from __future__ import annotations

from typing import Final

from shared.domain.acquisitions import (
    LEFT_APPROVED_HOSTS,
    MAX_TEXT_CHARACTERS,
    NOT_FRESH,
    Acquired,
    Acquisition,
    Wanted,
)
from shared.domain.answer_bodies import JsonObject, media_type_of
from shared.domain.live_configs import SourcePolicy
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import FreshnessWish, Warning_
from shared.domain.plain_text import cut, plain
from shared.domain.source_policy import final_url
from shared.domain.strict_json import JsonValue
from shared.errors import Refused

_GONE: Final = frozenset({404, 410})
_TEXTUAL: Final = frozenset({"application/json", "application/xml", "application/yaml", "application/x-yaml"})
_PDF_IN_BASE64: Final = "JVBERi0"
_MAX_TITLE_CHARACTERS: Final = 512
_MAX_TITLES: Final = 20


class Reader:
    """Reads the answer to one wish."""

    def __init__(self, wanted: Wanted, policy: SourcePolicy, *, allow_test_names: bool) -> None:
        self._wanted = wanted
        self._policy = policy
        self._allow_test_names = allow_test_names

    def acquired(self, data: JsonValue) -> Acquired:
        """Raises `Refused`: `not_found` for a page that is not there, `upstream_error` for one that its own site
        refused, `capability_unavailable` for one without text, `source_not_approved`, `not_fresh`, `invalid_response`.
        """
        if not isinstance(data, dict) or not isinstance(metadata := data.get("metadata"), dict):
            raise _broken()
        _check_page(metadata)
        final = self._final_url(metadata)
        was_kept = self._was_kept(metadata)
        whole = _markdown(data)
        text = cut(whole, limit=MAX_TEXT_CHARACTERS)
        title, is_title_sound = _title(metadata.get("title"))
        noticed = {
            Warning_.SOURCE_REDIRECTED: final != self._wanted.url,
            Warning_.NOT_FRESH: was_kept and self._wanted.freshness is FreshnessWish.FRESH,
            Warning_.FIELD_DROPPED: not is_title_sound,
        }
        return Acquired(
            url=self._wanted.url,
            final_url=final,
            title=title,
            text=text,
            truncated=len(text) < len(whole),
            acquisition=Acquisition.LIVE if self._is_forced else Acquisition.CACHED_OR_UNKNOWN,
            warnings=tuple(warning for warning, is_so in noticed.items() if is_so),
        )

    @property
    def _is_forced(self) -> bool:
        return self._wanted.freshness is FreshnessWish.FORCE

    def _final_url(self, metadata: JsonObject) -> str:
        """Without it nothing says where the text comes from."""
        asked, reported = metadata.get("sourceURL"), metadata.get("url")
        if not isinstance(reported, str) or not isinstance(asked, str | None):
            raise _broken()
        if asked is not None and self._leads_to(asked) != self._wanted.url:
            raise _broken()  # the answer to another question
        final = self._leads_to(reported)
        if final is None:
            raise Refused(LEFT_APPROVED_HOSTS)
        return final

    def _leads_to(self, reported: str) -> str | None:
        return final_url(self._wanted.url, reported, self._policy, allow_test_names=self._allow_test_names)

    def _was_kept(self, metadata: JsonObject) -> bool:
        """Whether the service says that it had the text before. Some versions say nothing of it."""
        was_kept = metadata.get("cacheState") == "hit"
        if was_kept and self._is_forced:
            raise Refused(NOT_FRESH)
        return was_kept


def _check_page(metadata: JsonObject) -> None:
    status, error, content_type = (metadata.get(name) for name in ("statusCode", "error", "contentType"))
    if isinstance(status, bool) or not isinstance(status, int | None) or not isinstance(content_type, str | None):
        raise _broken()
    if status in _GONE:
        raise Refused(OutcomeCode.NOT_FOUND)
    if not (200 <= status < 300 if status is not None else not error):
        raise Refused(OutcomeCode.UPSTREAM_ERROR)
    if content_type and not _is_textual(media_type_of(content_type)):
        raise Refused(OutcomeCode.CAPABILITY_UNAVAILABLE)


def _is_textual(media_type: str) -> bool:
    is_structured = media_type.startswith("application/") and media_type.endswith(("+xml", "+json"))
    return media_type.startswith("text/") or media_type in _TEXTUAL or is_structured


def _markdown(data: JsonObject) -> str:
    text = data.get("markdown")
    if not isinstance(text, str | None):
        raise _broken()
    shown = plain(text or "")
    if not shown.strip() or shown.startswith(_PDF_IN_BASE64):
        raise Refused(OutcomeCode.CAPABILITY_UNAVAILABLE)
    return shown


def _title(value: JsonValue) -> tuple[str | None, bool]:
    """The first that says something, and whether what came was a title at all."""
    titles = value[:_MAX_TITLES] if isinstance(value, list) else [value]
    if not all(isinstance(title, str | None) for title in titles):
        return None, False
    lines = (" ".join(plain(title).split()) for title in titles if isinstance(title, str))
    title = next((cut(line, limit=_MAX_TITLE_CHARACTERS) for line in lines if line), None)
    return title, True


def _broken() -> Refused:
    return Refused(OutcomeCode.INVALID_RESPONSE)
