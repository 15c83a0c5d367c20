"""How far long work is: on a terminal alone, and on standard error, so that no program reads it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from infra.cli.terminal import note, shows_notes, write_over

_EVERY_S: Final = 1.0


class Progress:
    """One line that is written over."""

    def __init__(self) -> None:
        self._told = ""

    def show(self, line: str) -> None:
        write_over(line)

    def tell(self, line: str) -> None:
        """Also where there is no terminal: somebody may wonder why nothing happens."""
        if shows_notes():
            self.show(line)
        elif line != self._told:
            self._told = line
            note(f"kgw: {line}")

    def end(self) -> None:
        write_over("")


@contextmanager
def working(what: str) -> Iterator[None]:
    """Tells for how long `what` has been going on."""
    progress, done, started = Progress(), threading.Event(), time.monotonic()

    def tell() -> None:
        while not done.wait(_EVERY_S):
            progress.show(f"{what} … {time.monotonic() - started:.0f} s")

    teller = threading.Thread(target=tell, daemon=True)
    if shows_notes():
        progress.show(f"{what} …")
        teller.start()
    try:
        yield
    finally:
        done.set()
        if teller.is_alive():
            teller.join()
        progress.end()
