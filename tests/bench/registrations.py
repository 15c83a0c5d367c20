"""Whether a search costs more when many are registered that it does not ask."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.bench.instances import Searching, complete, measured
from tests.bench.measure import Row, compared, cpu_ms, each_of
from tests.bench.world import Gateway, World

FEW, MANY = 10, 200
ASKED = 5


def rows(world: World) -> Iterator[Row]:
    url = world.provider(0)
    few, many = (world.gateway([url] * count) for count in (FEW, MANY))
    yield compared(
        f"search among {MANY} registrations / {FEW}, warm",
        _warm(many),
        _warm(few),
        unit="ms CPU",
        bar=1.10,
        note=f"the same {ASKED} are asked",
    )
    yield compared(
        f"search among {MANY} registrations / {FEW}, first of an instance",
        _first(many),
        _first(few),
        unit="ms CPU",
        bar=None,
        note="all registrations are read once, and again when one changes",
        rounds=9,
    )


def _warm(gateway: Gateway) -> Callable[[], float]:
    ask = Searching(gateway).agent(gateway.ids[:ASKED])
    return measured(ask, complete(providers=ASKED), by=each_of(5, cpu_ms))


def _first(gateway: Gateway) -> Callable[[], float]:
    """Of an instance whose code is loaded and which has asked nobody yet."""

    def figure() -> float:
        ask = Searching(gateway).agent(gateway.ids[:ASKED])
        return measured(ask, complete(providers=ASKED), by=cpu_ms)()

    return figure
