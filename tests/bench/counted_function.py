"""One function in a process of its own, as it is deployed: what its calls take, and how much it writes into its log.

`python -m tests.bench.counted_function NAME FD` imports the function's handler, calls it with each event, a line of
JSON on standard input, and writes a line to the descriptor for each: {"answer": ..., "cpu_ms": ...}. The time is that
of all threads; of the first event it includes the import.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_TIMEOUT_MS = 60_000


@dataclass(frozen=True, slots=True)
class Context:
    """What of an invocation's context the functions read."""

    aws_request_id: str = field(default_factory=lambda: str(uuid.uuid4()))

    def get_remaining_time_in_millis(self) -> int:
        return _TIMEOUT_MS


@dataclass(frozen=True, slots=True)
class Answered:
    answer: dict[str, Any]
    cpu_ms: float
    logged_bytes: int

    @property
    def document(self) -> dict[str, Any]:
        read: dict[str, Any] = json.loads(self.answer["body"])
        return read


class Function:
    def __init__(self, name: str, process: subprocess.Popen[str], answers: Any, log: Path) -> None:
        self.name = name
        self._process = process
        self._answers = answers
        self._log = log

    def call(self, event: Mapping[str, Any]) -> Answered:
        assert self._process.stdin is not None
        logged = self._log.stat().st_size
        self._process.stdin.write(json.dumps(event) + "\n")
        self._process.stdin.flush()
        line = self._answers.readline()
        assert line, f"{self.name} has ended: {self._log.read_text()[-2_000:]}"
        told = json.loads(line)
        return Answered(told["answer"], told["cpu_ms"], self._log.stat().st_size - logged)


@contextmanager
def a_function(name: str, environment: Mapping[str, str], *, at: Path) -> Iterator[Function]:
    """Starts its process; the handler is imported when the first event comes. Its log lies in the directory `at`."""
    reading, writing = os.pipe()
    log = at / f"{name}-{uuid.uuid4().hex}.log"
    with (
        log.open("wb") as out,
        subprocess.Popen(
            [sys.executable, "-u", "-m", "tests.bench.counted_function", name, str(writing)],
            stdin=subprocess.PIPE,
            stdout=out,
            pass_fds=(writing,),
            env={**os.environ, **environment},
            text=True,
        ) as process,
        os.fdopen(reading, encoding="utf-8") as answers,
    ):
        os.close(writing)
        try:
            yield Function(name, process, answers, log)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(timeout=20)


def main(name: str, descriptor: int) -> None:
    handler: Any = None
    with os.fdopen(descriptor, "w", encoding="utf-8") as answers:
        for line in sys.stdin:
            started = time.process_time()
            if handler is None:
                handler = importlib.import_module(f"functions.{name}.handler").handler
            answer = handler(json.loads(line), Context())
            cpu_ms = (time.process_time() - started) * 1_000
            answers.write(json.dumps({"answer": answer, "cpu_ms": cpu_ms}) + "\n")
            answers.flush()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
