"""Reading what Exa answers. Only `text` is evidence: summaries, highlights and answers are generated and never read,
and what the service says about its price is an estimate that nobody here relies on.
"""

from __future__ import annotations

import re
from typing import Final

from shared.domain.acquisitions import LEFT_APPROVED_HOSTS, NOT_FRESH, Acquired, Acquisition, Wanted
from shared.domain.answer_bodies import JsonObject
from shared.domain.exposure import Audience
from shared.domain.live_configs import ExaConfig, SourcePolicy
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import Discovery, FreshnessWish, Passage, Retrieval, Warning_
from shared.domain.plain_text import cut, plain
from shared.domain.source_policy import approved_url, final_url
from shared.errors import Refused

MAX_TITLE_CHARACTERS: Final = 512
MAX_SNIPPET_CHARACTERS: Final = 8_000
_OF_TIME = re.compile(r"CRAWL_(?:LIVECRAWL_)?TIMEOUT|CRAWL_HTTP_(?:408|504)", re.ASCII)
_OF_RATE: Final = "CRAWL_HTTP_429"


def read_retrieval(body: JsonObject, *, limit: int, config: ExaConfig, allow_test_names: bool) -> Retrieval:
    """Passages for results with text and discoveries for the others, each page once, at most `limit` results.

    Raises `Refused` (`invalid_response`).
    """
    results = body.get("results")
    if not isinstance(results, list):
        raise _broken()
    reader = _Results(config, allow_test_names=allow_test_names)
    if len(results) > limit:
        reader.note(Warning_.SURPLUS_CUT)
    for result in _objects({"results": results[:limit]}, "results"):
        reader.read(result)
    return reader.retrieval


class _Results:
    """Reads the results of one answer and gathers its warnings, each once."""

    def __init__(self, config: ExaConfig, *, allow_test_names: bool) -> None:
        self._config = config
        self._allow_test_names = allow_test_names
        self._passages: dict[str, Passage] = {}
        self._discoveries: dict[str, Discovery] = {}
        self._warnings: dict[Warning_, None] = {}

    def note(self, warning: Warning_) -> None:
        self._warnings[warning] = None

    def read(self, result: JsonObject) -> None:
        address, title, text = (_text(result, name) for name in ("url", "title", "text"))
        if address is None:
            self.note(Warning_.RESULT_DROPPED)
            return
        url = approved_url(address, self._config, allow_test_names=self._allow_test_names)
        if url is None:
            self.note(Warning_.SOURCE_NOT_APPROVED)
            return
        shown = _one_line(title)
        if shown is not None and len(shown) > MAX_TITLE_CHARACTERS:
            self.note(Warning_.RESULT_DROPPED)
        elif text is None or not plain(text).strip():
            self._discoveries.setdefault(url, Discovery(url=url, title=shown))
        else:
            self._passages.setdefault(url, self._passage(result, url, title=shown or url, text=text))

    @property
    def retrieval(self) -> Retrieval:
        """A page with a text needs no discovery besides."""
        return Retrieval(
            passages=tuple(self._passages.values()),
            discoveries=tuple(each for url, each in self._discoveries.items() if url not in self._passages),
            warnings=tuple(self._warnings),
        )

    def _passage(self, result: JsonObject, url: str, *, title: str, text: str) -> Passage:
        whole = plain(text)
        snippet = cut(whole, limit=MAX_SNIPPET_CHARACTERS)
        is_cut = len(snippet) < len(whole)
        if is_cut:
            self.note(Warning_.SNIPPET_CUT)
        return Passage(
            document_id=url,
            title=title,
            snippet=snippet,
            audience=Audience.INTERNAL,
            url=url,
            score=_score(result),
            truncated=is_cut or len(text) >= self._config.max_characters,
        )


