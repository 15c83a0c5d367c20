"""A real HTTP server on 127.0.0.1 that plays answers, one a request; the last one repeats.

    with scripted_service(limited, page) as service:
        service.origin        # http://127.0.0.1:<port>
        service.asked         # what arrived, oldest first

With `pause_s` a body goes out byte by byte, with that pause after each.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from shared.ports.exchange import OutboundAnswer


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it arrived. Header names are lower-case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(slots=True)
class ScriptedService:
    origin: str
    steps: list[OutboundAnswer]
    pause_s: float
    asked: list[Asked] = field(default_factory=list)
    is_over: bool = False

    def next_answer(self) -> OutboundAnswer:
        return self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    service: ScriptedService

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.service.asked.append(Asked(self.command, self.path, headers, body))
        answer = self.service.next_answer()
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        with contextlib.suppress(OSError):  # the other side may be gone by then
            self._write(answer.body)

    do_GET = do_POST

    def _write(self, body: bytes) -> None:
        if not self.service.pause_s:
            self.wfile.write(body)
            return
        for at in range(len(body)):
            if self.service.is_over:
                return
            self.wfile.write(body[at : at + 1])
            time.sleep(self.service.pause_s)

    def log_message(self, *args: Any) -> None:
        """Says nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that is cut is no news here."""


@contextlib.contextmanager
def scripted_service(*steps: OutboundAnswer, pause_s: float = 0.0) -> Iterator[ScriptedService]:
    handler = type("Handler", (_Handler,), {})
    server = _Server(("127.0.0.1", 0), handler)
    service = ScriptedService(f"http://127.0.0.1:{server.server_port}", list(steps), pause_s)
    handler.service = service  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield service
    finally:
        service.is_over = True
        server.shutdown()
        thread.join()
        server.server_close()
