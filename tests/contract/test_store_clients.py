"""The clients: connections that may have died unnoticed are never used again."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from shared.adapters import aws, service_wire
from shared.adapters.rows import row
from shared.adapters.service_faults import NotConnected, ServiceFault
from shared.adapters.service_places import Place
from shared.adapters.service_wire import Idle, Patience, WireAnswer, WireRequest
from shared.ports.clock import Moment
from tests.support.fakes import FakeClock

HOST = "127.0.0.1"


class CountingServer(ThreadingHTTPServer):
    """Answers every request with the same object; counts connections and requests."""

    daemon_threads = True
    connections = 0
    requests = 0

    def get_request(self) -> object:
        self.connections += 1
        return super().get_request()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests += 1
        body = json.dumps({"Plaintext": "eA==", "SecretString": "x"}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/x-amz-json-1.0")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[CountingServer]:
    running = CountingServer((HOST, 0), Handler)
    thread = threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://{HOST}:{running.server_address[1]}",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    yield running
    running.shutdown()
    running.server_close()


def test_a_connection_is_used_again_while_it_is_fresh(server: CountingServer) -> None:
    client = aws.dynamodb()
    for _ in range(5):
        row(client, "table", "a", "b")
    assert (server.connections, server.requests) == (1, 5)


def test_after_a_pause_every_call_has_a_connection_of_its_own(
    server: CountingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a freeze: all idle connections are given up, not only the first that fails."""
    client = aws.dynamodb()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: row(client, "table", "a", "b"), range(8)))
    opened = server.connections
    monkeypatch.setattr(service_wire, "KEEP_ALIVE_S", 0.0)
    row(client, "table", "a", "b")
    assert server.connections == opened + 1


CALLS: dict[str, tuple[Callable[[], Any], Callable[[Any], object]]] = {
    "tables": (aws.dynamodb, lambda client: client.get_item(TableName="table", Key={"pk": {"S": "a"}})),
    "the door": (aws.dynamodb_at_the_door, lambda client: client.get_item(TableName="table", Key={"pk": {"S": "a"}})),
    "keys": (aws.kms, lambda client: client.decrypt(CiphertextBlob=b"sealed", KeyId="k")),
    "secrets": (aws.secrets_manager, lambda client: client.get_secret_value(SecretId="s")),
}


@pytest.mark.parametrize(("make", "call"), CALLS.values(), ids=CALLS)
def test_no_client_uses_a_connection_again_after_a_pause(
    make: Callable[[], Any], call: Callable[[Any], object], server: CountingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = make()
    call(client)
    call(client)
    assert server.connections == 1
    monkeypatch.setattr(service_wire, "KEEP_ALIVE_S", 0.0)
    call(client)
    assert server.connections == 2


@pytest.mark.parametrize(
    ("wall", "monotonic", "is_fresh"),
    [(4.9, 4.9, True), (5.0, 0.0, False), (0.0, 5.0, False), (600.0, 600.0, False), (-1.0, 0.0, False)],
    ids=["fresh", "only the wall clock moved", "only the other moved", "idle", "the wall clock stepped back"],
)
def test_a_connection_is_stale_when_either_clock_says_so(wall: float, monotonic: float, is_fresh: bool) -> None:
    clock = FakeClock()
    with socket.socket() as connection:
        idle = Idle(connection, Moment.of(clock))
        clock.step(wall=wall, monotonic=monotonic)
        assert idle.is_fresh(clock) is is_fresh


class NobodyThere:
    """A wire that reaches nobody, and notes how it was made and how often it was tried."""

    def __init__(self) -> None:
        self.patience: Patience | None = None
        self.sent = 0

    def to(self, _place: Place, patience: Patience) -> NobodyThere:
        self.patience = patience
        return self

    def send(self, _request: WireRequest) -> WireAnswer:
        self.sent += 1
        raise NotConnected("not connected")


@pytest.mark.parametrize(("make", "call"), CALLS.values(), ids=CALLS)
def test_every_client_gives_up_soon_and_tries_twice_but_once_at_the_door(
    make: Callable[[], Any], call: Callable[[Any], object], server: CountingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    nobody = NobodyThere()
    monkeypatch.setattr(aws, "wire_to", nobody.to)
    with pytest.raises(ServiceFault):
        call(make())
    is_at_the_door = make is aws.dynamodb_at_the_door
    assert nobody.sent == (1 if is_at_the_door else 2)
    assert nobody.patience == (Patience(0.5, 1.0, 1.0) if is_at_the_door else Patience(1.0, 2.0, 8.0))
    assert server.connections == 0
