"""One run: its rows as they come, and what is told of it at the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime

from tests.bench.groups import Group, is_wanted
from tests.bench.machine import Machine, installed, this_machine
from tests.bench.measure import Absent, Row


@dataclass(slots=True)
class Part:
    """What one group came to."""

    group: Group
    rows: list[Row] = field(default_factory=list)
    absent: list[Absent] = field(default_factory=list)
    seconds: float = 0.0


@dataclass(slots=True)
class Run:
    machine: Machine = field(default_factory=this_machine)
    packages: dict[str, str] = field(default_factory=installed)
    date: str = field(default_factory=lambda: datetime.now(UTC).strftime("%Y-%m-%d"))
    parts: list[Part] = field(default_factory=list)

    def rows(self) -> list[Row]:
        return [row for part in self.parts for row in part.rows]

    def missed(self) -> list[Row]:
        return [row for row in self.rows() if not row.holds]

    def is_empty(self) -> bool:
        return not any(part.rows or part.absent for part in self.parts)

    def measure(
        self, groups: Sequence[Group], words: Sequence[str], *, tell: Callable[[Group | Row | Absent], None]
    ) -> None:
        """Hands each group to `tell` before it begins, and each of its rows as soon as it is there."""
        for group in groups:
            part = Part(group)
            self.parts.append(part)
            tell(group)
            started_s = time.perf_counter()
            for row in group.rows():
                if is_wanted(group, row, words):
                    part.absent.append(row) if isinstance(row, Absent) else part.rows.append(row)
                    tell(row)
            part.seconds = time.perf_counter() - started_s

    def document(self) -> dict[str, object]:
        """As JSON tells it."""
        return {
            "date": self.date,
            "machine": asdict(self.machine),
            "packages": self.packages,
            "rows": [_row_out(part.group, row) for part in self.parts for row in part.rows],
            "absent": [asdict(each) for part in self.parts for each in part.absent],
            "missed": [row.name for row in self.missed()],
            "seconds": {part.group.name: round(part.seconds, 1) for part in self.parts},
        }


def _row_out(group: Group, row: Row) -> dict[str, object]:
    return {"group": group.name} | asdict(row) | {"ratio": row.ratio, "holds": row.holds}
