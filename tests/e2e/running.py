"""Runs `kgw up` as a person would, and calls what it serves as its callers would."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[2]
SEARCH = "/api/v1/knowledge/search"
WIDGET_SEARCH = "/api/v1/knowledge/widget/search"
PROVIDERS = "/api/v1/knowledge/providers"
CREDENTIALS = "/api/v1/credentials"
COLLECTIONS = "/api/v1/collections"
_START_TIMEOUT_S = 90.0
_STOP_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    data: bytes
    took_s: float

    @property
    def json(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self.data)
        return value

    @property
    def found(self) -> dict[str, Any]:
        """The content of an answer that has to be a success."""
        assert self.status < 300, (self.status, self.data)
        return self.json


def call(url: str, method: str, path: str, body: Any = None, *, token: str = "", **headers: str) -> Answer:
    """One request on a connection of its own. Header names are written with underscores."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    if token:
        sent["Authorization"] = f"Bearer {token}"
    if body is not None:
        sent.setdefault("Content-Type", "application/json")
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    started = time.perf_counter()
    try:
        connection.request(method, path, None if body is None else json.dumps(body).encode(), sent)
        response = connection.getresponse()
        data = response.read()
        took_s = time.perf_counter() - started
        return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, data, took_s)
    finally:
        connection.close()


@dataclass
class Gateway:
    """A running `kgw up`. `local` is what it wrote into `.kgw/local.json`."""

    process: subprocess.Popen[str]
    directory: Path
    local: dict[str, Any] = field(repr=False)  # tokens have no business in a report
    admin: str = field(default="", repr=False)

    @property
    def url(self) -> str:
        return str(self.local["url"])

    @property
    def website(self) -> str:
        """The origin of the demo's website."""
        return str(self.local["website"])

    @property
    def console(self) -> str:
        return str(self.local["console"])

    def as_admin(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """As an admin whose rate no test exceeds."""
        if not self.admin:
            wanted = {"class": "adm", "name": "Tests", "ratePerMinute": 100_000}
            self.admin = call(self.url, "POST", CREDENTIALS, wanted, token=self.local["admin"]).found["token"]
        return call(self.url, method, path, body, token=self.admin, **headers)

    def credential(self, **wanted: Any) -> str:
        """The token of a new credential."""
        answer = self.as_admin("POST", CREDENTIALS, {"name": "Tests", **wanted})
        assert answer.status == 201, answer.data
        return str(answer.json["token"])

    def provider(self, name: str, base_url: str, *, exposure: str = "agent_only", activate: bool = True) -> str:
        """The id of a new provider; to be switched on it has to answer a test."""
        made = self.as_admin("POST", PROVIDERS, {"name": name, "exposureProfile": exposure, "baseUrl": base_url})
        assert made.status == 201, made.data
        path = f"{PROVIDERS}/{made.json['id']}"
        if activate:
            report = self.as_admin("POST", f"{path}/test", {"query": "ferry", "activate": True})
            assert report.found["activated"], report.data
        return str(made.json["id"])

    def remove_provider(self, provider_id: str) -> None:
        path = f"{PROVIDERS}/{provider_id}"
        etag = self.as_admin("GET", path).headers["etag"]
        assert self.as_admin("DELETE", path, If_Match=etag).status == 204

    def put_back(self, provider_id: str) -> None:
        """Off and on again: whatever its circuits hold against it is forgotten."""
        path = f"{PROVIDERS}/{provider_id}"
        for status in ("disabled", "active"):
            etag = self.as_admin("GET", path).headers["etag"]
            assert self.as_admin("PATCH", path, {"status": status}, If_Match=etag).found["status"] == status

    def search(self, caller: str = "agent", **body: Any) -> Answer:
        token = self.local.get(caller, caller)
        if caller == "widget":
            return call(self.url, "POST", WIDGET_SEARCH, body, token=token, Origin=self.local["origin"])
        return call(self.url, "POST", SEARCH, body, token=token)

    def outcomes(self, **body: Any) -> dict[str, dict[str, Any]]:
        """The outcomes of an agent's search, by provider name."""
        answer = self.search("agent", **body)
        assert answer.status == 200, answer.data
        return {outcome["name"]: outcome for outcome in answer.json["providers"]}

    def pids(self) -> list[int]:
        """The command and every process below it."""
        return [self.process.pid, *descendants(self.process.pid)]

    def workers(self, function: str) -> list[int]:
        return [pid for pid in self.pids() if f"functions.{function}.handler" in command_of(pid)]

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(_STOP_TIMEOUT_S)


def start(directory: Path, *options: str, **environment: str) -> subprocess.Popen[str]:
    """Begins to run `kgw up` in `directory`, on a free port unless the options name one."""
    command = [sys.executable, "-m", "infra.cli.main", "up", *options]
    if "--port" not in options:
        command += ["--port", "0"]
    return subprocess.Popen(
        command,
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        stdout=(directory / "stdout").open("w"),
        stderr=(directory / "stderr").open("w"),
        text=True,
    )


def kgw(directory: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs another `kgw` to its end."""
    return subprocess.run(
        [sys.executable, "-m", "infra.cli.main", *arguments],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def local_of(process: subprocess.Popen[str], directory: Path) -> dict[str, Any]:
    """What the command wrote, once it has written it."""
    path = directory / ".kgw" / "local.json"
    until = time.monotonic() + _START_TIMEOUT_S
    while not path.exists():
        assert process.poll() is None, (directory / "stderr").read_text()
        assert time.monotonic() < until, "kgw up has not started in time"
        time.sleep(0.02)
    local: dict[str, Any] = json.loads(path.read_text())
    return local


@contextmanager
def running(directory: Path, *options: str, **environment: str) -> Iterator[Gateway]:
    (directory / ".kgw" / "local.json").unlink(missing_ok=True)  # of one that was killed
    process = start(directory, *options, **environment)
    try:
        yield Gateway(process, directory, local_of(process, directory))
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(_STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def descendants(pid: int) -> list[int]:
    """All processes below one, as the kernel knows them."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat(entry)):
            parents[int(entry.name)] = int(fields[1])
    found, before = {pid}, 0
    while len(found) != before:
        before = len(found)
        found |= {child for child, parent in parents.items() if parent in found}
    return sorted(found - {pid})


def is_alive(pid: int) -> bool:
    """Whether the process runs; one that has ended and waits to be noticed does not."""
    fields = _stat(Path("/proc") / str(pid))
    return bool(fields) and fields[0] != "Z"


def command_of(pid: int) -> str:
    try:
        return (Path("/proc") / str(pid) / "cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def wait_until_gone(pids: list[int], *, timeout_s: float = 30.0) -> None:
    until = time.monotonic() + timeout_s
    while left := [(pid, command_of(pid)) for pid in pids if is_alive(pid)]:
        assert time.monotonic() < until, f"still there: {left}"
        time.sleep(0.05)


def _stat(entry: Path) -> list[str]:
    try:
        return (entry / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
