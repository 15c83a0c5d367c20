"""How far long work is: on a terminal alone, and on standard error, so that no program reads it."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from infra.cli.tables import plain

_CLEAR: Final = "\r\x1b[K"
_EVERY_S: Final = 1.0


class Progress:
    """One line that is written over."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()

    def show(self, line: str) -> None:
        self._write(_CLEAR + plain(line))

    def end(self) -> None:
        self._write(_CLEAR)

    def _write(self, text: str) -> None:
        if self._is_terminal:
            print(text, end="", file=sys.stderr, flush=True)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Tells for how long `what` has been going on."""
    progress, done, started = Progress(), threading.Event(), time.monotonic()

    def tell() -> None:
        while not done.wait(_EVERY_S):
            progress.show(f"{what} … {time.monotonic() - started:.0f} s")

    teller = threading.Thread(target=tell, daemon=True)
    if sys.stderr.isatty():
        progress.show(f"{what} …")
        teller.start()
    try:
        yield
    finally:
        done.set()
        if teller.is_alive():
            teller.join()
        progress.end()
