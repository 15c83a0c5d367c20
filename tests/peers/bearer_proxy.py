"""A proxy on loopback that adds a token, for clients that cannot send one. Everything else passes as it came."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

_OF_THE_CONNECTION = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length", "te", "upgrade"})
_TIMEOUT_S = 60.0


@contextmanager
def bearer_proxy(url: str, token: str) -> Iterator[str]:
    """The URL under which `url` is called with `token`."""
    address = urlsplit(url)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name: value for name, value in self.headers.items() if name.lower() not in _OF_THE_CONNECTION}
            upstream = http.client.HTTPConnection(address.netloc, timeout=_TIMEOUT_S)
            try:
                upstream.request(self.command, address.path, body, {**headers, "Authorization": f"Bearer {token}"})
                self._pass_on(upstream.getresponse())
            finally:
                upstream.close()

        do_GET = do_DELETE = do_OPTIONS = do_POST

        def _pass_on(self, answer: http.client.HTTPResponse) -> None:
            data = answer.read()
            self.send_response_only(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in _OF_THE_CONNECTION:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # its name in the base class
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, name="bearer-proxy", daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}{address.path}"
        finally:
            server.shutdown()
