"""A call of a function, measured at the wire: what it asks of the store, how many trips follow each other, and what it
takes of time and log.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from tests.bench.counted_function import Answered, Function
from tests.bench.counting_proxy import Spent
from tests.bench.store_world import StoreWorld

Event: TypeAlias = Mapping[str, Any]

_WARM_CALLS: Final = 9
_PAUSE_S: Final = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """`trips` follow each other, the longest way; `trips_before` are those until the first source was asked, all where
    none was. `cpu_ms` is the median of warm calls, or that of a process's first call, its imports included.
    """

    name: str
    function: str
    spent: Spent
    trips: int
    trips_before: int
    cpu_ms: float
    logged_bytes: int
    answer_bytes: int
    asked: int


@dataclass(frozen=True, slots=True)
class _Call:
    answered: Answered
    spent: Spent
    trips_before: int
    asked: int


def first(world: StoreWorld, process: Function, name: str, event: Event) -> Measured:
    """The first call of a process that has not been asked anything, held up at the store to tell trips apart."""
    with world.proxy.held(_PAUSE_S):
        call = _called(world, process, event)
    return _measured(name, process, call, trips=(call.spent.trips(), call.trips_before), cpu_ms=call.answered.cpu_ms)


def warm(
    world: StoreWorld, process: Function, name: str, event: Callable[[], Event], *, calls: int = _WARM_CALLS
) -> Measured:
    """Of several calls: the one with the usual number of calls of the store. Trips are the fewest of some that were
    held up at the store, since on a busy machine what begins together may still arrive one after the other.
    """
    _called(world, process, event())
    made = [_called(world, process, event()) for _ in range(calls)]
    with world.proxy.held(_PAUSE_S):
        held = [_called(world, process, event()) for _ in range(calls // 2)]
    usual = sorted(made, key=lambda call: len(call.spent.calls))[calls // 2]
    trips = min(call.spent.trips() for call in held), min(call.trips_before for call in held)
    cpu_ms = statistics.median(call.answered.cpu_ms for call in made)
    return _measured(name, process, usual, trips=trips, cpu_ms=cpu_ms)


def _called(world: StoreWorld, process: Function, event: Event) -> _Call:
    world.proxy.taken()
    world.sources.asked.clear()
    answered = process.call(event)
    status = answered.answer.get("statusCode", 200)
    assert status in (200, 201), answered.answer
    spent = world.proxy.taken()
    before = spent.before(world.sources.first_asked_s())
    return _Call(answered, spent, before.trips(), len(world.sources.asked))


def _measured(name: str, process: Function, call: _Call, *, trips: tuple[int, int], cpu_ms: float) -> Measured:
    return Measured(
        name=name,
        function=process.name,
        spent=call.spent,
        trips=trips[0],
        trips_before=trips[1],
        cpu_ms=cpu_ms,
        logged_bytes=call.answered.logged_bytes,
        answer_bytes=len(str(call.answered.answer.get("body", "")).encode()),
        asked=call.asked,
    )
