"""The demo's website: another origin on 127.0.0.1, with the widget on it as a site of one's own would have it."""

from __future__ import annotations

import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

from infra.cli.website.markup import Gateway
from infra.cli.website.pages import Answer, answer_at
from infra.local.server import HOST

_POLL_S = 0.05
_IDLE_S = 30
_LAST_PORT = 65_535
_NOT_YET = Answer(503, "text/plain; charset=utf-8", b"The gateway is starting.\n", "default-src 'none'")


class Website:
    """Use as a context manager. It has an address at once, on the port after the gateway's if that is free, and pages
    once it is opened.
    """

    def __init__(self, *, gateway_port: int) -> None:
        self._server = _server_after(gateway_port)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(_POLL_S,), daemon=True)

    @property
    def url(self) -> str:
        """Its origin: without a slash at the end."""
        return f"http://{HOST}:{self.port}"

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def open(self, gateway: Gateway) -> None:
        self._server.gateway = gateway

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    gateway: Gateway | None = None

    def handle_error(self, request: object, client_address: object) -> None:
        """A broken connection is the visitor's affair."""


class _Visit(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = _IDLE_S

    def do_GET(self) -> None:
        gateway = self.server.gateway
        answer = answer_at(self.path, gateway) if gateway else _NOT_YET
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    def version_string(self) -> str:
        """For the `Server` header."""
        return "lumsund"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class's name
        """Nobody reads about visits to a demo."""


def _server_after(port: int) -> _Server:
    if 0 < port < _LAST_PORT:
        with suppress(OSError):
            return _Server((HOST, port + 1), _Visit)
    return _Server((HOST, 0), _Visit)
