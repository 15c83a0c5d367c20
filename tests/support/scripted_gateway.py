"""A gateway on loopback that answers what a test tells it to, and notes what it was asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any


@dataclass(frozen=True, slots=True)
class Asked:
    method: str
    path: str
    headers: dict[str, str] = field(repr=False)
    body: Any

    @property
    def token(self) -> str:
        return self.headers.get("authorization", "").removeprefix("Bearer ")


@dataclass(frozen=True, slots=True)
class Answered:
    """`is_lost`: the request is taken, and the connection closed without an answer."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    is_lost: bool = False


class ScriptedGateway(HTTPServer):
    """Answers by method and path, one after the other; the last one stands for all later ones."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: dict[str, list[Answered]] = {}
        self.asked: list[Asked] = []
        self.before_answering: Callable[[], None] = lambda: None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def will(self, request: str, *answers: Answered | dict[str, Any]) -> None:
        """`request` as in `GET /things`."""
        self.answers[request] = [each if isinstance(each, Answered) else Answered(each) for each in answers]

    def answer_to(self, asked: Asked) -> Answered:
        answers = self.answers.get(f"{asked.method} {asked.path}")
        if answers is None:
            return Answered({"code": "not_found", "detail": "Not told."}, 404)
        return answers.pop(0) if len(answers) > 1 else answers[0]

    @property
    def requests(self) -> list[str]:
        return [f"{each.method} {each.path}" for each in self.asked]


class _Handler(BaseHTTPRequestHandler):
    server: ScriptedGateway

    def _serve(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(self.command, self.path, headers, json.loads(data) if data else None)
        self.server.asked.append(asked)
        answer = self.server.answer_to(asked)
        self.server.before_answering()
        if answer.is_lost:
            return
        body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        body = b"" if answer.body is None else body
        self.send_response(answer.status)
        for name, value in {"ETag": '"7"', "Content-Length": str(len(body)), **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _serve

    def log_message(self, *_: object) -> None: ...


@contextmanager
def scripted_gateway() -> Iterator[ScriptedGateway]:
    gateway = ScriptedGateway()
    Thread(target=gateway.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield gateway
    finally:
        gateway.shutdown()
        gateway.server_close()
