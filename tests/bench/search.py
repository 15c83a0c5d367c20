"""The time of whole searches beside a bare httpx gather of the same calls and one store round trip, in one process; and
beside the calls on sockets alone, which is the limit.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from tests.bench.instances import Ask, Bare, Searching, complete, heard, measured
from tests.bench.measure import Row, in_turns, percentile, wall_ms
from tests.bench.sockets import Sockets
from tests.bench.world import World

COUNTS = (1, 5, 10, 20)
# Milliseconds after which providers answer, and how many searches each figure is of: some seconds for each delay.
ROUNDS = {50: 100, 5: 100, 200: 12}
BAR, BAR_AT_MS = 1.10, 50
_ROUNDS_TO_LIMIT = 30
# What a search does besides grows with its providers. What was measured and about a sixth.
_TO_LIMIT = {1: 1.25, 5: 1.3, 10: 1.4, 20: 1.6}


def rows(world: World) -> Iterator[Row]:
    for delay_ms, rounds in ROUNDS.items():
        url = world.provider(delay_ms)
        gateway = world.gateway([url] * max(COUNTS))
        searching, bare = Searching(gateway), Bare(gateway.environment)
        for count in COUNTS:
            ours = searching.agent(gateway.ids[:count])
            mine, base = in_turns(
                measured(ours, complete(providers=count), by=wall_ms),
                measured(bare.gathering(url, count, with_store=True), heard, by=wall_ms),
                rounds=rounds,
            )
            if delay_ms == BAR_AT_MS:
                yield _whole(count, mine, base)
            yield _added(count, delay_ms, mine, base)
            if delay_ms == BAR_AT_MS:
                yield _to_limit(count, ours, Sockets(url, gateway.environment))


def _whole(count: int, mine: Sequence[float], base: Sequence[float]) -> Row:
    ours, baseline = statistics.median(mine), statistics.median(base)
    note = f"{ours / BAR_AT_MS:.2f} x the 50 ms themselves; bare {baseline / BAR_AT_MS:.2f} x"
    return Row(f"search, {_providers(count)} at 50 ms", ours, baseline, "ms", BAR, note, len(mine))


def _to_limit(count: int, ask: Ask, sockets: Sockets) -> Row:
    """Of the bare gather httpx is a part, and with many providers most of what is beyond the providers' own time."""
    mine, limit = in_turns(
        measured(ask, complete(providers=count), by=wall_ms),
        measured(sockets.asking(count), heard, by=wall_ms),
        rounds=_ROUNDS_TO_LIMIT,
    )
    ours, baseline = statistics.median(mine), statistics.median(limit)
    note = f"the limit: one read of the store, then the calls and their JSON; {ours - baseline:.1f} ms beyond it"
    name = f"search, {_providers(count)} at 50 ms / sockets alone"
    return Row(name, ours, baseline, "ms", _TO_LIMIT[count], note, _ROUNDS_TO_LIMIT)


def _added(count: int, delay_ms: int, mine: Sequence[float], base: Sequence[float]) -> Row:
    """Beyond the time that the slowest of them takes, which is that of each."""
    shares = [(percentile(mine, share) - delay_ms, percentile(base, share) - delay_ms) for share in (0.5, 0.95, 0.99)]
    (ours, baseline), p95, p99 = shares
    note = f"p95 {p95[0]:.1f}, bare {p95[1]:.1f}; p99 {p99[0]:.1f}, bare {p99[1]:.1f}; {len(mine)} searches"
    name = f"time beyond the slowest of {_providers(count)} at {delay_ms} ms, p50"
    return Row(name, ours, baseline, "ms", None, note, len(mine))


def _providers(count: int) -> str:
    return "1 provider" if count == 1 else f"{count} providers"
