"""Reading all data sets of a Dify server: pages that repeat, lose, lie and never end."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from shared.domain.remote_catalogs import CatalogPage, CatalogWish, RemoteEntry
from shared.errors import ExchangeTimeout, Refused
from shared.ports.exchange import OutboundAnswer, OutboundRequest, Watch
from shared.providers.dify import DifyServer
from shared.providers.dify_listing import MAX_READINGS, MAX_REQUESTS
from tests.support.dify_stage import BASE, KEY
from tests.support.fake_exchanges import json_answer
from tests.support.fakes import FakeClock
from tests.support.read_only import shape_of

BEFORE_1_2 = json_answer({"code": "method_not_allowed", "message": "", "status": 405}, status=405)


def data_sets(count: int, *, created_at: int | None = 1_780_000_000) -> list[dict[str, Any]]:
    return [{"id": f"set-{n:03}", "name": f"Set {n}", "created_at": created_at} for n in range(count)]


def in_one_order(rows: list[dict[str, Any]], _page: int, _limit: int) -> list[dict[str, Any]]:
    return rows


def anew(seed: int) -> Callable[..., list[dict[str, Any]]]:
    """Rows of one creation time in another order for each page, the same for the same page."""

    def order(rows: list[dict[str, Any]], page: int, limit: int) -> list[dict[str, Any]]:
        return random.Random(f"{seed}/{page}/{limit}").sample(rows, len(rows))

    return order


@dataclass
class Server:
    """Pages as the product makes them: never more than 100 rows, and `has_more` is whether the page is as long as it
    was asked for. `over` replaces what else a page says.
    """

    rows: list[dict[str, Any]]
    order: Callable[..., list[dict[str, Any]]] = in_one_order
    longest: int = 100
    over: dict[str, Any] = field(default_factory=dict)
    left_ms: list[int] = field(default_factory=lambda: [25_000])
    detail: OutboundAnswer = BEFORE_1_2
    asked: list[dict[str, str]] = field(default_factory=list)
    asked_in_this_call: int = 0

    def remaining_ms(self) -> int:
        return self.left_ms.pop(0) if len(self.left_ms) > 1 else self.left_ms[0]

    async def send(self, build: Callable[[], OutboundRequest], *, watch: Watch | None = None) -> OutboundAnswer:
        request = build()
        if shape_of(request, base_url=BASE) == ("GET", "/datasets/{id}"):
            return self.detail
        query = {name: values[0] for name, values in parse_qs(urlsplit(request.url).query).items()}
        self.asked.append(query)
        self.asked_in_this_call += 1
        assert self.asked_in_this_call <= MAX_REQUESTS
        page, limit = int(query["page"]), int(query["limit"])
        size = min(limit, self.longest)
        rows = self.order(self.rows, page, limit)[(page - 1) * size : page * size]
        said = {"has_more": len(rows) == limit, "limit": limit, "total": len(self.rows), "page": page}
        body = {"data": rows} | said | self.over
        return json_answer({name: value for name, value in body.items() if value != "absent"})

    def page(self, number: int = 1, **wish: Any) -> CatalogPage:
        self.asked_in_this_call = 0
        dify = DifyServer(clock=FakeClock(), allow_test_names=True)
        return asyncio.run(dify.catalog(BASE, CatalogWish(page=number, **wish), credential=KEY, exchange=self))

    def described(self, remote_id: str) -> RemoteEntry:
        self.asked_in_this_call = 0
        dify = DifyServer(clock=FakeClock(), allow_test_names=True)
        return asyncio.run(dify.detail(BASE, remote_id, credential=KEY, exchange=self))


def ids_of(*pages: CatalogPage) -> list[str]:
    return [entry.id for page in pages for entry in page.entries]


@pytest.mark.parametrize("seed", range(12))
def test_130_data_sets_of_one_creation_time_lose_and_repeat_nothing(seed: int) -> None:
    server = Server(data_sets(130), order=anew(seed))
    first, second = server.page(1), server.page(2)
    assert ids_of(first, second) == [f"set-{n:03}" for n in range(130)]
    assert (len(first.entries), first.has_more, first.total, first.is_cut) == (100, True, 130, False)
    assert (len(second.entries), second.has_more, second.total, second.is_cut) == (30, False, 130, False)


def test_130_data_sets_in_one_order_take_two_requests() -> None:
    server = Server(data_sets(130))
    assert len(ids_of(server.page(2))) == 30
    assert server.asked == [{"page": "1", "limit": "100"}, {"page": "2", "limit": "100"}]


def test_a_page_beyond_the_last_is_empty() -> None:
    page = Server(data_sets(130)).page(3)
    assert (page.entries, page.page, page.has_more, page.is_cut) == ((), 3, False, False)


@pytest.mark.parametrize("count", [0, 1, 99, 100, 101, 200, 499, 500])
def test_as_many_as_there_are(count: int) -> None:
    server = Server(data_sets(count))
    pages = [server.page(number) for number in range(1, 7)]
    assert ids_of(*pages) == [f"set-{n:03}" for n in range(count)]
    assert [page.has_more for page in pages] == [count > 100 * number for number in range(1, 7)]
    assert not any(page.is_cut for page in pages)


def test_a_page_is_never_asked_to_be_longer_than_the_server_makes_it() -> None:
    server = Server(data_sets(130), order=anew(1))
    server.page()
    assert len({query["limit"] for query in server.asked}) > 1
    assert max(int(query["limit"]) for query in server.asked) == 100


@pytest.mark.parametrize("has_more", [False, True, None, "absent", "no"])
def test_what_the_server_says_of_more_pages_loses_nothing(has_more: object) -> None:
    server = Server(data_sets(130), over={"has_more": has_more})
    assert len(ids_of(server.page(1), server.page(2))) == 130


@pytest.mark.parametrize("total", [0, 3, 131, 9_999, -1, None, "absent", "130", True])
def test_what_the_server_counts_loses_nothing(total: object) -> None:
    server = Server(data_sets(130), over={"total": total})
    pages = server.page(1), server.page(2)
    assert len(ids_of(*pages)) == 130
    assert not any(page.is_cut for page in pages)
    assert len(server.asked) <= 6


def test_shorter_pages_than_asked_for_lose_nothing() -> None:
    server = Server(data_sets(130), longest=50)
    assert len(ids_of(server.page(1), server.page(2))) == 130


@pytest.mark.parametrize(("total", "requests"), [("absent", 2 * 2), (130, 2 * MAX_READINGS)])
def test_a_server_that_knows_no_pages_is_not_asked_for_ever(total: object, requests: int) -> None:
    """Each reading ends with the page that brings nothing new."""

    def always_the_first(rows: list[dict[str, Any]], page: int, limit: int) -> list[dict[str, Any]]:
        return [{}] * (page - 1) * limit + rows

    server = Server(data_sets(100), order=always_the_first, over={"total": total, "has_more": True})
    page = server.page()
    assert len(page.entries) == 100
    assert page.is_cut
    assert len(server.asked) == requests


def test_short_pages_of_a_server_that_counts_nothing_are_read_while_it_says_that_there_is_more() -> None:
    server = Server(data_sets(130), longest=50, over={"total": "absent", "has_more": True})
    page = server.page()
    assert (len(page.entries), page.has_more, page.total, page.is_cut) == (100, True, None, False)
    assert [query["page"] for query in server.asked] == ["1", "2", "3", "4"]


def test_an_endless_list_of_what_cannot_be_bound_ends() -> None:
    server = Server([{"id": "i" * 129}] * 10_000)
    page = server.page()
    assert (page.entries, page.is_cut) == ((), True)
    assert len(server.asked) == MAX_REQUESTS


def test_a_list_that_always_repeats_and_never_gets_there_ends() -> None:
    server = Server([*data_sets(3), *data_sets(2)])
    page = server.page()
    assert (ids_of(page), page.is_cut) == (["set-000", "set-001", "set-002"], True)
    assert len(server.asked) == MAX_READINGS
    assert all(int(query["limit"]) > 50 for query in server.asked)


def test_of_more_than_500_the_first_500_are_shown_and_it_is_said() -> None:
    server = Server(data_sets(640))
    pages = [server.page(number) for number in range(1, 7)]
    assert ids_of(*pages) == [f"set-{n:03}" for n in range(500)]
    assert [page.has_more for page in pages] == [True, True, True, True, False, False]
    assert all(page.is_cut and page.total == 640 for page in pages)
    assert len(server.asked) == 6 * 6


def test_without_time_for_another_reading_it_is_said_that_something_may_be_missing() -> None:
    server = Server(data_sets(130), order=anew(3), left_ms=[4_999])
    page = server.page()
    assert [query["limit"] for query in server.asked] == ["100", "100"]
    assert 0 < len(page.entries) <= 100
    assert page.is_cut


def test_with_time_for_it_the_list_is_read_again() -> None:
    server = Server(data_sets(130), order=anew(3), left_ms=[5_000])
    assert not server.page().is_cut
    assert len(server.asked) > 2


def test_what_is_never_shown_is_not_found_and_that_is_said() -> None:
    def all_but_one(rows: list[dict[str, Any]], page: int, limit: int) -> list[dict[str, Any]]:
        order = anew(5)(rows[1:], page, limit)
        return [*order, order[0]]

    server = Server(data_sets(130), order=all_but_one)
    page = server.page()
    assert page.is_cut
    assert len({query["limit"] for query in server.asked}) == MAX_READINGS


def test_a_data_set_made_meanwhile_moves_the_others_and_hides_none() -> None:
    """The new one comes first, so the second page begins with the last row of the first."""

    def moving(rows: list[dict[str, Any]], page: int, limit: int) -> list[dict[str, Any]]:
        return rows if page > 1 or len(server.asked) > 2 else [*rows[1:], rows[0]]

    server = Server(data_sets(150), order=moving)
    assert len(ids_of(server.page(1), server.page(2))) == 150


def test_newer_ones_come_first_and_equals_by_id() -> None:
    rows = [{"id": i, "name": i, "created_at": at} for i, at in (("b", 2), ("c", 3), ("a", 2), ("d", 1))]
    assert ids_of(Server(rows).page()) == ["c", "a", "b", "d"]


@pytest.mark.parametrize("created_at", [None, "2026", True])
def test_without_times_the_server_s_order_stays(created_at: Any) -> None:
    rows = [{"id": i, "name": i, "created_at": 1} for i in ("b", "c", "a")]
    rows[1]["created_at"] = created_at
    assert ids_of(Server(rows).page()) == ["b", "c", "a"]


def test_a_search_is_the_server_s_own() -> None:
    server = Server(data_sets(2))
    server.page(search="huts & lamps/山?page=9")
    assert server.asked == [{"page": "1", "limit": "100", "keyword": "huts & lamps/山?page=9"}]


def test_what_colleagues_keep_for_themselves_is_not_listed() -> None:
    server = Server(data_sets(130), order=anew(1))
    server.page()
    assert all("include_all" not in query for query in server.asked)


def test_there_are_no_folders() -> None:
    server = Server(data_sets(2))
    with pytest.raises(Refused) as caught:
        server.page(parent="set-001")
    assert caught.value.code == "not_found"
    assert server.asked == []


def test_a_page_that_fails_fails_the_catalogue() -> None:
    server = Server(data_sets(130), left_ms=[25_000])

    def times_out(rows: list[dict[str, Any]], page: int, limit: int) -> list[dict[str, Any]]:
        if page == 2:
            raise ExchangeTimeout
        return rows

    server.order = times_out
    with pytest.raises(ExchangeTimeout):
        server.page()


def test_before_1_2_a_data_set_is_found_far_down_the_list_with_those_of_colleagues() -> None:
    server = Server(data_sets(1_200))
    assert server.described("SET-734").id == "set-734"
    assert {query["include_all"] for query in server.asked} == {"true"}
