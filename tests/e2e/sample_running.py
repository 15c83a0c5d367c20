"""Runs the sample providers as their READMEs say, and asks them as the gateway would."""

from __future__ import annotations

import base64
import http.client
import itertools
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import time
from typing import Any
from urllib.parse import urlsplit

from knowledge_conformance import signing
from knowledge_conformance.subject import new_nonce

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "fixtures" / "samples"
VECTORS: list[dict[str, Any]] = json.loads((ROOT / "docs/vectors/signatures-v1.json").read_text("utf-8"))["vectors"]
SECRET, PREVIOUS = "kgs_" + "c" * 64, "kgs_" + "d" * 64
_STOP_S = 20

Event = dict[str, Any]


def copied(name: str, directory: Path) -> Path:
    """The folder of a sample, where nothing else of this project is beside it."""
    return Path(shutil.copytree(SAMPLES / name, directory / name, dirs_exist_ok=True))


@contextmanager
def started(*command: str | Path, cwd: Path, **environment: str) -> Iterator[str]:
    """A sample in a process of its own; gives the base URL that it prints. Python files run under this Python."""
    interpreter = [sys.executable] if str(command[0]).endswith(".py") else []
    process = subprocess.Popen(
        [*interpreter, *map(str, command)],
        cwd=cwd,
        env={**os.environ, "KB_SECRET": SECRET, "KB_SECRET_PREVIOUS": PREVIOUS, **environment},
        stdout=subprocess.PIPE,
        stderr=(cwd / "stderr").open("a"),
        text=True,
    )
    assert process.stdout is not None
    try:
        url = process.stdout.readline().strip()
        assert url, (cwd / "stderr").read_text()
        yield url
    finally:
        process.terminate()
        process.wait(_STOP_S)
        process.stdout.close()


@contextmanager
def serving(server: ThreadingHTTPServer) -> Iterator[str]:
    """A server of a sample, or of a test, in this process."""
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass(frozen=True, slots=True)
class Signed:
    """A request that can be sent more than once."""

    body: bytes
    headers: dict[str, str]

    @classmethod
    def over(cls, body: bytes, *, secret: str = SECRET, **more: str) -> Signed:
        """More headers are written with underscores."""
        t, nonce = int(time()), new_nonce()
        values = [signing.sign(secret, timestamp=t, nonce=nonce, body=body)]
        headers = {
            "X-Helpthread-Knowledge-Version": "1",
            "X-Helpthread-Request": nonce,
            "X-Helpthread-Signature": signing.header(values, timestamp=t, nonce=nonce),
            "Content-Type": "application/json",
        }
        return cls(body, headers | {name.replace("_", "-"): value for name, value in more.items()})

    @classmethod
    def asking(cls, query: str, **more: str) -> Signed:
        return cls.over(json.dumps({"query": query, "limit": 10}).encode(), **more)

    def to(self, url: str, path: str = "/retrieve", method: str = "POST") -> Reply:
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
        try:
            connection.request(method, path, self.body, self.headers)
            response = connection.getresponse()
            return Reply(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def results(self) -> list[dict[str, Any]]:
        assert self.status == 200, (self.status, self.body)
        found: list[dict[str, Any]] = json.loads(self.body)["results"]
        return found


def body_of(vector: dict[str, Any]) -> bytes:
    return base64.b64decode(vector["bodyBase64"]) if "bodyBase64" in vector else str(vector["body"]).encode()


def reasons(sample: Any, remember: Callable[[str, float], bool]) -> dict[str, str]:
    """What a Python sample says of each vector. Nonces are remembered under the vector's name, so that none meets
    another vector's.
    """
    return {vector["name"]: _reason(sample, remember, vector) for vector in VECTORS}


def _reason(sample: Any, remember: Callable[[str, float], bool], vector: dict[str, Any]) -> str:
    now, name = vector["now"], vector["name"]
    for nonce in vector.get("seen", ()):
        assert remember(f"{name} {nonce}", now)
    try:
        nonce = sample.verified(vector["header"], body_of(vector), secrets=vector["secrets"], now=now)
    except sample.Refused as no:
        return str(no.why) if no.status == 401 else f"{no.status} {no.why}"
    return "ok" if remember(f"{name} {nonce}", now) else "replayed"


@contextmanager
def lambda_url(handler: Callable[[Event, object], Event], *, stage: str = "$default") -> Iterator[str]:
    """HTTP on loopback, turned into events of payload version 2.0 and back.

    Every second body comes in base64, and every third request has its header names as they were sent.
    """
    counter = itertools.count()

    class Bridge(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            answer = handler(self._event(body, next(counter)), None)
            self.send_response_only(answer["statusCode"])
            content = answer["body"].encode()
            for name, value in {**answer["headers"], **self._added(content)}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET

        def _added(self, content: bytes) -> dict[str, str]:
            return {"Date": self.date_time_string(), "Content-Length": str(len(content))}

        def _event(self, body: bytes, number: int) -> Event:
            names = {name if number % 3 == 0 else name.lower() for name in self.headers}
            event: Event = {
                "version": "2.0",
                "rawPath": self.path if stage == "$default" else f"/{stage}{self.path}",
                "headers": {name: ",".join(self.headers.get_all(name, [])) for name in names},
                "requestContext": {"stage": stage, "http": {"method": self.command, "path": self.path}},
                "isBase64Encoded": number % 2 == 0 or not _is_text(body),
            }
            if body:
                event["body"] = base64.b64encode(body).decode() if event["isBase64Encoded"] else body.decode()
            return event

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 64

    with serving(Server(("127.0.0.1", 0), Bridge)) as url:
        yield url


def _is_text(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True
