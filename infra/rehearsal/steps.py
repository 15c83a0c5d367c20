"""What the rehearsal says while it goes on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Failed(Exception):
    """A step did not show what it had to show."""


class Steps:
    """Numbers and times each step. `note` adds a line to the step under way."""

    def __init__(self) -> None:
        self._count = 0

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        self._count += 1
        print(f"[{self._count}] {title}", flush=True)
        started = time.monotonic()
        yield
        print(f"      done in {time.monotonic() - started:.1f} s", flush=True)

    def note(self, line: str) -> None:
        print(f"      {line}", flush=True)
