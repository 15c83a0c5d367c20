"""Servers in processes of their own, so that what they cost is not counted as the client's."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def a_server(module: str, *arguments: str) -> Iterator[str]:
    """Runs `python -m module`, which prints its port and serves until its input closes; yields its base URL.

    Control-C at the terminal is for this process alone, and ends its servers with it.
    """
    with subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.stdin.close()
            process.wait(timeout=5)
