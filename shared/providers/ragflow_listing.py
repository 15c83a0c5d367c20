"""Reading all data sets of a server that may not say how many there are.

A page is never longer than the 100 rows that later versions allow, and shorter where pictures make one too large. Pages
are read until one is empty, or short and nothing says that another follows. Where something came twice, something else
was missed: everything is then read again, in pages of another length, until as many are found as the server counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from shared.domain.remote_catalogs import MAX_LISTED, RemoteEntry

MAX_REQUESTS: Final = 40
# Rows a page, for each reading; each one is divided by those after it, so that a shorter page goes on where a longer
# one would have begun.
_SIZES: Final = ((100, 20, 5), (90, 18, 6), (80, 16, 4), (70, 14, 7), (60, 12, 6))


@dataclass(frozen=True, slots=True)
class Wanted:
    page: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPage:
    """`rows` counts what the server sent, also entries that can never be bound and are left out of `entries`."""

    entries: Sequence[RemoteEntry]
    rows: int
    total: int | None = None


class Listing:
    """`wanted` is the page to read next, None once there is nothing left to read; `take` is told what came, `shorten`
    that it was too large.
    """

    def __init__(self, *, most: int = MAX_LISTED) -> None:
        self.wanted: Wanted | None = None
        self.total: int | None = None
        self._most = most
        self._found: dict[str, RemoteEntry] = {}
        self._requests = 0
        self._is_cut_short = False
        self._begin(0)

    @property
    def entries(self) -> tuple[RemoteEntry, ...]:
        """Each id once, in the server's order."""
        return tuple(self._found.values())[: self._most]

    @property
    def is_cut(self) -> bool:
        """Whether there is more than `entries` shows, as far as anybody can tell."""
        has_missed = self.wanted is not None or self._is_cut_short or self._has_repeats
        return len(self._found) > self._most or (has_missed and not self._is_complete)

    @property
    def has_begun(self) -> bool:
        return self._requests > 0

    def take(self, asked: Wanted, page: ListPage) -> None:
        self._requests += 1
        self._rows += page.rows
        self.total = page.total if page.total is not None else self.total
        ids = [each.id for each in page.entries]
        has_news = not ids or not self._seen.issuperset(ids)
        self._keep(page.entries)
        if self._is_last(page, asked) or not has_news:  # a server that knows no pages sends the same ones for ever
            self._end_reading()
        else:
            self.wanted = Wanted(asked.page + 1, asked.size)
        self._stop_in_time()

    def shorten(self, asked: Wanted) -> bool:
        """Whether there is a shorter page to ask for in its place."""
        self._requests += 1
        shorter = next((size for size in _SIZES[self._reading] if size < asked.size), None)
        if shorter is not None:
            self.wanted = Wanted((asked.page - 1) * asked.size // shorter + 1, shorter)
            self._stop_in_time()
        return shorter is not None

    def _begin(self, reading: int) -> None:
        self._reading = reading
        self._rows = 0
        self._seen: set[str] = set()
        self._has_repeats = False
        self._found_before = len(self._found)
        self.wanted = Wanted(1, _SIZES[reading][0])

    def _keep(self, entries: Sequence[RemoteEntry]) -> None:
        for each in entries:
            self._has_repeats = self._has_repeats or each.id in self._seen
            self._seen.add(each.id)
            self._found.setdefault(each.id, each)

    def _is_last(self, page: ListPage, asked: Wanted) -> bool:
        says_more = self.total is not None and self._rows < self.total
        return page.rows == 0 or (page.rows < asked.size and not says_more)

    def _end_reading(self) -> None:
        may_gain = self.total is not None or len(self._found) > self._found_before
        if self._has_repeats and not self._is_complete and may_gain and self._reading + 1 < len(_SIZES):
            self._begin(self._reading + 1)
        else:
            self.wanted = None

    def _stop_in_time(self) -> None:
        if self.wanted is not None and (len(self._found) > self._most or self._requests >= MAX_REQUESTS):
            self._is_cut_short = True
            self.wanted = None

    @property
    def _is_complete(self) -> bool:
        return self.total is not None and len(self._found) >= self.total
