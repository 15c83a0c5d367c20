"""What one bad provider among ten costs a search: one that never answers, one that dribbles, one that has failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from tests.bench.instances import RESULTS, Ask, Searching, complete, found, measured
from tests.bench.measure import Row, compared, cpu_ms, each_of, in_turns, percentile, wall_ms
from tests.bench.world import World

DEADLINE_MS = 500
BAR_MS = 50.0  # past the deadline
_ROUNDS = 9
_WELL = 9


def rows(world: World) -> Iterator[Row]:
    well = world.provider(0)
    bad = [world.provider(0, "hangs"), world.provider(20, "dribbles"), world.provider(0, "fails")]
    gateway = world.gateway([*[well] * (_WELL + 1), *bad])
    searching, nine = Searching(gateway), gateway.ids[:_WELL]
    hangs, dribbles, fails = gateway.ids[_WELL + 1 :]
    all_well = searching.agent(gateway.ids[: _WELL + 1], deadlineMs=DEADLINE_MS)
    for manner, bad_id in (("hangs", hangs), ("dribbles", dribbles)):
        yield from _until_the_deadline(manner, searching.agent([*nine, bad_id], deadlineMs=DEADLINE_MS), all_well)
    yield _left_alone(searching.agent([*nine, fails]), searching.agent(nine))


def _until_the_deadline(manner: str, ask: Ask, all_well: Ask) -> Iterator[Row]:
    """The time it takes and its CPU time are of the same searches."""
    walls: list[float] = []

    def cpu(work: Ask) -> float:
        costs: list[float] = []
        walls.append(wall_ms(lambda: costs.append(cpu_ms(work))))
        return costs[0]

    mine, base = in_turns(
        measured(ask, _partial("timeout"), by=cpu),
        measured(all_well, complete(providers=_WELL + 1), by=cpu_ms),
        rounds=_ROUNDS,
    )
    late = [wall - DEADLINE_MS for wall in walls[1:]]
    # The promise is of every search, and not of the usual one.
    note = f"the worst; median {percentile(late, 0.5):.1f} ms; baseline: the bar. Partial, with all that the nine found"
    yield Row(f"one of ten {manner}: end past the deadline", max(late), BAR_MS, "ms", 1.0, note, _ROUNDS)
    note = "baseline: the same with ten that are well"
    yield Row(f"one of ten {manner}: CPU", percentile(mine, 0.5), percentile(base, 0.5), "ms CPU", None, note, _ROUNDS)


def _left_alone(ask: Ask, nine: Ask) -> Row:
    """After three failures its circuit is open, and searches go on without it."""
    for _ in range(3):
        _partial("upstream_error")(ask())
    cpu = each_of(5, cpu_ms)
    return compared(
        "one of ten has failed, its circuit open: CPU",
        measured(ask, _partial("circuit_open"), by=cpu),
        measured(nine, complete(providers=_WELL), by=cpu),
        unit="ms CPU",
        bar=None,
        note="baseline: the other nine alone",
    )


def _partial(code: str) -> Any:
    """Checks that nine gave all of their results and one none, for this reason."""

    def check(answer: Any) -> None:
        document = found(answer)
        assert document["status"] == "partial", document
        outcomes = Counter((each["errorCode"], each["resultCount"]) for each in document["providers"])
        assert outcomes == {(None, RESULTS): _WELL, (code, 0): 1}, outcomes

    return check
