"""What a search takes of memory while it runs: many at once on one loop, which a function on Lambda never has."""

from __future__ import annotations

import asyncio
import contextlib
import io
import tracemalloc
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from shared.adapters.event_loop import ProcessLoop
from shared.domain.agent_searches import AgentSearch
from shared.domain.deadlines import Deadline
from shared.services.search import AgentRequest
from tests.bench.instances import LIMIT, QUERY, RESULTS, Bare, Searching
from tests.bench.measure import Row, compared
from tests.bench.world import Gateway, World

IN_FLIGHT = 10
PROVIDERS = 5
ANSWERED_AFTER_MS = 400  # so long that all are asked before any answers


def rows(world: World) -> Iterator[Row]:
    url = world.provider(ANSWERED_AFTER_MS)
    gateway = world.gateway([url] * PROVIDERS)
    searching, bare = Searching(gateway), Bare(gateway.environment)
    yield compared(
        f"memory of a search in flight, {PROVIDERS} x 10 results",
        _at_its_peak(searching.parts.loop, lambda: _search(searching, gateway)),
        _at_its_peak(bare.loop, lambda: _gather(bare, url)),
        unit="KB",
        bar=None,
        note=f"Python's, at its peak, of {IN_FLIGHT} at once",
        rounds=9,
    )


def _at_its_peak(loop: ProcessLoop, begin: Callable[[], Awaitable[None]]) -> Callable[[], float]:
    """KB of one search: what many take together, beyond what was there before them."""

    async def all_of_them() -> None:
        await asyncio.gather(*(begin() for _ in range(IN_FLIGHT)))

    def figure() -> float:
        with contextlib.redirect_stdout(io.StringIO()):
            tracemalloc.start()
            try:
                before = tracemalloc.get_traced_memory()[0]
                loop.run(all_of_them())
                return (tracemalloc.get_traced_memory()[1] - before) / IN_FLIGHT / 1000
            finally:
                tracemalloc.stop()

    return figure


async def _search(searching: Searching, gateway: Gateway) -> None:
    parts = searching.parts
    request = AgentRequest(
        token=gateway.agent,
        agent_id=None,
        search=AgentSearch(query=QUERY, limit=LIMIT, locale="en"),
        deadline=Deadline.after(12.0, now_s=parts.clock.monotonic()),
        request_id="bench",
    )
    answer: Any = await parts.search(request)
    assert len(answer.results) == min(LIMIT, RESULTS * PROVIDERS), answer


async def _gather(bare: Bare, url: str) -> None:
    assert len(await bare.gather(url, PROVIDERS)) == PROVIDERS
