"""A small website on 127.0.0.1, an origin of its own: what a test lays there is served as it says."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True, slots=True)
class Laid:
    body: bytes
    headers: Mapping[str, str]
    status: int = 200


@dataclass
class Site:
    """`origin` is its address without a slash at the end."""

    origin: str = ""
    _laid: dict[str, Laid] = field(default_factory=dict)

    def lay(
        self, path: str, body: str, *, csp: str = "", media_type: str = "text/html; charset=utf-8", **headers: str
    ) -> str:
        """Serves `body` at `path` from now on, and returns its URL. Header names are written with underscores."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()} | {"Content-Type": media_type}
        if csp:
            sent["Content-Security-Policy"] = csp
        self._laid[path] = Laid(body.encode(), sent)
        return self.origin + path

    def at(self, path: str) -> Laid:
        return self._laid.get(path.partition("?")[0], Laid(b"", {"Content-Type": "text/plain"}, status=404))


@contextmanager
def running_site() -> Iterator[Site]:
    site = Site()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(site))
    server.daemon_threads = True
    site.origin = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler_of(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            laid = site.at(self.path)
            self.send_response(laid.status)
            for name, value in laid.headers.items():
                self.send_header(name, value)
            if "Content-Length" not in laid.headers:
                self.send_header("Content-Length", str(len(laid.body)))
            self.end_headers()
            self.wfile.write(laid.body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class's name
            """Says nothing."""

    return Handler
