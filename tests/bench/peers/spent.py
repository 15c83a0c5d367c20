"""What a server has taken so far, together with all processes that it has started, as Linux tells it in /proc."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """CPU time includes that of children that have ended. Memory is what is resident; what processes share counts for
    each of them.
    """

    parent: int
    cpu_ms: float
    resident_mb: float


def is_told(proc: Path = PROC) -> bool:
    return (proc / "self" / "stat").exists()


def family(root: int, *, proc: Path = PROC) -> list[Spent]:
    """That of the process itself, then those of all below it."""
    every = dict(_every(proc))
    return [every[pid] for pid in _tree(root, every) if pid in every]


def parsed(stat: str) -> Spent:
    """One line of /proc/PID/stat. The name in brackets may hold anything, brackets and spaces too."""
    fields = stat.rpartition(")")[2].split()
    ticks = sum(int(field) for field in fields[11:15])
    return Spent(
        parent=int(fields[1]),
        cpu_ms=ticks * 1000 / os.sysconf("SC_CLK_TCK"),
        resident_mb=int(fields[21]) * os.sysconf("SC_PAGE_SIZE") / 1e6,
    )


def _every(proc: Path) -> Iterator[tuple[int, Spent]]:
    for entry in proc.iterdir():
        if entry.name.isdecimal():
            try:
                yield int(entry.name), parsed((entry / "stat").read_text(encoding="utf-8", errors="replace"))
            except OSError:  # it has ended meanwhile
                continue


def _tree(root: int, every: Mapping[int, Spent]) -> Iterable[int]:
    found = [root]
    for pid in found:
        found += [child for child, spent in every.items() if spent.parent == pid]
    return found
