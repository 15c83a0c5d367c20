"""Starts the embedded AWS backend (ministack) as a process of its own, and makes sure that it ends.

The backend pins its own AWS libraries, so it lives in its own environment: `.venv/emulator`, or the interpreter that
`KG_EMULATOR_PYTHON` names. It listens on loopback alone.
"""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

HOST = "127.0.0.1"
REGION = "us-east-1"
ACCOUNT = "000000000000"
ACCESS_KEY = "test"
SECRET_KEY = "test"

_ROOT = Path(__file__).resolve().parents[2]
_START_TIMEOUT_S = 60.0
_STOP_TIMEOUT_S = 10.0
_ATTEMPTS = 5
_INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "SSL_CERT_FILE")

# The child holds the read end of a pipe whose other end only this process holds: when this process ends, in whatever
# way, the child sees the end of its input and ends too.
_CHILD = """
import os, signal, sys, threading, time
def leave_with_parent():
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(5)
    os._exit(0)
threading.Thread(target=leave_with_parent, daemon=True).start()
sys.executable = os.environ.pop("KG_FUNCTIONS_PYTHON", sys.executable)  # what the backend runs deployed functions with
from ministack.app import main
main()
"""


class EmulatorMissing(RuntimeError):
    """There is no interpreter with the backend in it."""


class EmulatorFailed(RuntimeError):
    """The backend did not start."""


class Emulator:
    """A running backend. `endpoint_url` is where it answers; `stop` ends it and may be called twice."""

    def __init__(self, *, endpoint_url: str, process: subprocess.Popen[bytes], directory: Path) -> None:
        self.endpoint_url = endpoint_url
        self.process = process
        self._directory = directory
        atexit.register(self.stop)

    @property
    def log(self) -> str:
        """What the backend has printed so far."""
        log = self._directory / "log"
        return log.read_text(errors="replace") if log.exists() else ""

    def stop(self) -> None:
        """Asks it to end, so that a persisted state is written; kills it when it does not."""
        atexit.unregister(self.stop)
        _end(self.process)
        shutil.rmtree(self._directory, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()


def start_emulator(
    *,
    port: int = 0,
    state_dir: Path | None = None,
    auth: bool = False,
    environment: Mapping[str, str] | None = None,
    functions_python: Path | None = None,
) -> Emulator:
    """Starts a backend and waits until it answers. Port 0 takes a free one.

    `state_dir` keeps its data from one run to the next; `auth` has it enforce IAM; `environment` adds settings;
    `functions_python` runs what is deployed to it as a Lambda function (the backend's own Python by default).
    Raises `EmulatorMissing`, `EmulatorFailed`.
    """
    python = emulator_python()
    settings = _settings(state_dir, auth, environment or {})
    if functions_python is not None:
        settings["KG_FUNCTIONS_PYTHON"] = str(functions_python)
    for _ in range(1 if port else _ATTEMPTS):
        emulator = _launch(python, port=port or _free_port(), settings=settings)
        if _answers(emulator):
            return emulator
        said = emulator.log[-2000:]
        emulator.stop()
    raise EmulatorFailed(f"The embedded AWS backend did not start. It said:\n{said}")


def emulator_python() -> Path:
    """The interpreter that has the backend. Raises `EmulatorMissing`."""
    named = os.environ.get("KG_EMULATOR_PYTHON")
    python = Path(named) if named else _ROOT / ".venv" / "emulator" / "bin" / "python"
    if not python.exists():
        raise EmulatorMissing(
            f"There is no {python}. Run `make up` or `make test`, which install the embedded AWS backend, "
            "or set KG_EMULATOR_PYTHON to an interpreter that has it."
        )
    return python


def _settings(state_dir: Path | None, auth: bool, extra: Mapping[str, str]) -> dict[str, str]:  # noqa: FBT001  # a value
    settings = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    settings |= {
        "BIND_HOST": HOST,
        "SFTP_ENABLED": "0",
        "IOT_MTLS_ENABLED": "0",
        "AUTH": "true" if auth else "false",
        "LOG_LEVEL": "WARNING",
        "MINISTACK_REGION": REGION,
        "MINISTACK_ACCOUNT_ID": ACCOUNT,
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        "PYTHONUNBUFFERED": "1",
    }
    if state_dir is not None:
        state_dir.mkdir(parents=True, exist_ok=True)
        settings |= {"PERSIST_STATE": "1", "STATE_DIR": str(state_dir)}
    return settings | dict(extra)


def _launch(python: Path, *, port: int, settings: dict[str, str]) -> Emulator:
    directory = Path(tempfile.mkdtemp(prefix="kg-emulator-"))
    own = {"GATEWAY_PORT": str(port), "TMPDIR": str(directory), "S3_DATA_DIR": str(directory / "s3")}
    with (directory / "log").open("wb") as log:
        process = subprocess.Popen(
            [str(python), "-c", _CHILD],
            env=own | settings,
            cwd=directory,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C reaches this process, which then ends its child in good order
        )
    return Emulator(endpoint_url=f"http://{HOST}:{port}", process=process, directory=directory)


def _answers(emulator: Emulator) -> bool:
    """Waits until the backend answers. False when it ended, as it does when its port was taken meanwhile."""
    until = time.monotonic() + _START_TIMEOUT_S
    while time.monotonic() < until and emulator.process.poll() is None:
        if _is_healthy(emulator.endpoint_url):
            return emulator.process.poll() is None
        time.sleep(0.05)
    return False


def _is_healthy(endpoint_url: str) -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{endpoint_url}/_ministack/health", timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if process.stdin is not None and not process.stdin.closed:
        process.stdin.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port
