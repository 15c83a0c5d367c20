"""Processes of the demo, each of which ends with the command, whatever ends it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_STOP_TIMEOUT_S = 3.0

# Runs a module and ends with its own input: only the command holds the other end of that pipe.
_TETHERED = """
import os, runpy, sys, threading
threading.Thread(target=lambda: (os.read(0, 1), os._exit(0)), daemon=True).start()
runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)
"""


class Tethered:
    """`module` runs with `options`; what it says about itself on standard error goes to `log`."""

    def __init__(self, module: str, options: Sequence[str], *, log: Path) -> None:
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _TETHERED, module, *options],
                cwd=_ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                text=True,
                start_new_session=True,  # Ctrl-C is for the command, which ends its processes itself
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def first_line(self) -> str:
        """Waits for it. Empty when the process has ended without one."""
        assert self._process.stdout is not None  # noqa: S101  # opened above
        return self._process.stdout.readline().strip()

    def ask_to_end(self) -> None:
        self._process.terminate()

    def stop(self) -> None:
        self.ask_to_end()
        try:
            self._process.wait(_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
