"""Ends a server, and all that it started, once the process that holds the other end of its input is gone."""

from __future__ import annotations

import os
import signal
import threading


def leave_with_parent() -> None:
    """The server leads a process group of its own, which ends with it."""
    threading.Thread(target=_wait, daemon=True).start()


def _wait() -> None:
    while os.read(0, 1):  # not by sys.stdin: its lock would be held in each process that the server forks, for ever
        pass
    os.killpg(0, signal.SIGKILL)
