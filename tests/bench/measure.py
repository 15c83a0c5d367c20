"""Interleaved measurements: ours and the baseline take turns in one run, and the medians are compared."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

ROUNDS = 15


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. `bar` is the highest ratio allowed, or None where a figure is only reported."""

    name: str
    ours: float
    baseline: float
    unit: str
    bar: float | None
    note: str = ""

    @property
    def ratio(self) -> float:
        return self.ours / self.baseline

    @property
    def holds(self) -> bool:
        return self.bar is None or self.ratio <= self.bar


def interleaved(
    ours: Callable[[], float], baseline: Callable[[], float], *, rounds: int = ROUNDS
) -> tuple[float, float]:
    """Medians of figures that both callables return, taken in turns so that drift of the machine hits both."""
    ours(), baseline()  # warm both
    pairs = [(ours(), baseline()) for _ in range(rounds)]
    return statistics.median(pair[0] for pair in pairs), statistics.median(pair[1] for pair in pairs)


def wall_ms(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def cpu_ms(work: Callable[[], object]) -> float:
    """CPU time of this process, all threads."""
    started = time.process_time()
    work()
    return (time.process_time() - started) * 1000
