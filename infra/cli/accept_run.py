"""An acceptance run: what a server can do is tried, one thing after the other, and everything that can go wrong is done
wrong once. Only readings are sent.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from infra.cli.accept_line import CountedExchange, Ledger
from infra.cli.accept_products import AS_BOUND, Product, other_key
from infra.cli.accept_report import Found, Limits, Listing, Mishap, Mode, Report, Tried, bucket
from shared.domain.deadlines import Deadline
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import Passage, Question, Retrieval
from shared.domain.registrations import ProviderConfig, Source
from shared.domain.remote_catalogs import CatalogPage, CatalogWish, EntryKind, RemoteEntry
from shared.domain.server_requests import server_headers
from shared.errors import ExchangeError
from shared.ports.clock import Clock
from shared.ports.exchange import Exchange, Exchanges, OutboundRequest

_LIST_S = 60.0
_CALL_S = 25.0
_MOST_PAGES = 5
_MOST_FOLDERS = 10
_MOST_CANDIDATES = 3
_MORE_SEARCHES = 3  # for how long they take
_PASSAGES = 5
_GONE = frozenset({OutcomeCode.CONNECTION_FAILED, OutcomeCode.BLOCKED_ADDRESS, OutcomeCode.TIMEOUT})
_NUMBERS = re.compile(r"[0-9]+(?:\.[0-9]+)*", re.ASCII)
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """What is accepted, and how it is reached. `source` has no config yet."""

    product: Product
    source: Source
    exchanges: Exchanges
    clock: Clock
    key: str | None = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What an operator has given to try it with. Nothing of it is reported."""

    query: str = field(repr=False)
    remote_id: str | None = field(repr=False)


