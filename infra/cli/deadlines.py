"""Work that is over in time whatever it waits for: a name that is looked up, a handshake, an answer that drips."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def within(limit_s: float, work: Callable[[], T]) -> T:
    """What `work` gives or raises. Raises `TimeoutError` when that takes too long: then nobody waits for it any more,
    and it ends with the command. Ctrl-C ends the waiting too.
    """
    found: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:  # noqa: BLE001  # raised again where it is waited for
            failed.append(error)

    worker = threading.Thread(target=run, daemon=True)
    worker.start()
    worker.join(limit_s)
    if worker.is_alive():
        raise TimeoutError
    if failed:
        raise failed[0]
    return found[0]
