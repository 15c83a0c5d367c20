"""How many warm searches one core gets through: their CPU time, with providers that answer at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tests.bench.instances import Bare, Searching, complete, heard, measured
from tests.bench.measure import Row, compared, cpu_ms, each_of
from tests.bench.world import World

BARS = {1: None, 10: 1.5}
_AT_A_TIME = 5


def rows(world: World) -> Iterator[Row]:
    url = world.provider(0)
    gateway = world.gateway([url] * max(BARS))
    searching, bare = Searching(gateway), Bare(gateway.environment)
    cpu = each_of(_AT_A_TIME, cpu_ms)
    for count, bar in BARS.items():
        row = compared(
            f"search CPU, {count} x 10 results at once",
            measured(searching.agent(gateway.ids[:count]), complete(providers=count), by=cpu),
            measured(bare.gathering(url, count), heard, by=cpu),
            unit="ms CPU",
            bar=bar,
        )
        yield replace(row, note=_a_second(row))


def _a_second(row: Row) -> str:
    bare = 1000 / row.baseline if row.baseline else 0
    return f"throughput {1000 / row.ours:.0f} a second and core; bare {bare:.0f}, without any store read"
