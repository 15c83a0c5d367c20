"""Reading what Context7 answers: which library to ask about, and which pages it cites.

Nearly every field of its answers may be absent or null, and numbers may be -1 for "unknown"; only what is used here is
looked at. A field of another JSON type fails the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from shared.domain.answer_bodies import JsonObject
from shared.domain.live_configs import SourcePolicy
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import Discovery, Retrieval, Warning_
from shared.domain.plain_text import plain
from shared.domain.source_policy import approved_url, is_web_url
from shared.domain.strict_json import JsonValue
from shared.errors import Refused

_READY: Final = "finalized"
_MOST_ENTRIES: Final = 1_000  # of one list; real answers have a few dozen
_MOST_CITED: Final = 100  # judged in one answer
_MOST_VERSIONS: Final = 1_000
_MAX_TITLE_CHARACTERS: Final = 512
_MAX_ID_CHARACTERS: Final = 500
_PART = r"@?[^/@\x00-\x20\x7f-\xa0]+"
_NO_NAMES: Final = frozenset({".", ".."})
_VERSION = r"[^/\x00-\x20\x7f-\xa0]+"
_ID = re.compile(rf"(/{_PART}/{_PART})(?:[/@]({_VERSION}))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """One that is ready to be asked about. `versions` as the service writes them."""

    id: str
    title: str
    versions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What is asked about. `is_as_wanted` is False when a version was wanted and this is another, or none."""

    library: str
    version: str | None = None
    is_as_wanted: bool = True

    @classmethod
    def of(cls, library_id: str, *, wanted: str | None) -> Selection:
        """An id whose versions nobody has listed: it may only name one itself."""
        match = _ID.fullmatch(library_id)
        library, version = (match[1], match[2]) if match else (library_id, None)
        is_as_wanted = wanted is None or (version is not None and _bare(version) == _bare(wanted))
        return cls(library=library, version=version, is_as_wanted=is_as_wanted)

    @property
    def id(self) -> str:
        return self.library if self.version is None else f"{self.library}/{self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """The library is now known under another id."""

    to: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippets:
    """`cited`: what the service says its snippets come from, an address or not, with a title; in its order."""

    cited: tuple[tuple[str, str | None], ...] = ()


def read_libraries(body: JsonObject) -> tuple[Library, ...]:
    """The libraries that are ready, best first. Raises `Refused` (`invalid_response`)."""
    if not isinstance(body.get("results"), list):
        raise _broken()
    return tuple(library for entry in _entries(body, "results") if (library := _library(entry)) is not None)


def choose(
    libraries: Sequence[Library], *, product: str | None, repository: str | None, version: str | None
) -> Selection | None:
    """The library of the repository, else the one with the wanted title, else the service's first."""
    title = (product or (repository or "").rpartition("/")[2]).strip().casefold()
    named = f"/{repository}".casefold() if repository else None

    def rank(library: Library) -> int:
        if library.id.casefold() == named:
            return 0
        return 1 if title in (library.title.casefold(), library.id.casefold()) else 2

    best = min(libraries, key=rank, default=None)
    if best is None:
        return None
    advertised = _advertised(best, version)
    return Selection(library=best.id, version=advertised, is_as_wanted=version is None or advertised is not None)


def read_moved(body: JsonObject) -> Moved:
    """The new id in what looks like the address of a redirect. Raises `Refused` (`invalid_response`)."""
    target = body.get("redirectUrl")
    if not isinstance(target, str) or not _is_id(target):
        raise _broken()
    return Moved(to=target)


def read_snippets(body: JsonObject) -> Snippets:
    """Raises `Refused`: `invalid_response`, or `upstream_error` for an error that calls itself a success."""
    if "error" in body and not ("infoSnippets" in body or "codeSnippets" in body):
        raise Refused(OutcomeCode.UPSTREAM_ERROR)
    info = ((_text(e, "pageId"), _last_part(_text(e, "breadcrumb"))) for e in _entries(body, "infoSnippets"))
    code = ((_text(e, "codeId"), _text(e, "pageTitle")) for e in _entries(body, "codeSnippets"))
    return Snippets(cited=tuple((name, title) for name, title in (*info, *code) if name is not None))


def discovered(
    snippets: Snippets,
    selection: Selection,
    *,
    limit: int,
    policy: SourcePolicy,
    allow_test_names: bool,
    warnings: tuple[Warning_, ...] = (),
) -> Retrieval:
    """The approved pages among what is cited first, each once, at most `limit`; identifiers that are no address of a
    page cite nothing. `warnings` come first.
    """
    titles: dict[str, str | None] = {}
    noticed = dict.fromkeys(warnings)
    if not selection.is_as_wanted:
        noticed[Warning_.VERSION_NOT_ADVERTISED] = None
    if len(snippets.cited) > _MOST_CITED:
        noticed[Warning_.SURPLUS_CUT] = None
    for name, title in snippets.cited[:_MOST_CITED]:
        url = approved_url(name, policy, allow_test_names=allow_test_names)
        shown = " ".join(plain(title or "").split())
        if url is not None and len(shown) > _MAX_TITLE_CHARACTERS:
            noticed[Warning_.FIELD_DROPPED] = None
            titles.setdefault(url, None)
        elif url is not None:
            titles[url] = titles.get(url) or shown or None
        elif is_web_url(name):
            noticed[Warning_.SOURCE_NOT_APPROVED] = None
    discoveries = (
        Discovery(url=url, title=title, library=selection.library, library_version=selection.version)
        for url, title in islice(titles.items(), limit)
    )
    return Retrieval(discoveries=tuple(discoveries), warnings=tuple(noticed))


def _library(entry: JsonObject) -> Library | None:
    """None for one that is not ready or cannot be asked about."""
    library_id, title, state = (_text(entry, name) for name in ("id", "title", "state"))
    versions = entry.get("versions")
    if versions is not None and not (isinstance(versions, list) and all(isinstance(each, str) for each in versions)):
        raise _broken()
    if library_id is None or not _is_id(library_id) or state not in (None, _READY):
        return None
    known = tuple(str(each) for each in (versions or ())[:_MOST_VERSIONS])
    return Library(id=library_id, title=title or "", versions=known)


def _advertised(library: Library, wanted: str | None) -> str | None:
    """The wanted version as the service writes it, which may be with a `v` in front where the search had none."""
    if wanted is None or Selection.of(library.id, wanted=None).version is not None:
        return None
    usable = [each for each in library.versions if _is_id(f"{library.id}/{each}")]
    return next((v for v in usable if v == wanted), None) or next(
        (v for v in usable if _bare(v) == _bare(wanted)), None
    )


def _bare(version: str) -> str:
    return version[1:] if version[:1] in ("v", "V") else version


def _is_id(text: str) -> bool:
    is_short = len(text) <= _MAX_ID_CHARACTERS
    return is_short and _ID.fullmatch(text) is not None and _NO_NAMES.isdisjoint(text.split("/"))


def _entries(body: JsonObject, name: str) -> Iterator[JsonObject]:
    entries = body.get(name)
    if entries is None:
        return
    if not isinstance(entries, list):
        raise _broken()
    for entry in entries[:_MOST_ENTRIES]:
        if not isinstance(entry, dict):
            raise _broken()
        yield entry


def _text(entry: JsonObject, name: str) -> str | None:
    value: JsonValue = entry.get(name)
    if value is not None and not isinstance(value, str):
        raise _broken()
    return value


def _last_part(breadcrumb: str | None) -> str | None:
    return None if breadcrumb is None else breadcrumb.rpartition(">")[2]


def _broken() -> Refused:
    return Refused(OutcomeCode.INVALID_RESPONSE)
