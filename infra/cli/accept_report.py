"""What an acceptance run found out, as JSON and for people: words of this program and numbers alone. No name, no id, no
address, no query and nothing of what a server holds or says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import median
from typing import Any

REPORT_VERSION = 1
_BUCKETS = ((0, "0"), (9, "1-9"), (99, "10-99"), (499, "100-499"))
_MANY = "500 or more"


class Found(StrEnum):
    """`empty`: it works, and there was nothing."""

    PASSED = "passed"
    EMPTY = "empty"
    FAILED = "failed"
    UNTESTED = "untested"


WORKS = (Found.PASSED, Found.EMPTY)


class Verdict(StrEnum):
    USABLE = "usable"
    IN_PART = "usable in part"
    UNUSABLE = "unusable"
    UNTESTED = "untested"
    NOT_OFFERED = "not offered"


@dataclass(frozen=True, slots=True)
class Tried:
    """`code` is the gateway's own word for what went wrong."""

    found: Found = Found.UNTESTED
    code: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """How much is listed, roughly. `repeated_rows` came on more than one page of a list, in place of others."""

    tried: Tried = Tried()
    entries: str = "0"
    folders: str = "0"
    not_searchable: Mapping[str, str] = field(default_factory=dict)
    pages: int = 0
    is_cut: bool = False
    repeated_rows: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """`is_reranked` is None where the server does not say."""

    name: str
    tried: Tried
    passages: int = 0
    scores: str = "none"
    ms: int = 0
    is_reranked: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mishap:
    """One thing done wrong on purpose; `got` is our code for what came of it, `passed` or `empty` where nothing did."""

    name: str
    got: str
    expected: Sequence[str]

    @property
    def is_as_expected(self) -> bool:
        return self.got in self.expected


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """`long_page` is what a page of 101 rows came to: a number of rows, or `refused`; None where it was not tried."""

    query_characters: int
    longest_query: Tried = Tried()
    largest_page: int = 0
    long_page: int | str | None = None
    list_ms: Sequence[float] = ()
    search_ms: Sequence[float] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """`transport` says what was allowed to reach the server; `has_lists` is False where the product lists nothing."""

    kind: str
    gateway: str
    at: str
    transport: Mapping[str, object]
    has_lists: bool
    is_id_given: bool
    limits: Limits
    version: str | None = None
    listing: Listing = Listing()
    detail: Tried = Tried()
    detail_from_list: bool = False
    modes: Sequence[Mode] = ()
    mishaps: Sequence[Mishap] = ()
    requests: Mapping[str, int] = field(default_factory=dict)

    @property
    def conclusions(self) -> dict[str, Verdict]:
        return {
            "list": self._of(self.listing.tried),
            "detail": self._of(self.detail),
            "retrieval": self._retrieval(),
            "errors": self._errors(),
        }

    @property
    def is_accepted(self) -> bool:
        """A list may be closed to the key where an id is known without it."""
        found = self.conclusions
        lists_enough = self.is_id_given or found["list"] in (Verdict.USABLE, Verdict.NOT_OFFERED)
        is_described = found["detail"] in (Verdict.USABLE, Verdict.NOT_OFFERED)
        searches = found["retrieval"] in (Verdict.USABLE, Verdict.IN_PART)
        return lists_enough and is_described and searches and found["errors"] is Verdict.USABLE

    def _of(self, tried: Tried) -> Verdict:
        if not self.has_lists:
            return Verdict.NOT_OFFERED
        if tried.found is Found.UNTESTED:
            return Verdict.UNTESTED
        return Verdict.USABLE if tried.found in WORKS else Verdict.UNUSABLE

    def _retrieval(self) -> Verdict:
        """The first mode is the one that a binding begins with."""
        if not self.modes:
            return Verdict.UNTESTED
        if self.modes[0].tried.found not in WORKS:
            return Verdict.UNUSABLE
        return Verdict.USABLE if all(mode.tried.found in WORKS for mode in self.modes) else Verdict.IN_PART

    def _errors(self) -> Verdict:
        if not self.mishaps:
            return Verdict.UNTESTED
        return Verdict.USABLE if all(mishap.is_as_expected for mishap in self.mishaps) else Verdict.UNUSABLE


def bucket(count: int) -> str:
    return next((name for most, name in _BUCKETS if count <= most), _MANY)


def as_json(report: Report) -> dict[str, Any]:
    return {
        "reportVersion": REPORT_VERSION,
        "kind": report.kind,
        "gateway": report.gateway,
        "at": report.at,
        "transport": dict(report.transport),
        "version": report.version,
        "list": _listing(report.listing),
        "detail": _tried(report.detail) | {"fromList": report.detail_from_list},
        "retrieval": [_mode(mode) for mode in report.modes],
        "errors": [_mishap(mishap) for mishap in report.mishaps],
        "limits": _limits(report.limits),
        "requests": {"sent": sum(report.requests.values()), "byShape": dict(report.requests)},
        "conclusions": {name: str(verdict) for name, verdict in report.conclusions.items()},
        "accepted": report.is_accepted,
    }


