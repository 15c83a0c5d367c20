"""The gateway's front on loopback: HTTP in, events to the functions, HTTP out. Stands where API Gateway stands."""

from __future__ import annotations

import json
import re
import sys
import uuid
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from infra.local.bodies import MAX_BODY_BYTES, BadBody, BodyTooLarge, read_body
from infra.local.dispatch import Dispatcher
from infra.local.events import BadAnswer, Incoming, Outgoing, event_of, outgoing_of
from infra.local.pool import Busy, FunctionFailed, FunctionTimedOut, Pool

HOST = "127.0.0.1"
_IDLE_S = 75
_MAX_HEADER_BYTES = 10_240
_MAX_ANSWER_BYTES = 6 * 1024 * 1024
_METHOD = re.compile(r"[A-Z][A-Z-]{0,31}", re.ASCII)  # as on the wire: `get` is not GET
_NO_BODY = frozenset({204, 304})


class Refused(Exception):
    """What the gateway itself answers, in its own bare form: `{"message": ...}`."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class Front(ThreadingHTTPServer):
    """Listens on 127.0.0.1. Raises `OSError` when the port is taken."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, port: int, *, dispatcher: Dispatcher, pools: Callable[[], Mapping[str, Pool]]) -> None:
        self._dispatcher = dispatcher
        self._pools = pools
        super().__init__((HOST, port), _Connection)

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.server_address[1]}"

    def answer(self, request: Incoming) -> Outgoing:
        """Raises `Refused`."""
        match = self._dispatcher.match(request.method, request.path)
        pool = self._pools()[match.function]
        try:
            given = pool.invoke(event_of(request, match), request_id=request.request_id)
            answer = outgoing_of(given, request_id=request.request_id)
        except (FunctionFailed, BadAnswer):
            raise Refused(500, "Internal Server Error") from None
        except FunctionTimedOut:
            raise Refused(504, "Gateway Timeout") from None
        except Busy:
            raise Refused(503, "Service Unavailable") from None
        if len(answer.body) > _MAX_ANSWER_BYTES:
            raise Refused(500, "Internal Server Error")
        return answer

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002  # the base's signature
        """A broken connection is the caller's affair; anything else is told by its type."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            print(f"gateway: {type(error).__name__}", file=sys.stderr, flush=True)


class _Connection(BaseHTTPRequestHandler):
    server: Front
    protocol_version = "HTTP/1.1"
    timeout = _IDLE_S
    disable_nagle_algorithm = True
    wbufsize = -1  # head and body leave together

    def __getattr__(self, name: str) -> Any:
        """Every method is served alike; the route table decides."""
        if name.startswith("do_"):
            return self._serve
        raise AttributeError(name)

    def _serve(self) -> None:
        request_id = uuid.uuid4().hex
        try:
            self._send(self.server.answer(self._incoming(request_id)))
        except Refused as refused:
            self._refuse(refused, request_id)

    def _incoming(self, request_id: str) -> Incoming:
        headers = self.headers.items()
        self._judge_head(headers)
        path, _, query = self._target().partition("?")
        return Incoming(
            method=self.command,
            path=_path_of(path),
            query=query,
            protocol=self.request_version,
            headers=headers,
            body=self._body(),
            source_ip=self.client_address[0],
            request_id=request_id,
        )

    def _judge_head(self, headers: list[tuple[str, str]]) -> None:
        """Raises `Refused` before the body is read, which ends the connection."""
        if sum(len(name) + len(value) for name, value in headers) > _MAX_HEADER_BYTES:
            self.close_connection = True
            raise Refused(431, "Request Header Fields Too Large")
        hosts = [value for name, value in headers if name.lower() == "host"]
        if len(hosts) != 1 or not hosts[0].strip() or not _METHOD.fullmatch(self.command):
            self.close_connection = True
            raise Refused(400, "Bad Request")

    def _target(self) -> str:
        """As it was sent: in `path` the base class has made one slash of several at the beginning."""
        return self.requestline.split()[1]

    def _body(self) -> bytes:
        try:
            return read_body(self.headers, self.rfile)
        except BodyTooLarge:
            self.close_connection = True
            raise Refused(413, "Request Entity Too Large") from None
        except BadBody:
            self.close_connection = True
            raise Refused(400, "Bad Request") from None

    def handle_expect_100(self) -> bool:
        """Says no before a body is sent that would be too large anyway."""
        length = self.headers.get("Content-Length", "")
        if length.isascii() and length.isdigit() and int(length) > MAX_BODY_BYTES:
            self.close_connection = True
            self._refuse(Refused(413, "Request Entity Too Large"), uuid.uuid4().hex)
            return False
        proceed = super().handle_expect_100()
        self.wfile.flush()
        return proceed

    def _refuse(self, refused: Refused, request_id: str) -> None:
        body = json.dumps({"message": refused.message}).encode()
        headers = (
            ("Content-Type", "application/json"),
            ("Apigw-Requestid", request_id),
            ("X-Request-Id", request_id),
        )
        self._send(Outgoing(status=refused.status, headers=headers, body=body))

    def _send(self, answer: Outgoing) -> None:
        self.send_response(answer.status)
        for name, value in answer.headers:
            if name.lower() != "content-length":
                self.send_header(name, value)
        if answer.status not in _NO_BODY:
            self.send_header("Content-Length", str(len(answer.body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD" and answer.status not in _NO_BODY:
            self.wfile.write(answer.body)

    def version_string(self) -> str:
        """For the `Server` header."""
        return "knowledge-gateway"

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """What is not HTTP at all; the base class would answer with a page that repeats the request."""
        self.close_connection = True
        self.command = getattr(self, "command", None) or "GET"
        self.request_version = self.protocol_version
        self._refuse(Refused(int(code), HTTPStatus(code).phrase), uuid.uuid4().hex)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class's name
        """The functions log what is worth it."""


def _path_of(target: str) -> str:
    """The path of a request target, which may also be a whole URL."""
    if target.startswith("/"):
        return target
    _, separator, rest = target.partition("://")
    return "/" + rest.partition("/")[2] if separator else "/" + target
