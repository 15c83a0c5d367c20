"""The operator command's own client: patient with an unavailable gateway, plain about everything else."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from infra.cli import http as cli_http
from infra.cli.http import Client, Declined, Unreachable


class Scripted(HTTPServer):
    """Answers each request with the next of `answers`, and keeps what it was asked."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, Any]] = []
        self.seen: list[tuple[str, str, dict[str, str], bytes]] = []
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: Scripted

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.seen.append((self.command, self.path, headers, body))
        status, value = self.server.answers.pop(0)
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("ETag", '"7"')
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_PATCH = do_POST

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def server() -> Iterator[Scripted]:
    server = Scripted()
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def client(server: Scripted, monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setattr(cli_http, "_PAUSE_S", 0.0)
    return Client(f"http://127.0.0.1:{server.server_address[1]}", "kg_adm_root_x")


def test_a_call_sends_its_token_and_json_and_gives_back_object_and_etag(server: Scripted, client: Client) -> None:
    server.answers = [(201, {"id": "a"})]
    answer = client.post("/things", {"name": "é"}, If_Match='"3"')
    assert (answer.status, answer.body, answer.etag) == (201, {"id": "a"}, '"7"')
    method, path, headers, body = server.seen[0]
    assert (method, path, json.loads(body)) == ("POST", "/things", {"name": "é"})
    assert headers["authorization"] == "Bearer kg_adm_root_x"
    assert headers["if-match"] == '"3"'


def test_a_problem_becomes_an_error_with_its_code_and_detail(server: Scripted, client: Client) -> None:
    server.answers = [(409, {"code": "name_taken", "detail": "Choose another name."})]
    with pytest.raises(Declined, match="409 name_taken: Choose another name"):
        client.post("/things", {})


def test_an_answer_that_is_no_json_is_an_error_too(server: Scripted, client: Client) -> None:
    server.answers = [(502, b"<html>")]
    with pytest.raises(Declined, match="502 unknown"):
        client.call("GET", "/things")


def test_an_unavailable_gateway_is_asked_again(server: Scripted, client: Client) -> None:
    server.answers = [(503, {"code": "store_unavailable"}), (503, {}), (200, {"ok": True})]
    assert client.call("GET", "/things").body == {"ok": True}
    assert len(server.seen) == 3


def test_its_patience_ends(server: Scripted, client: Client) -> None:
    server.answers = [(503, {"code": "store_unavailable"})] * 9
    with pytest.raises(Declined, match="store_unavailable"):
        client.call("GET", "/things")
    assert len(server.seen) == 4


def test_creating_repeats_the_same_key_so_that_one_thing_is_made(server: Scripted, client: Client) -> None:
    server.answers = [(503, {}), (201, {"id": "a"}), (201, {"id": "b"})]
    client.create("/things", {})
    client.create("/things", {})
    keys = [headers["idempotency-key"] for _, _, headers, _ in server.seen]
    assert keys[0] == keys[1] != keys[2]


def test_nobody_there_is_said_without_a_traceback(client: Client, server: Scripted) -> None:
    server.shutdown()
    server.server_close()
    with pytest.raises(Unreachable, match=r"Nothing answers at http://127\.0\.0\.1:"):
        client.call("GET", "/things")


def test_an_environment_proxy_is_not_obeyed(server: Scripted, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    server.answers = [(200, {})]
    assert client.call("GET", "/things").status == 200
