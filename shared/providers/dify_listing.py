"""Reading all data sets of a server whose pages cannot be trusted.

The server cuts a page at 100 rows and then says that there is no more; it says that there is more when there is not;
and before 1.9.2 it orders data sets of one creation time anew for each page, so that some come twice and others never.
So pages are read until one is empty or nothing says that another follows. A reading in which something came twice has
missed something: it is read again in pages of another size, until as many are found as the server has counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from shared.domain.remote_catalogs import MAX_LISTED, RemoteEntry
from shared.providers.dify_answers import Listed, ListPage

MAX_REQUESTS: Final = 48
MAX_READINGS: Final = 16
_LONGEST_PAGE: Final = 100  # the server's own maximum
_SHORTER_BY: Final = 3  # rows, with each reading: a page of the same length would come in the same order


@dataclass(frozen=True, slots=True)
class Wanted:
    page: int
    limit: int


class Listing:
    """`wanted` is the page to read next, None once there is nothing left to read; `take` is told what came."""

    def __init__(self, *, most: int = MAX_LISTED) -> None:
        self.wanted: Wanted | None = Wanted(1, _LONGEST_PAGE)
        self.total: int | None = None
        self.readings = 0  # whole ones, whether or not they missed something
        self._most = most
        self._found: dict[str, Listed] = {}
        self._requests = 0
        self._may_have_missed = True
        self._begin()

    @property
    def entries(self) -> tuple[RemoteEntry, ...]:
        """The newest first, as the server orders them; those of one creation time by id, for the server has no order
        for them.
        """
        found = list(self._found.values())
        times = {each.entry.id: each.created_at for each in found if each.created_at is not None}
        if len(times) == len(found):
            found.sort(key=lambda each: (-times[each.entry.id], each.entry.id))
        return tuple(each.entry for each in found[: self._most])

    @property
    def is_cut(self) -> bool:
        """Whether there is more than `entries` shows, as far as anybody can tell."""
        return len(self._found) > self._most or (self._may_have_missed and not self._is_complete)

    def take(self, asked: Wanted, page: ListPage) -> None:
        self._requests += 1
        self.total = page.total if page.total is not None else self.total
        brought_something = self._keep(page)
        if not brought_something or self._is_last(page, asked):
            self._end_reading()
        else:
            self.wanted = Wanted(asked.page + 1, asked.limit)
        if len(self._found) > self._most or self._requests >= MAX_REQUESTS:
            self.wanted = None

    def _begin(self) -> None:
        self._rows = 0
        self._seen: set[str] = set()
        self._has_repeats = False
        self._found_before = len(self._found)

    def _keep(self, page: ListPage) -> bool:
        """Whether anything in the page is new in this reading: of a server that knows no pages, nothing is."""
        ids = [each.entry.id for each in page.listed]
        fresh = set(ids) - self._seen
        self._has_repeats = self._has_repeats or len(fresh) < len(ids)
        self._seen |= fresh
        for each in page.listed:
            self._found.setdefault(each.entry.id, each)
        return bool(fresh) or not ids

    def _is_last(self, page: ListPage, asked: Wanted) -> bool:
        """A short page is the last, unless something says otherwise; an empty one always is."""
        self._rows += page.rows
        says_more = page.has_more or (self.total is not None and self._rows < self.total)
        return page.rows == 0 or (page.rows < asked.limit and not says_more)

    def _end_reading(self) -> None:
        self.readings += 1
        self._may_have_missed = self._has_repeats
        brought_something = len(self._found) > self._found_before
        may_bring_more = self._has_repeats and not self._is_complete and (self.total is not None or brought_something)
        if may_bring_more and self.readings < MAX_READINGS:
            self._begin()
            self.wanted = Wanted(1, _LONGEST_PAGE - _SHORTER_BY * self.readings)
        else:
            self.wanted = None

    @property
    def _is_complete(self) -> bool:
        return self.total is not None and len(self._found) >= self.total
