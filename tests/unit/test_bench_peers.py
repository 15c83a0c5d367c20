"""The comparison with other ways to ask many sources: what is read of the system, and what is made of it. Nothing here
measures anything, and no peer is started.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from tests.bench.measure import Absent, Row
from tests.bench.peers import comparison
from tests.bench.peers.comparison import Figures, Heard, rows_of
from tests.bench.peers.contenders import Contender, ours, peers, versions
from tests.bench.peers.running import DidNotStart, running
from tests.bench.peers.spent import family, is_told, parsed
from tests.bench.world import Gateway

TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")
PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 1e6
NAMES = ["prv_a", "prv_b"]


def a_stat(
    pid: int, parent: int, *, name: str = "python", ticks: tuple[int, ...] = (0, 0, 0, 0), pages: int = 0
) -> str:
    counted = " ".join(map(str, ticks))
    return (
        f"{pid} ({name}) S {parent} 1 1 0 -1 4194304 9 8 7 6 {counted} 20 0 1 0 55 1000 {pages} 18446744073709551615\n"
    )


def a_peer(**given: Any) -> Contender:
    settings = {"name": "a peer", "command": (), "environment": {}, "posts": lambda names: [], "heard": len}
    return Contender(**{**settings, "packages": ("httpx",), **given})


def figures(*, ms: float, providers: int = 9, lacking: int = 0) -> Figures:
    heard = {count: [Heard(ms, count), Heard(ms + 1, count), Heard(ms + 9, count)] for count in (1, 5, 10)}
    return Figures(
        heard=heard,
        hanging=[Heard(1000 + ms, providers), Heard(1001 + ms, 9)],
        lacking=lacking,
        cpu_ms=ms / 5,
        first_cpu_ms=0.9,
        resident_mb=80.0,
        first_resident_mb=23.0,
        processes=2,
    )


# --- what the system tells ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["python", "a b", "x) S 9 (y"])
def test_a_line_of_stat_is_read_whatever_the_process_is_called(name: str) -> None:
    spent = parsed(a_stat(5, 3, name=name, ticks=(10, 2, 5, 1), pages=1000))
    assert spent.parent == 3
    assert spent.cpu_ms == pytest.approx(18 * TICK_MS)
    assert spent.resident_mb == pytest.approx(1000 * PAGE_MB)


def test_a_family_is_a_process_and_all_below_it_and_nobody_else(tmp_path: Path) -> None:
    for pid, parent in ((10, 1), (11, 10), (12, 11), (20, 1), (13, 10)):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "stat").write_text(a_stat(pid, parent, pages=pid), encoding="utf-8")
    (tmp_path / "14").mkdir()  # has ended between two looks
    (tmp_path / "meminfo").write_text("", encoding="utf-8")

    told = [round(each.resident_mb / PAGE_MB) for each in family(10, proc=tmp_path)]

    assert told[0] == 10
    assert sorted(told) == [10, 11, 12, 13]
    assert family(99, proc=tmp_path) == []


def test_a_system_may_not_tell(tmp_path: Path) -> None:
    assert not is_told(tmp_path)


# --- rows ---------------------------------------------------------------------------------------------


def test_a_peer_has_a_row_for_each_thing_measured_and_no_bars() -> None:
    rows = list(rows_of(a_peer(), figures(ms=60.0), figures(ms=50.0)))
    assert [row.name for row in rows] == [
        "search, 1 provider at 50 ms / a peer",
        "search, 5 providers at 50 ms / a peer",
        "search, 10 providers at 50 ms / a peer",
        "CPU of a search, 10 x 10 at once / a peer",
        "one of ten hangs: the whole answer / a peer",
        "memory of the server / a peer",
    ]
    assert all(row.bar is None and row.holds for row in rows)
    assert (rows[0].ours, rows[0].baseline, rows[0].note) == (61.0, 51.0, "p50; p95 69.0, 59.0 of 3")
    assert (rows[3].ours, rows[3].baseline) == (12.0, 10.0)
    assert rows[3].note.startswith("of ours, 0.9 is the front")


def test_results_that_a_hanging_provider_costs_are_told() -> None:
    rows = list(rows_of(a_peer(), figures(ms=60.0), figures(ms=50.0, providers=0)))
    assert rows[4].note == "given 1000 ms; results of 9 of ten, 0 of ten"


def test_searches_of_a_peer_that_lacked_results_are_told() -> None:
    row: Row = next(rows_of(a_peer(about="; as it is"), figures(ms=60.0), figures(ms=50.0, lacking=3)))
    assert row.note.endswith("; as it is; 3 of its searches lacked results")


def test_without_their_environment_one_line_says_so_and_nothing_is_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "_INSTALLED", tmp_path / "nowhere")
    rows = list(comparison.rows(cast("Any", None)))
    assert [type(row) for row in rows] == [Absent]
    assert "make bench" in cast("Absent", rows[0]).why


def test_versions_are_those_of_the_lock(tmp_path: Path) -> None:
    lock = tmp_path / "peers.lock"
    lock.write_text("httpx==0.28.1 \\\n    --hash=x\nuvloop==0.23.0 ; sys_platform != 'win32' \\\n", encoding="utf-8")
    assert versions(("uvloop", "httpx"), lock=lock) == "uvloop 0.23.0, httpx 0.28.1"


def test_every_peer_s_packages_are_locked() -> None:
    for peer in peers({}):
        assert versions(peer.packages)


# --- asking -------------------------------------------------------------------------------------------


def test_a_search_is_one_request_except_where_a_peer_takes_one_a_provider() -> None:
    assert [len(peer.posts(NAMES)) for peer in peers({})] == [1, 1, 2]


def test_of_an_answer_those_with_results_are_counted() -> None:
    gathering, threads, litellm = peers({})
    for peer in (gathering, threads):
        assert peer.heard([{"results": [], "asked": 10, "failed": ["prv_a"]}]) == 9
    assert litellm.heard([{"results": [{}]}, {"error": {"message": "Timeout"}}]) == 1


def test_our_function_gets_its_own_environment_and_no_other() -> None:
    store = {name: name.lower() for name in _stored()}
    gateway = Gateway(
        environment=store | {"AWS_REGION": "x", "OTHER": "y"}, ids=("prv_a",), agent="a", assistant="b", widget="c"
    )
    contender = ours(gateway)
    function = json.loads(contender.environment["PEER_FUNCTION"])
    assert function["AWS_REGION"] == "x"
    assert "OTHER" not in function
    assert contender.heard([{"providers": [{"resultCount": 10}, {"resultCount": 0}]}]) == 1


def _stored() -> list[str]:
    from infra.functions import FUNCTIONS, KEY_VARIABLES, ROOT_SECRET_VARIABLE
    from infra.pools import POOL_VARIABLES

    tables = [table.variable for each in FUNCTIONS for table in each.tables]
    return [*tables, *KEY_VARIABLES.values(), ROOT_SECRET_VARIABLE, *POOL_VARIABLES.values()]


def test_a_server_that_ends_when_it_starts_is_told_with_its_code() -> None:
    peer = a_peer(command=(sys.executable, "-c", "import sys; sys.exit(3)"), heard=lambda answers: 0)

    async def wait() -> None:
        with running(peer) as server:
            await server.until_ready("prv_a")

    with pytest.raises(DidNotStart, match="ended with 3"):
        asyncio.run(wait())
