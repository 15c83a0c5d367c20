"""The operator command's own client: patient with an unavailable gateway, plain about everything else."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from infra.cli import http as cli_http
from infra.cli.http import BrokenOff, Client, Declined, Lost, NotAGateway, Unreachable


class Scripted(HTTPServer):
    """Answers each request with the next of `answers`, and keeps what it was asked."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, Any]] = []
        self.declares: int | None = None
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
        self.send_header("Content-Length", str(self.server.declares or len(data)))
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


# --- what does not end ---------------------------------------------------------------------------


class Endless:
    """Whoever connects is sent `chunk` again and again, with a pause, until it goes."""

    def __init__(self, head: bytes, chunk: bytes, *, pause_s: float = 0.0) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._head, self._chunk, self._pause_s = head, chunk, pause_s
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.sent, self._is_over = 0, False
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            connection, _ = self._socket.accept()
            with connection:
                connection.recv(65_536)
                connection.sendall(self._head)
                while not self._is_over:
                    connection.sendall(self._chunk)
                    self.sent += len(self._chunk)
                    time.sleep(self._pause_s)

    def close(self) -> None:
        self._is_over = True
        self._socket.close()


OK = b"HTTP/1.1 200 OK\r\n"
LARGE = {
    "declared": OK + b"Content-Length: 400000000\r\n\r\n",
    "until-the-end": OK + b"\r\n",
}


@pytest.mark.parametrize("head", LARGE.values(), ids=LARGE)
def test_no_more_is_read_than_a_gateway_can_say(head: bytes) -> None:
    endless = Endless(head, b"x" * 262_144)
    with contextlib.closing(endless), pytest.raises(NotAGateway, match="answers with more than any gateway"):
        Client(endless.url, "t").call("GET", "/things")
    assert endless.sent < 40_000_000


DRIPS = {
    "body": OK + b"Content-Length: 4000\r\n\r\n",
    "chunks": OK + b"Transfer-Encoding: chunked\r\n\r\n",
    "header": OK + b"X-Slow: ",
    "status": b"HTTP",
}


@pytest.mark.parametrize("head", DRIPS.values(), ids=DRIPS)
def test_an_answer_that_drips_is_not_waited_for_beyond_the_limit(monkeypatch: pytest.MonkeyPatch, head: bytes) -> None:
    monkeypatch.setattr(cli_http, "_WITHIN_S", 0.1)
    endless = Endless(head, b"1", pause_s=0.02)
    with contextlib.closing(endless), pytest.raises(Lost) as lost:
        Client(endless.url, "t").call("PATCH", "/things", {})
    told = f"{endless.url} was asked and did not answer within 0 s. Whether it was done is not known."
    assert str(lost.value) == told


def test_an_answer_that_is_cut_short_is_none(server: Scripted, client: Client) -> None:
    server.answers = [(200, b'{"id": "a"}')]
    server.declares = 4_000
    with pytest.raises(Lost, match="no answer came"):
        client.call("GET", "/things")


def test_numbers_that_are_none_are_no_json(server: Scripted, client: Client) -> None:
    server.answers = [(200, b'{"count": NaN}')]
    assert client.call("GET", "/things").body == {}


# --- what is done twice, and what is not ---------------------------------------------------------


def test_what_may_be_billed_is_not_repeated(server: Scripted, client: Client) -> None:
    server.answers = [(503, {"code": "store_unavailable"}), (200, {})]
    with pytest.raises(Declined, match="store_unavailable"):
        client.post("/things/a/test", {})
    assert len(server.seen) == 1


def test_what_may_be_done_more_than_once_is_repeated(server: Scripted, client: Client) -> None:
    server.answers = [(503, {}), (200, {"ok": True})]
    assert client.patiently("/things/lookup", {}).body == {"ok": True}


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_an_interrupted_making_says_how_to_go_on(monkeypatch: pytest.MonkeyPatch, client: Client) -> None:
    monkeypatch.setattr(cli_http, "within", interrupted)
    with pytest.raises(BrokenOff) as broken:
        client.create("/things", {}, key="my-key")
    assert str(broken.value) == (
        "Interrupted. Whether it was done is not known. With --idempotency-key my-key the same command does it once."
    )


def test_an_interrupted_change_says_what_is_known_and_a_reading_nothing(
    monkeypatch: pytest.MonkeyPatch, client: Client
) -> None:
    monkeypatch.setattr(cli_http, "within", interrupted)
    with pytest.raises(BrokenOff, match=r"^Interrupted\. Whether it was done is not known\.$"):
        client.call("DELETE", "/things/a")
    with pytest.raises(KeyboardInterrupt) as broken:
        client.call("GET", "/things/a")
    assert str(broken.value) == ""


def test_a_base_path_of_a_domain_is_kept(server: Scripted, client: Client) -> None:
    server.answers = [(200, {}), (200, {})]
    for end in ("/gateway", "/gateway/"):
        Client(client.url + end, "t").call("GET", "/api/v1/things?limit=1")
    assert [path for _, path, _, _ in server.seen] == ["/gateway/api/v1/things?limit=1"] * 2