class AcceptanceRun:
    """Raises `NotAReading` where something else was about to be sent."""

    def __init__(self, server: Server, given: Given) -> None:
        self._server = server
        self._product = server.product
        self._given = given
        product = server.product
        self._ledger = Ledger(base_url=server.source.base_url, readings=product.readings, id_name=product.id_name)

    async def __call__(self, report: Report) -> Report:
        """`report` with everything that was found out."""
        listing, entries = await self._listed()
        report = replace(report, listing=listing)
        if listing.tried.code in _GONE:
            return self._closed(report)
        report = replace(report, version=await self._version())
        target = await self._target(entries)
        if target is not None:
            report, target = await self._described(report, target)
            report = replace(report, modes=await self._searched(target))
        if not any(mode.tried.code in _GONE for mode in report.modes[:1]):
            report = replace(report, mishaps=await self._mishaps(target))
            report = replace(report, limits=await self._limits(report, target))
        return self._closed(report)

    def _closed(self, report: Report) -> Report:
        ledger = self._ledger
        limits = replace(
            report.limits,
            largest_page=ledger.largest_page,
            list_ms=ledger.durations_ms(searches=False),
            search_ms=ledger.durations_ms(searches=True),
        )
        return replace(report, limits=limits, requests=ledger.by_shape)

    def _line(self, timeout_s: float = _CALL_S) -> Exchange:
        deadline = Deadline.after(timeout_s, now_s=self._server.clock.monotonic())
        return CountedExchange(self._server.exchanges.open(self._server.source, deadline=deadline), self._ledger)

    async def _version(self) -> str | None:
        if (lists := self._product.lists) is None:
            return None
        base_url, key = self._server.source.base_url, self._server.key
        version, _ = await _tried(lists.version(base_url, credential=key, exchange=self._line()))
        numbers = _NUMBERS.match(version or "")  # what may follow them is somebody's own word
        return numbers[0] if numbers else None

    # What is there

    async def _listed(self) -> tuple[Listing, list[RemoteEntry]]:
        """Every page, and what lies in folders."""
        if self._product.lists is None:
            return Listing(), []
        pages, code = await self._pages(None)
        entries = [entry for page in pages for entry in page.entries]
        folders = [entry for entry in entries if entry.kind is EntryKind.FOLDER]
        for number, folder in enumerate(folders):  # grows by the folders in it
            if code is not None or number >= _MOST_FOLDERS:
                break
            inside, code = await self._pages(folder.id)
            new = [entry for page in inside for entry in page.entries]
            entries += new
            folders += [entry for entry in new if entry.kind is EntryKind.FOLDER]
        repeated_rows = self._ledger.repeated_rows
        return _listing(pages, entries, code, repeated_rows=repeated_rows), entries

    async def _pages(self, parent: str | None) -> tuple[list[CatalogPage], str | None]:
        pages: list[CatalogPage] = []
        while len(pages) < _MOST_PAGES and (not pages or pages[-1].has_more):
            page, code = await self._page(CatalogWish(page=len(pages) + 1, parent=parent), self._server.key)
            if page is None:
                return pages, code
            pages.append(page)
        return pages, None

    async def _page(self, wish: CatalogWish, key: str | None) -> tuple[CatalogPage | None, str | None]:
        lists = self._product.lists
        assert lists is not None  # noqa: S101  # asked of products that list
        work = lists.catalog(self._server.source.base_url, wish, credential=key, exchange=self._line(_LIST_S))
        return await _tried(work)

    async def _target(self, entries: Sequence[RemoteEntry]) -> RemoteEntry | None:
        """What is searched: the one that was named, or else the first of a few in which something is found."""
        if self._given.remote_id is not None:
            named = next((entry for entry in entries if entry.id == self._given.remote_id), None)
            return named or RemoteEntry(id=self._given.remote_id, name="")
        able = [entry for entry in entries if entry.not_searchable is None and entry.documents != 0]
        works: RemoteEntry | None = None
        for entry in able[:_MOST_CANDIDATES]:
            found, _ = await self._search(self._config(AS_BOUND, entry))
            if found is not None and found.passages:
                return entry
            works = works or (entry if found is not None else None)
        return works or next(iter(able), None)

    async def _described(self, report: Report, target: RemoteEntry) -> tuple[Report, RemoteEntry]:
        """With what the server itself says of it, which no id tells."""
        if self._product.lists is None:
            return report, target
        before = len(self._ledger.calls)
        entry, code = await self._detail(target.id)
        shapes = [call.reading.shape for call in self._ledger.calls[before:]]
        tried = Tried(Found.PASSED) if code is None else Tried(Found.FAILED, code)
        from_list = self._product.readings[0].shape in shapes
        return replace(report, detail=tried, detail_from_list=from_list), entry or target

    async def _detail(self, remote_id: str) -> tuple[RemoteEntry | None, str | None]:
        lists = self._product.lists
        assert lists is not None  # noqa: S101  # asked of products that list
        base_url, key = self._server.source.base_url, self._server.key
        return await _tried(lists.detail(base_url, remote_id, credential=key, exchange=self._line(_LIST_S)))

    # Searching

    async def _searched(self, target: RemoteEntry) -> list[Mode]:
        modes: list[Mode] = []
        for name in self._product.modes:
            modes.append(await self._mode(name, target))
            if modes[0].tried.code in _GONE:
                break
        return modes

    async def _mode(self, name: str, target: RemoteEntry) -> Mode:
        started = time.perf_counter()
        found, code = await self._search(self._config(name, target))
        ms = round((time.perf_counter() - started) * 1000)
        if found is None:
            return Mode(name=name, tried=Tried(Found.FAILED, code), ms=ms)
        return Mode(
            name=name,
            tried=Tried(Found.PASSED if found.passages else Found.EMPTY),
            passages=len(found.passages),
            scores=_scores(found.passages),
            ms=ms,
            is_reranked=self._ledger.calls[-1].is_reranked,
        )

    def _config(self, mode: str, target: RemoteEntry) -> ProviderConfig:
        return self._product.modes[mode](target)

    async def _search(
        self, config: ProviderConfig, *, query: str | None = None, key: str | None = None
    ) -> tuple[Retrieval | None, str | None]:
        question = Question(query=query or self._given.query, limit=_PASSAGES)
        source = replace(self._server.source, config=config)
        credential = key or self._server.key
        server = self._product.server
        return await _tried(server.retrieve(source, question, credential=credential, exchange=self._line()))

    # What can go wrong

    async def _mishaps(self, target: RemoteEntry | None) -> list[Mishap]:
        key, lists = self._server.key, self._product.lists
        wrong = None if key is None else other_key(key)
        mishaps = []
        if lists is not None and wrong is not None:
            refused = [OutcomeCode.UNAUTHORIZED]
            mishaps.append(_mishap("wrong_key_list", refused, await self._page(CatalogWish(), wrong)))
            mishaps.append(_mishap("no_key_list", refused, await self._page(CatalogWish(), None)))
        if target is not None:
            mishaps += await self._wrong_searches(target, wrong)
        if lists is not None:
            unknown = [OutcomeCode.NOT_FOUND]
            mishaps.append(_mishap("missing_id_detail", unknown, await self._detail(self._product.missing_id)))
            mishaps.append(_mishap("malformed_id_detail", unknown, await self._detail(self._product.malformed_id)))
        return mishaps

    async def _wrong_searches(self, target: RemoteEntry, wrong_key: str | None) -> list[Mishap]:
        """What is only a convention, where no product is behind it, may come out in more than one way."""
        is_convention = self._product.lists is None
        refused = [OutcomeCode.UNAUTHORIZED, *([OutcomeCode.FORBIDDEN] if is_convention else [])]
        unknown = [OutcomeCode.NOT_FOUND, *([Found.EMPTY, OutcomeCode.UPSTREAM_ERROR] if is_convention else [])]
        usual = self._config(AS_BOUND, target)
        mishaps = []
        if wrong_key is not None:
            mishaps.append(_mishap("wrong_key_search", refused, await self._search(usual, key=wrong_key)))
        for name, remote_id in (("missing", self._product.missing_id), ("malformed", self._product.malformed_id)):
            nowhere = self._config(AS_BOUND, replace(target, id=remote_id))
            mishaps.append(_mishap(f"{name}_id_search", unknown, await self._search(nowhere)))
        return mishaps

    # How much, and how fast

    async def _limits(self, report: Report, target: RemoteEntry | None) -> Limits:
        limits = replace(report.limits, long_page=await self._long_page())
        if target is None or report.modes[0].tried.found is Found.FAILED:
            return limits
        usual, characters = self._config(AS_BOUND, target), limits.query_characters
        for _ in range(_MORE_SEARCHES):
            await self._search(usual)
        longest = f"{self._given.query} " * characters
        found, code = await self._search(usual, query=longest[: characters - 1] + "a")
        if found is None:
            return replace(limits, longest_query=Tried(Found.FAILED, code))
        return replace(limits, longest_query=Tried(Found.PASSED if found.passages else Found.EMPTY))

    async def _long_page(self) -> int | str | None:
        if (page := self._product.long_page) is None:
            return None
        url = self._server.source.base_url + page
        request = OutboundRequest(method="GET", url=url, headers=server_headers(self._server.key, has_body=False))
        answer, code = await _tried(self._line().send(lambda: request))
        return code if answer is None else _rows(answer.body)


