"""Reading all data sets of a RAGFlow server: pages that repeat, lose, lie, are too large and never end."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from shared.domain.remote_catalogs import CatalogPage, CatalogWish
from shared.errors import Refused, ResponseTooLarge
from shared.ports.exchange import OutboundAnswer, OutboundRequest, Watch
from shared.providers.ragflow import RagflowServer
from shared.providers.ragflow_listing import MAX_REQUESTS
from tests.support.fake_exchanges import json_answer
from tests.support.fakes import FakeClock
from tests.support.read_only import RAGFLOW_READING, shape_of

BASE = "https://ragflow.example.com/api/v1"
Rows = list[dict[str, Any]]


def data_sets(count: int) -> Rows:
    return [{"id": f"set-{n:04}", "name": f"Set {n:04}"} for n in range(count)]


def in_one_order(rows: Rows, _page: int, _size: int) -> Rows:
    return rows


def anew(seed: int) -> Callable[..., Rows]:
    """Rows of one creation time in another order for each page, the same for the same page."""

    def order(rows: Rows, page: int, size: int) -> Rows:
        return random.Random(f"{seed}/{page}/{size}").sample(rows, len(rows))

    return order


@dataclass
class Server:
    """Pages as the product makes them: as many rows as asked for, and from 0.21 on how many there are in all."""

    rows: Rows
    order: Callable[..., Rows] = in_one_order
    total: object = "counted"  # None: not told
    most_rows: int = 100  # with more the answer is too large
    left_ms: list[int] = field(default_factory=lambda: [25_000])
    asked: list[tuple[int, int]] = field(default_factory=list)

    def remaining_ms(self) -> int:
        return self.left_ms.pop(0) if len(self.left_ms) > 1 else self.left_ms[0]

    async def send(self, build: Callable[[], OutboundRequest], *, watch: Watch | None = None) -> OutboundAnswer:
        request = build()
        assert shape_of(request, base_url=BASE, reading=RAGFLOW_READING) == ("GET", "/datasets")
        query = {name: int(values[0]) for name, values in parse_qs(urlsplit(request.url).query).items()}
        page, size = query["page"], query["page_size"]
        self.asked.append((page, size))
        assert 1 <= size <= 100
        rows = self.order(self.rows, page, size)[(page - 1) * size : page * size]
        if len(rows) > self.most_rows:
            raise ResponseTooLarge
        body: dict[str, object] = {"code": 0, "data": rows}
        if self.total is not None:
            body["total_datasets"] = len(self.rows) if self.total == "counted" else self.total
        return json_answer(body)

    def page(self, number: int = 1, **wish: Any) -> CatalogPage:
        server = RagflowServer(clock=FakeClock(), allow_test_names=True)
        wished = CatalogWish(page=number, **wish)
        return asyncio.run(server.catalog(BASE, wished, credential="k", exchange=self))

    def all(self) -> list[str]:
        """The ids of all pages, one after the other."""
        first = self.page()
        pages = [first]
        while pages[-1].has_more:
            pages.append(self.page(pages[-1].page + 1))
        assert all(len(page.entries) <= 100 for page in pages)
        return [entry.id for page in pages for entry in page.entries]


def ids(count: int) -> list[str]:
    return [row["id"] for row in data_sets(count)]


@pytest.mark.parametrize("total", ["counted", None], ids=["0.21", "0.20"])
@pytest.mark.parametrize("count", [0, 1, 99, 100, 101, 130, 200, 500])
def test_every_data_set_is_listed_once_and_in_the_server_s_order(count: int, total: object) -> None:
    server = Server(data_sets(count), total=total)
    assert server.all() == ids(count)
    page = server.page()
    assert page.is_cut is False
    assert page.total == (count if total else None)


@pytest.mark.parametrize("seed", range(8))
def test_130_data_sets_of_one_creation_time_lose_and_repeat_nothing_or_it_is_said(seed: int) -> None:
    server = Server(data_sets(130), order=anew(seed))
    first, second = server.page(1), server.page(2)
    found = [entry.id for page in (first, second) for entry in page.entries]
    assert len(found) == len(set(found))
    assert first.is_cut is (len(found) < 130)
    assert len(found) >= 125


def test_most_servers_of_that_kind_are_read_whole() -> None:
    whole = [len(set(Server(data_sets(130), order=anew(seed)).all())) == 130 for seed in range(40)]
    assert sum(whole) >= 30


def test_without_a_total_reading_again_ends_when_it_brings_nothing_new() -> None:
    repeated = [*data_sets(3), *data_sets(2)]
    server = Server(repeated, total=None)
    assert [entry.id for entry in server.page().entries] == ids(3)
    assert server.asked == [(1, 100), (1, 90)]


def test_more_than_five_hundred_are_cut_and_it_is_said() -> None:
    server = Server(data_sets(730))
    assert server.all() == ids(500)
    page = server.page(5)
    assert (page.is_cut, page.has_more, page.total) == (True, False, 730)
    assert len(page.entries) == 100


def test_a_page_behind_the_end_is_empty() -> None:
    page = Server(data_sets(3)).page(2)
    assert (page.entries, page.page, page.has_more, page.is_cut) == ((), 2, False, False)


@pytest.mark.parametrize("total", [0, 1, 99])
def test_a_total_that_is_too_small_loses_nothing(total: int) -> None:
    assert Server(data_sets(130), total=total).all() == ids(130)


def test_a_total_that_is_too_large_ends_with_the_first_empty_page() -> None:
    server = Server(data_sets(3), total=10_000)
    assert [entry.id for entry in server.page().entries] == ids(3)
    assert server.asked == [(1, 100), (2, 100)]


def test_a_server_without_pages_is_not_asked_for_ever() -> None:
    def always_the_same(rows: Rows, page: int, size: int) -> Rows:
        return rows[:size] * page

    server = Server(data_sets(100), order=always_the_same, total=None)
    assert [entry.id for entry in server.page().entries] == ids(100)
    assert server.asked == [(1, 100), (2, 100), (1, 90), (2, 90)]


def test_a_server_that_always_has_more_is_not_asked_for_ever() -> None:
    def endless(_rows: Rows, page: int, size: int) -> Rows:
        return [{"id": f"set-{n}", "name": "x"} for n in range(page * size)]

    server = Server([], order=endless, total=None)
    page = server.page(search="y")
    assert (page.entries, page.is_cut) == ((), True)
    assert len(server.asked) == 21  # two thousand names, and one page more


@pytest.mark.parametrize(
    ("most_rows", "sizes"), [(99, {100, 20}), (20, {100, 20}), (19, {100, 20, 5}), (5, {100, 20, 5})]
)
def test_pages_with_large_pictures_are_asked_for_in_shorter_ones(most_rows: int, sizes: set[int]) -> None:
    server = Server(data_sets(130), most_rows=most_rows)
    assert server.all() == ids(130)
    assert {size for _, size in server.asked} == sizes


def test_a_shorter_page_goes_on_where_the_longer_one_would_have_begun() -> None:
    @dataclass
    class LargeAtTheEnd(Server):
        async def send(self, build: Callable[[], OutboundRequest], *, watch: Watch | None = None) -> OutboundAnswer:
            answer = await super().send(build, watch=watch)
            if self.asked[-1] == (2, 100):
                raise ResponseTooLarge
            return answer

    server = LargeAtTheEnd(data_sets(130))
    assert len(server.page(2).entries) == 30
    assert server.asked == [(1, 100), (2, 100), (6, 20), (7, 20)]


def test_an_entry_that_is_too_large_by_itself_fails_the_list() -> None:
    with pytest.raises(ResponseTooLarge):
        Server(data_sets(10), most_rows=4).page()


def test_no_list_takes_more_requests_than_it_may() -> None:
    server = Server(data_sets(400), most_rows=5)
    page = server.page()
    assert len(server.asked) == MAX_REQUESTS
    assert page.is_cut is True
    assert [entry.id for entry in page.entries] == ids(100)


def test_without_time_for_another_page_what_came_is_shown_and_it_is_said() -> None:
    server = Server(data_sets(250), left_ms=[20_000, 4_999])
    page = server.page()
    assert server.asked == [(1, 100), (2, 100)]
    assert (len(page.entries), page.has_more, page.is_cut) == (100, True, True)


def test_a_refusal_of_a_later_page_fails_the_list() -> None:
    @dataclass
    class Failing(Server):
        async def send(self, build: Callable[[], OutboundRequest], *, watch: Watch | None = None) -> OutboundAnswer:
            answer = await super().send(build, watch=watch)
            return json_answer({"code": 100, "data": None}) if self.asked[-1][0] == 2 else answer

    with pytest.raises(Refused) as caught:
        Failing(data_sets(130)).page()
    assert caught.value.code == "upstream_error"


def test_a_search_looks_through_more_than_is_shown() -> None:
    server = Server(data_sets(1_200))
    page = server.page(search="set 11")
    assert [entry.name for entry in page.entries] == [f"Set {n:04}" for n in range(1_100, 1_200)]
    assert (page.has_more, page.total, page.is_cut) == (False, None, False)


def test_a_search_that_finds_too_many_is_cut_and_it_is_said() -> None:
    server = Server(data_sets(700))
    page = server.page(6, search="set")
    assert (page.entries, page.has_more, page.is_cut) == ((), False, True)
    assert len(server.page(5, search="SET").entries) == 100
