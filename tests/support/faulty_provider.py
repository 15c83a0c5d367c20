"""A small provider that does everything right, in one place each, so that a subclass can do one thing wrong.

    with serving(Provider()) as url: ...

`Provider.handle` takes a `Request` to a `Response`; what it calls on the way is there to be overridden.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from fixtures.reference_provider.contract import BadRequest, read
from fixtures.reference_provider.signatures import BadSignature, verify

SECRET = "kgs_" + "5" * 64
PREVIOUS = "kgs_" + "6" * 64
JSON_TYPE = "application/json"
CAPABILITIES = dict.fromkeys(
    ("locale", "localeFallback", "freshness", "translationGroups", "chunking", "scoring", "citationUrl"), True
)
_LOCALES = ("en", "en", "en", "de", "de")


@dataclass(frozen=True, slots=True)
class Request:
    """Header names are lower-case; of repeated headers, the last."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    nth_on_connection: int = 1
    names: frozenset[str] = frozenset()  # of the headers, as they were written


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": JSON_TYPE})


class Provider:
    """Finds the same five passages whatever it is asked, and nothing for words with a q beside an x or a y."""

    reads_refused_bodies = True
    leave: Callable[[], None]  # while it is served: closes its door for good, soon

    def __init__(self) -> None:
        self.secrets: tuple[str, ...] = (SECRET,)
        self.seen: set[str] = set()
        self.lock = threading.Lock()

    def handle(self, request: Request) -> Response:
        try:
            self.admit(request)
        except BadSignature as bad:
            return self.refuse(request, bad)
        if (request.method, request.path) == ("GET", "/capabilities"):
            return self.declare()
        if (request.method, request.path) == ("POST", "/retrieve"):
            return self.retrieve(request)
        return Response(404)

    def admit(self, request: Request) -> None:
        """Raises `BadSignature`."""
        nonce = self.verify(request.headers.get("x-helpthread-signature", ""), request.body)
        if not self.remember(nonce):
            raise BadSignature("replayed")

    def verify(self, header: str, body: bytes) -> str:
        """The nonce of a genuine request. Raises `BadSignature`."""
        return verify(header, body, secrets=self.secrets, now=time.time()).nonce

    def remember(self, nonce: str) -> bool:
        """Whether it is new."""
        with self.lock:
            is_new = nonce not in self.seen
            self.seen.add(nonce)
            return is_new

    def refuse(self, _request: Request, _bad: BadSignature) -> Response:
        return Response(401)

    def declare(self) -> Response:
        return self.answer({"contractVersion": 1, "capabilities": self.capabilities()})

    def capabilities(self) -> dict[str, Any]:
        return dict(CAPABILITIES)

    def retrieve(self, request: Request) -> Response:
        try:
            asked = read(request.body)
        except BadRequest:
            return Response(400)
        return self.answer(self.document(self.found(asked.query, asked.locale, asked.locale_fallback)[: asked.limit]))

    def found(self, query: str, locale: str | None, fallback: str | None) -> list[dict[str, Any]]:
        if "qx" in query or "xj" in query:
            return []
        every = [self.result(number, language) for number, language in enumerate(_LOCALES, start=1)]
        for wanted in (locale, fallback):
            if some := [one for one in every if wanted and one["locale"] == wanted]:
                return some
        return every if locale is None else []

    def result(self, number: int, locale: str) -> dict[str, Any]:
        return {
            "documentId": f"doc-{number}",
            "title": f"Ferry passes, part {number}",
            "snippet": f"Ein Pass für {number} Tage.",
            "audience": "public",
            "revision": "r7",
            "chunkId": f"doc-{number}#1",
            "url": f"https://help.example.com/{number}",
            "locale": locale,
            "score": 10.0 - number,
            "freshness": "current",
            "reviewDueAt": "2027-02-28T00:00:00Z",
            "translationGroupId": "passes",
        }

    def document(self, results: list[dict[str, Any]]) -> dict[str, Any]:
        return {"contractVersion": 1, "results": results}

    def answer(self, document: Any) -> Response:
        return Response(200, self.encode(document))

    def encode(self, document: Any) -> bytes:
        return json.dumps(document, ensure_ascii=False).encode()


def mac(body: bytes, *, t: str, n: str, secret: str = SECRET) -> str:
    return hmac.new(secret.encode(), f"{t}.{n}.".encode() + body, hashlib.sha256).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 10
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Server
    nth = 0

    def _serve(self) -> None:
        self.nth += 1
        headers = {name.lower(): value for name, value in self.headers.items()}
        length = int(headers.get("content-length", "0"))
        body = self.rfile.read(length) if self._is_read() else b""
        request = Request(self.command, self.path, headers, body, self.nth, frozenset(self.headers.keys()))
        self._send(self.server.provider.handle(request))

    def _is_read(self) -> bool:
        """A provider that leaves the bodies of strangers unread takes them for their next request."""
        if self.server.provider.reads_refused_bodies or self.headers.get("Content-Length", "0") == "0":
            return True
        header = self.headers.get("X-Helpthread-Signature", "")
        body = self.rfile.peek()[: int(self.headers["Content-Length"])]  # type: ignore[attr-defined]
        try:
            verify(header, body, secrets=self.server.provider.secrets, now=time.time())
        except BadSignature:
            return False
        return True

    def _send(self, response: Response) -> None:
        headers = {"Content-Length": str(len(response.body)), "Date": self.date_time_string()} | response.headers
        self.send_response_only(response.status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(response.body)

    do_GET = do_POST = _serve

    def log_message(self, *_: object) -> None:
        """Says nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """A caller that went away is no event."""


@contextmanager
def serving(provider: Provider, *, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """The base URL at which the provider answers."""
    server = _Server(provider)
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    provider.leave = lambda: threading.Thread(target=_close, args=(server,), daemon=True).start()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{server.server_address[1]}"
    finally:
        _close(server)
        thread.join()


def _close(server: _Server) -> None:
    server.shutdown()
    server.server_close()


def with_headers(response: Response, **headers: str) -> Response:
    return replace(response, headers=response.headers | {name.replace("_", "-"): v for name, v in headers.items()})