def read_acquired(
    body: JsonObject, wanted: Wanted, *, characters: int, policy: SourcePolicy, allow_test_names: bool
) -> Acquired:
    """The text of the page, of which `characters` were asked for. Raises `Refused`: `invalid_response`; `not_found`,
    `timeout` or `rate_limited` for a page that could not be fetched; `source_not_approved` for one that led away from
    the approved hosts; `capability_unavailable` for one without text; `not_fresh` when a forced fetch was wanted and
    the service does not say that it made one.
    """
    is_crawled = _is_crawled(body, wanted.url)
    is_forced = wanted.freshness is FreshnessWish.FORCE
    if is_forced and not is_crawled:
        raise Refused(NOT_FRESH)
    address, title, text = _page_of(body, wanted.url)
    landed = final_url(wanted.url, address, policy, allow_test_names=allow_test_names)
    whole = plain(text)
    if landed is None:
        raise Refused(LEFT_APPROVED_HOSTS)
    if not whole.strip():
        raise Refused(OutcomeCode.CAPABILITY_UNAVAILABLE)
    noticed = {
        Warning_.SOURCE_REDIRECTED: landed != wanted.url,
        Warning_.NOT_FRESH: wanted.freshness is FreshnessWish.FRESH and not is_crawled,
        Warning_.FIELD_DROPPED: title is not None and len(title) > MAX_TITLE_CHARACTERS,
    }
    return Acquired(
        url=wanted.url,
        final_url=landed,
        title=None if noticed[Warning_.FIELD_DROPPED] else title,
        text=cut(whole, limit=characters),
        truncated=len(text) >= characters,
        acquisition=Acquisition.LIVE if is_forced else Acquisition.CACHED_OR_UNKNOWN,
        warnings=tuple(warning for warning, is_so in noticed.items() if is_so),
    )


def _is_crawled(body: JsonObject, asked: str) -> bool:
    """Whether the service fetched the page for this very request. Raises what its word for a failure means, also where
    it sent a text along.
    """
    statuses = [each for each in _objects(body, "statuses") if _names(each, "id", asked)]
    failed = next((each for each in statuses if each.get("status") == "error"), None)
    if failed is not None:
        raise Refused(_code_of(failed))
    if not statuses or any(each.get("status") != "success" for each in statuses):
        raise _broken() if body.get("results") else Refused(OutcomeCode.NOT_FOUND)
    return all(each.get("source") == "crawled" for each in statuses)


def _page_of(body: JsonObject, asked: str) -> tuple[str, str | None, str]:
    """Address, title and text of the result for the page: the one that names it, else the only one there is, for a page
    may lie elsewhere. Never one by its position among others.
    """
    results = _objects(body, "results")
    ours = [each for each in results if _names(each, "id", asked) or _names(each, "url", asked)] or results
    if len(ours) != 1:
        raise _broken()
    address, title, text = (_text(ours[0], name) for name in ("url", "title", "text"))
    if address is None:
        raise _broken()
    return address, _one_line(title), text or ""


def _names(entry: JsonObject, field: str, asked: str) -> bool:
    return (_text(entry, field) or "").removesuffix("/") == asked.removesuffix("/")


def _code_of(failed: JsonObject) -> OutcomeCode:
    error = failed.get("error")
    tag = error.get("tag") if isinstance(error, dict) else None
    if not isinstance(tag, str):
        return OutcomeCode.NOT_FOUND
    if _OF_TIME.fullmatch(tag):
        return OutcomeCode.TIMEOUT
    return OutcomeCode.RATE_LIMITED if tag == _OF_RATE else OutcomeCode.NOT_FOUND


def _objects(body: JsonObject, name: str) -> list[JsonObject]:
    """A list that is absent or null is an empty one."""
    entries = body.get(name)
    if entries is None:
        return []
    if not isinstance(entries, list):
        raise _broken()
    objects = [each for each in entries if isinstance(each, dict)]
    if len(objects) != len(entries):
        raise _broken()
    return objects


def _text(entry: JsonObject, name: str) -> str | None:
    value = entry.get(name)
    if value is not None and not isinstance(value, str):
        raise _broken()
    return value


def _one_line(title: str | None) -> str | None:
    return " ".join(plain(title or "").split()) or None


def _score(result: JsonObject) -> float | None:
    """Older answers have one. The JSON reader takes no number that is not finite."""
    number = result.get("score")
    return float(number) if isinstance(number, int | float) and not isinstance(number, bool) else None


def _broken() -> Refused:
    return Refused(OutcomeCode.INVALID_RESPONSE)
