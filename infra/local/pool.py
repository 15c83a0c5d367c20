"""The worker processes of one function: started on demand, one invocation at a time each, ended when long idle."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from infra.local import frames

TIMEOUT_S = 29.0
_START_TIMEOUT_S = 60.0
_STOP_TIMEOUT_S = 2.0
_ROOT = Path(__file__).resolve().parents[2]


class FunctionFailed(Exception):
    """The function raised, or its process died: 500 for the caller, and the next request gets a sound process."""


class NeverTaken(Exception):
    """The process had died before this invocation began."""


class FunctionTimedOut(Exception):
    """The function did not answer in time and was killed."""


class Busy(Exception):
    """Every process was busy for too long."""


class Worker:
    """One process. Not shared: whoever took it from the pool has it alone."""

    def __init__(self, module: str, *, environment: Mapping[str, str], log: Path) -> None:
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "infra.local.worker", module],
                cwd=_ROOT,
                env=dict(environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                bufsize=0,
                start_new_session=True,  # Ctrl-C is for the runtime, which ends its workers itself
            )
        self.idle_since = 0.0

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def await_ready(self) -> None:
        """Raises `FunctionFailed` when the function cannot be imported."""
        try:
            self._read(_START_TIMEOUT_S)
        except (frames.Ended, frames.TookTooLong):
            self.kill()
            raise FunctionFailed from None

    def invoke(self, event: Mapping[str, Any], *, request_id: str, timeout_s: float) -> object:
        """What the handler returned.

        Raises `FunctionFailed`, `FunctionTimedOut`, `NeverTaken`; the process may be gone then.
        """
        message = frames.encoded({"event": event, "requestId": request_id, "timeoutS": timeout_s})
        try:
            self._begin(message, timeout_s)
            reply = self._read(timeout_s)
        except frames.TookTooLong:
            self.kill()
            raise FunctionTimedOut from None
        except (frames.Ended, OSError):
            self.kill()
            raise FunctionFailed from None
        if "error" in reply:
            raise FunctionFailed
        return reply["answer"]

    def _begin(self, message: bytes, timeout_s: float) -> None:
        try:
            self._write(message)
            self._read(timeout_s)
        except (frames.Ended, OSError):
            self.kill()
            raise NeverTaken from None

    def _write(self, message: bytes) -> None:
        assert self._process.stdin is not None  # noqa: S101  # opened above
        data = memoryview(message)
        while data:
            data = data[self._process.stdin.write(data) or 0 :]

    def _read(self, timeout_s: float) -> dict[str, Any]:
        assert self._process.stdout is not None  # noqa: S101  # opened above
        return frames.read(self._process.stdout.fileno(), timeout_s=timeout_s)

    def stop(self) -> None:
        """Closes its input, which ends it; kills it when it does not end."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._process.wait(_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """For whoever has taken it: nobody else may be reading from it."""
        self._process.kill()
        self.stop()

    def end(self) -> None:
        """Ends the process also while somebody waits for its answer, who then gets `FunctionFailed`."""
        self._process.kill()
        self._process.wait()


class Pool:
    """All processes of one function, whose `module` has a `handler`. `invoke` may be called from many threads."""

    def __init__(
        self, module: str, *, environment: Mapping[str, str], log: Path, cap: int = 8, timeout_s: float = TIMEOUT_S
    ) -> None:
        self._module = module
        self._environment = dict(environment)
        self._log = log
        self._cap = cap
        self._timeout_s = timeout_s
        self._changed = threading.Condition()
        self._idle: list[Worker] = []
        self._every: set[Worker] = set()
        self._starting = 0
        self._waiting = 0
        self._failed_starts = 0
        self._closed = False

    def warm_up(self) -> None:
        """Begins to start one process, without waiting for it."""
        with self._changed:
            self._start_one()

    def pids(self) -> tuple[int, ...]:
        """The processes that are there now, busy or idle."""
        with self._changed:
            return tuple(worker.pid for worker in self._every)

    def invoke(self, event: Mapping[str, Any], *, request_id: str) -> object:
        """Raises `FunctionFailed`, `FunctionTimedOut`, `Busy`."""
        for _ in range(self._cap + 1):
            worker = self._take()
            try:
                return worker.invoke(event, request_id=request_id, timeout_s=self._timeout_s)
            except NeverTaken:  # it died while it was idle; that costs nobody a request
                continue
            finally:
                self._give_back(worker)
        raise FunctionFailed

    def end_idle(self, *, longer_than_s: float) -> None:
        """Ends processes that have been idle for longer."""
        before = time.monotonic() - longer_than_s
        with self._changed:
            old = [worker for worker in self._idle if worker.idle_since <= before]
            self._idle = [worker for worker in self._idle if worker not in old]
            self._every.difference_update(old)
        for worker in old:
            worker.stop()

    def close(self) -> None:
        """Ends every process, also the busy ones."""
        with self._changed:
            self._closed = True
            every, self._every, self._idle = self._every, set(), []
            self._changed.notify_all()
        for worker in every:
            worker.end()

    def _take(self) -> Worker:
        """An idle process; where there is none, the first that becomes free or ready."""
        until = time.monotonic() + self._timeout_s
        with self._changed:
            self._waiting += 1
            try:
                return self._await_idle(until)
            finally:
                self._waiting -= 1

    def _await_idle(self, until: float) -> Worker:
        failures = self._failed_starts
        while True:
            if self._closed or self._failed_starts != failures:
                raise FunctionFailed
            if worker := self._sound_idle():
                return worker
            if self._starting < self._waiting:
                self._start_one()
            if not self._changed.wait(until - time.monotonic()):
                raise Busy

    def _sound_idle(self) -> Worker | None:
        while self._idle:
            worker = self._idle.pop()
            if worker.is_alive:
                return worker
            self._every.discard(worker)
        return None

    def _give_back(self, worker: Worker) -> None:
        with self._changed:
            if not worker.is_alive:
                self._every.discard(worker)
                self._changed.notify()
            elif worker in self._every:
                worker.idle_since = time.monotonic()
                self._idle.append(worker)
                self._changed.notify()

    def _start_one(self) -> None:
        """Starts a process beside the waiting request, unless the cap is reached. Called with the lock held."""
        if len(self._every) + self._starting < self._cap and not self._closed:
            self._starting += 1
            threading.Thread(target=self._start, daemon=True).start()

    def _start(self) -> None:
        worker = self._started()
        with self._changed:
            self._starting -= 1
            too_late = self._closed
            if worker is None:
                self._failed_starts += 1
            elif not too_late:
                worker.idle_since = time.monotonic()
                self._every.add(worker)
                self._idle.append(worker)
            self._changed.notify_all()
        if worker is not None and too_late:
            worker.end()

    def _started(self) -> Worker | None:
        try:
            worker = Worker(self._module, environment=self._environment, log=self._log)
            worker.await_ready()
        except (FunctionFailed, OSError):
            return None
        return worker
