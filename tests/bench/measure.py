"""Interleaved measurements: ours and the baseline take turns in one run, and the medians are compared."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

ROUNDS = 15


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; less is better. `bar` is the highest ratio allowed, or None where a figure is only
    reported. `baseline` is None where there is nothing to compare with. `rounds` is of how many turns the medians are.
    """

    name: str
    ours: float
    baseline: float | None
    unit: str
    bar: float | None
    note: str = ""
    rounds: int | None = None

    @property
    def ratio(self) -> float | None:
        """None where there is no baseline, or where it is nothing at all."""
        return self.ours / self.baseline if self.baseline else None

    @property
    def holds(self) -> bool:
        return self.bar is None or (self.ratio is not None and self.ratio <= self.bar)


@dataclass(frozen=True, slots=True)
class Absent:
    """What could not be measured on this machine, and why: a peer that cannot be installed here."""

    name: str
    why: str


def compared(
    name: str,
    ours: Callable[[], float],
    baseline: Callable[[], float],
    *,
    unit: str,
    bar: float | None,
    note: str = "",
    rounds: int = ROUNDS,
) -> Row:
    """A row of the medians of what both callables return, taken in turns."""
    return Row(name, *interleaved(ours, baseline, rounds=rounds), unit, bar, note, rounds)


def interleaved(
    ours: Callable[[], float], baseline: Callable[[], float], *, rounds: int = ROUNDS
) -> tuple[float, float]:
    """Medians of figures that both callables return, taken in turns so that drift of the machine hits both."""
    mine, base = in_turns(ours, baseline, rounds=rounds)
    return statistics.median(mine), statistics.median(base)


def in_turns(
    ours: Callable[[], float], baseline: Callable[[], float], *, rounds: int
) -> tuple[list[float], list[float]]:
    """All of the figures, each list in its order. Both are called once before, to be warm."""
    ours(), baseline()
    pairs = [(ours(), baseline()) for _ in range(rounds)]
    return [mine for mine, _ in pairs], [base for _, base in pairs]


def percentile(figures: Sequence[float], share: float) -> float:
    """The least figure that so large a share of them does not exceed; of a few figures, soon the greatest."""
    return sorted(figures)[max(0, math.ceil(share * len(figures)) - 1)]


def each_of(times: int, measure: Callable[[Callable[[], object]], float]) -> Callable[[Callable[[], object]], float]:
    """Measures a piece of work several times in one go, and tells what one of them took."""

    def measured(work: Callable[[], object]) -> float:
        return measure(lambda: [work() for _ in range(times)]) / times

    return measured


def wall_ms(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def cpu_ms(work: Callable[[], object]) -> float:
    """CPU time of this process, all threads."""
    started = time.process_time()
    work()
    return (time.process_time() - started) * 1000