async def _tried(work: Awaitable[_T]) -> tuple[_T | None, str | None]:
    """What came, or the gateway's code for why it did not."""
    try:
        return await work, None
    except ExchangeError as error:
        return None, str(error.code)


def _listing(
    pages: Sequence[CatalogPage], entries: Sequence[RemoteEntry], code: str | None, *, repeated_rows: int
) -> Listing:
    reasons = Counter(str(entry.not_searchable) for entry in entries if entry.not_searchable is not None)
    works = Found.PASSED if entries else Found.EMPTY
    return Listing(
        tried=Tried(works) if code is None else Tried(Found.FAILED, code),
        entries=bucket(len(entries)),
        folders=bucket(sum(entry.kind is EntryKind.FOLDER for entry in entries)),
        not_searchable={reason: bucket(count) for reason, count in sorted(reasons.items())},
        pages=len(pages),
        is_cut=any(page.is_cut for page in pages),
        repeated_rows=repeated_rows,
    )


def _mishap(name: str, expected: Sequence[str], got: tuple[object, str | None]) -> Mishap:
    came, code = got
    is_empty = isinstance(came, Retrieval) and not came.passages
    return Mishap(name=name, got=code or str(Found.EMPTY if is_empty else Found.PASSED), expected=expected)


def _scores(passages: Sequence[Passage]) -> str:
    if any(passage.scores for passage in passages):
        return "several"
    return "numbers" if any(passage.score is not None for passage in passages) else "none"


def _rows(body: bytes) -> int | str:
    try:
        rows = json.loads(body)["data"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return "refused"
    return len(rows) if isinstance(rows, list) else "refused"
