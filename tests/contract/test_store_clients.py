"""The clients: connections that may have died unnoticed are never used again."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from shared.adapters import aws
from shared.adapters.rows import row

HOST = "127.0.0.1"


class CountingServer(ThreadingHTTPServer):
    """Answers every request with an empty object; counts connections and requests."""

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
        body = json.dumps({}).encode()
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
    monkeypatch.setattr(aws, "KEEP_ALIVE_S", 0.0)
    row(client, "table", "a", "b")
    assert server.connections == opened + 1


CALLS = {
    "tables": (aws.dynamodb, lambda client: client.list_tables()),
    "keys": (aws.kms, lambda client: client.list_keys()),
    "secrets": (aws.secrets_manager, lambda client: client.list_secrets()),
}


@pytest.mark.parametrize(("make", "call"), CALLS.values(), ids=CALLS)
def test_no_client_uses_a_connection_again_after_a_pause(
    make: Callable[[], Any], call: Callable[[Any], object], server: CountingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = make()
    call(client)
    call(client)
    assert server.connections == 1
    monkeypatch.setattr(aws, "KEEP_ALIVE_S", 0.0)
    call(client)
    assert server.connections == 2


def a_keep_alive() -> tuple[aws.ShortKeepAlive, list[float], list[str]]:
    clocks, drops = [100.0, 200.0], []
    keep_alive = aws.ShortKeepAlive(lambda: drops.append("drop"), wall=lambda: clocks[0], monotonic=lambda: clocks[1])
    return keep_alive, clocks, drops


@pytest.mark.parametrize(
    ("wall", "monotonic", "dropped"),
    [(4.9, 4.9, 0), (5.0, 0.0, 1), (0.0, 5.0, 1), (600.0, 600.0, 1), (-1.0, 0.0, 1)],
    ids=["fresh", "only the wall clock moved", "only the other moved", "idle", "the wall clock stepped back"],
)
def test_idle_connections_go_when_either_clock_says_so(wall: float, monotonic: float, dropped: int) -> None:
    keep_alive, clocks, drops = a_keep_alive()
    clocks[0] += wall
    clocks[1] += monotonic
    keep_alive.before_call()
    assert len(drops) == dropped


def test_every_call_counts_as_use() -> None:
    keep_alive, clocks, drops = a_keep_alive()
    for _ in range(10):
        clocks[:] = [clock + 4 for clock in clocks]
        keep_alive.before_call()
    assert drops == []


@pytest.mark.parametrize("make", [aws.dynamodb, aws.kms, aws.secrets_manager])
def test_every_client_gives_up_soon_and_tries_twice(make: object, server: CountingServer) -> None:
    config = make().meta.config
    assert (config.connect_timeout, config.read_timeout) == (1, 2)
    assert config.retries["total_max_attempts"] == 2
