"""A line to the server under acceptance: what is no reading never leaves, and what passes is counted, not kept."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

from shared.ports.exchange import Exchange, OutboundAnswer, OutboundRequest, Watch


class NotAReading(Exception):
    """A request that might change something: a fault of this program, found before anything was sent."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One kind of request that changes nothing: `pattern` is of the path below the base URL, with its query."""

    shape: str
    pattern: re.Pattern[str]
    is_search: bool = False


def reading(shape: str, pattern: str, *, is_search: bool = False) -> Reading:
    """`shape` is method and path, as it is reported."""
    return Reading(shape, re.compile(pattern, re.ASCII), is_search)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request, answered (`status`) or not (None). `ids` are of the rows of a list; `group` is what pages of one
    list have in common, `page` counts them from 1. `is_reranked` is what FastGPT says of a search, whatever was asked.
    """

    reading: Reading
    status: int | None
    ms: float
    group: str
    page: int = 1
    ids: tuple[str, ...] = field(default=(), repr=False)
    is_reranked: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """All calls to one server. `id_name` is what its lists call the id of a row."""

    base_url: str
    readings: Sequence[Reading]
    id_name: str
    calls: list[Call] = field(default_factory=list)

    def reading_of(self, request: OutboundRequest) -> Reading:
        """Raises `NotAReading`."""
        below = request.url.removeprefix(self.base_url)
        for each in self.readings:
            method, _, _ = each.shape.partition(" ")
            if request.url.startswith(self.base_url) and request.method == method and each.pattern.fullmatch(below):
                return each
        raise NotAReading(request.method)

    @property
    def by_shape(self) -> dict[str, int]:
        return dict(sorted(Counter(call.reading.shape for call in self.calls).items()))

    @property
    def largest_page(self) -> int:
        return max((len(call.ids) for call in self.calls), default=0)

    @property
    def repeated_rows(self) -> int:
        """How many rows came again on a later page of one reading of a list, at most: as many others were missed."""
        readings: dict[str, list[str]] = {}
        most = 0
        for call in self.calls:
            before = readings.get(call.group, []) if call.page > 1 else []
            ids = readings[call.group] = [*before, *call.ids]
            most = max(most, len(ids) - len(set(ids)))
        return most

    def durations_ms(self, *, searches: bool) -> list[float]:
        """Of what was answered under 200."""
        return [call.ms for call in self.calls if call.status == 200 and call.reading.is_search is searches]


class CountedExchange:
    """Implements `ports.exchange.Exchange` over another one."""

    def __init__(self, inner: Exchange, ledger: Ledger) -> None:
        self._inner = inner
        self._ledger = ledger

    def remaining_ms(self) -> int:
        return self._inner.remaining_ms()

    async def send(self, build: Callable[[], OutboundRequest], *, watch: Watch | None = None) -> OutboundAnswer:
        request = build()
        what = self._ledger.reading_of(request)
        started, answer = time.perf_counter(), None
        try:
            answer = await self._inner.send(lambda: request, watch=watch)
            return answer
        finally:
            body = b"" if answer is None else answer.body
            call = Call(
                reading=what,
                status=None if answer is None else answer.status,
                ms=(time.perf_counter() - started) * 1000,
                group=_group(request),
                page=_page(request),
                ids=() if what.is_search else _ids(body, self._ledger.id_name),
                is_reranked=_is_reranked(body) if what.is_search else None,
            )
            self._ledger.calls.append(call)


def _group(request: OutboundRequest) -> str:
    fields = sorted(pair for pair in parse_qsl(urlsplit(request.url).query) if pair[0] != "page")
    return json.dumps([urlsplit(request.url).path, fields])


def _page(request: OutboundRequest) -> int:
    """1 where nothing is said of pages: each answer is a whole list there."""
    said = dict(parse_qsl(urlsplit(request.url).query)).get("page", "1")
    return int(said) if said.isascii() and said.isdigit() else 1


def _ids(body: bytes, id_name: str) -> tuple[str, ...]:
    """None of an answer that is no list."""
    try:
        rows = json.loads(body)["data"]
        return tuple(str(row[id_name]) for row in rows) if isinstance(rows, list) else ()
    except (ValueError, KeyError, TypeError, RecursionError):
        return ()


def _is_reranked(body: bytes) -> bool | None:
    try:
        said = json.loads(body)["data"]["usingReRank"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return said if isinstance(said, bool) else None