def _tried(tried: Tried) -> dict[str, Any]:
    return {"found": str(tried.found), "errorCode": tried.code}


def _listing(listing: Listing) -> dict[str, Any]:
    return _tried(listing.tried) | {
        "entries": listing.entries,
        "folders": listing.folders,
        "notSearchable": dict(listing.not_searchable),
        "pages": listing.pages,
        "isCut": listing.is_cut,
        "repeatedRows": listing.repeated_rows,
    }


def _mode(mode: Mode) -> dict[str, Any]:
    found = {"passages": mode.passages, "scores": mode.scores, "reranked": mode.is_reranked, "ms": mode.ms}
    return {"mode": mode.name} | _tried(mode.tried) | found


def _mishap(mishap: Mishap) -> dict[str, Any]:
    told = {"case": mishap.name, "got": mishap.got, "expected": list(mishap.expected)}
    return told | {"asExpected": mishap.is_as_expected}


def _limits(limits: Limits) -> dict[str, Any]:
    return {
        "queryCharacters": limits.query_characters,
        "longestQuery": _tried(limits.longest_query),
        "largestPage": limits.largest_page,
        "pageOf101": limits.long_page,
        "listMs": _spread(limits.list_ms),
        "searchMs": _spread(limits.search_ms),
    }


def _spread(durations_ms: Sequence[float]) -> dict[str, int]:
    """Of few calls: the ninetieth percentile is one of them."""
    if not durations_ms:
        return {"calls": 0}
    ordered = sorted(durations_ms)
    ninetieth = ordered[max(0, -(-len(ordered) * 9 // 10) - 1)]
    told = {"median": median(ordered), "p90": ninetieth, "most": ordered[-1]}
    return {"calls": len(ordered)} | {name: round(value) for name, value in told.items()}


def lines_of(report: Report) -> Iterator[str]:
    """For people."""
    version = f"version {report.version}" if report.version else "version not told"
    yield f"{report.kind}, {version}: {'accepted' if report.is_accepted else 'NOT accepted'}"
    for name, verdict in report.conclusions.items():
        yield f"  {name:<10} {verdict}"
    yield from _list_lines(report)
    yield from _mode_lines(report.modes)
    yield from _mishap_lines(report.mishaps)
    yield from _limit_lines(report.limits)
    yield f"Sent {sum(report.requests.values())} requests, each of which reads:"
    yield from (f"  {shape:<34} {count}" for shape, count in report.requests.items())


def _list_lines(report: Report) -> Iterator[str]:
    if not report.has_lists:
        return
    listing = report.listing
    yield f"List: {_told(listing.tried)}; {listing.entries} entries, {listing.folders} folders, {listing.pages} pages"
    if listing.repeated_rows:
        yield f"  {listing.repeated_rows} rows came again on a later page, in place of others: read until complete"
    if listing.is_cut:
        yield "  there is more than can be listed"
    yield from (f"  cannot be searched, {reason}: {count}" for reason, count in listing.not_searchable.items())
    where = " (found in the list: it has no page of its own)" if report.detail_from_list else ""
    yield f"Detail: {_told(report.detail)}{where}"


def _mode_lines(modes: Sequence[Mode]) -> Iterator[str]:
    if modes:
        yield "Retrieval:"
    for mode in modes:
        reranked = ", put in order by a model" if mode.is_reranked else ""
        yield f"  {mode.name:<34} {_told(mode.tried):<28} {mode.passages} passages, {mode.ms} ms{reranked}"


def _mishap_lines(mishaps: Sequence[Mishap]) -> Iterator[str]:
    if mishaps:
        yield "Errors:"
    for mishap in mishaps:
        wrong = "" if mishap.is_as_expected else f"  expected {' or '.join(mishap.expected)}"
        yield f"  {mishap.name:<34} {mishap.got}{wrong}"


def _limit_lines(limits: Limits) -> Iterator[str]:
    yield f"Limits: queries of {limits.query_characters} characters ({_told(limits.longest_query)})"
    long_page = "" if limits.long_page is None else f"; a page of 101 rows: {limits.long_page}"
    yield f"  largest page {limits.largest_page} rows{long_page}"
    for name, durations in (("lists", limits.list_ms), ("searches", limits.search_ms)):
        spread = _spread(durations)
        if spread["calls"]:
            told = f"median {spread['median']} ms, ninetieth percentile {spread['p90']} ms, most {spread['most']} ms"
            yield f"  {spread['calls']} {name}: {told}"


def _told(tried: Tried) -> str:
    return str(tried.found) if tried.code is None else f"{tried.found}, {tried.code}"
