"""Whether anything can have been done: `NeverConnected` says that nothing was sent, and nothing else says so.

What becomes of a reserved unit hangs on it, so each way to fail is tried over real connections.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from shared.adapters.authorities import public_authorities
from shared.adapters.clock import SystemClock
from shared.adapters.exchanges import PinnedExchanges
from shared.adapters.resolver import SystemResolver
from shared.domain.deadlines import Deadline
from shared.domain.registrations import Source
from shared.errors import ConnectionFailed, ExchangeError, NeverConnected
from shared.ports.exchange import OutboundRequest
from tests.support.builders import a_source
from tests.support.fake_network import FakeResolver, RecordingDial
from tests.support.hostile_provider import hostile_provider
from tests.support.tls import TestAuthority

CLOCK = SystemClock()
TLS = public_authorities()
HOST = "kb.fern-desk.test"
ADDRESS = "8.8.8.8"  # never reached: the connection is made to the server of the test


def exchanges(**over: Any) -> PinnedExchanges:
    parts: dict[str, Any] = {
        "resolver": FakeResolver({HOST: [ADDRESS]}),
        "clock": CLOCK,
        "allow_loopback_http": True,
        "private_network_available": False,
        "tls": TLS,
    }
    return PinnedExchanges(**parts | over)


async def send(lines: PinnedExchanges, source: Source) -> Any:
    line = lines.open(source, deadline=Deadline.after(10, now_s=CLOCK.monotonic()))
    return await line.send(lambda: OutboundRequest(method="POST", url=f"{source.base_url}/retrieve", body=b"{}"))


async def failure_of(lines: PinnedExchanges, base_url: str) -> ExchangeError:
    try:
        with pytest.raises(ExchangeError) as failure:
            await send(lines, a_source(base_url=base_url))
    finally:
        lines.close()
    return failure.value


@contextmanager
def a_server(serve: Callable[[socket.socket], None]) -> Iterator[int]:
    """Serves one connection after the other on a port of its own, which it gives."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def run() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    serve(connection)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
    thread.join(5)


def unused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


# --- nothing was sent ---
async def test_a_refused_dial_never_connected() -> None:
    failure = await failure_of(exchanges(), f"http://127.0.0.1:{unused_port()}")
    assert type(failure) is NeverConnected
    assert failure.code == "connection_failed"


async def test_when_no_address_can_be_reached_it_never_connected() -> None:
    dial = RecordingDial(unreachable=frozenset({ADDRESS, "1.1.1.1"}))
    resolver = FakeResolver({HOST: [ADDRESS, "1.1.1.1"]})
    failure = await failure_of(exchanges(dial=dial, resolver=resolver), f"https://{HOST}")
    assert type(failure) is NeverConnected
    assert len(dial.dialled) == 2


async def test_a_name_that_does_not_resolve_never_connected() -> None:
    failure = await failure_of(exchanges(resolver=SystemResolver()), "https://does-not-exist.invalid")
    assert type(failure) is NeverConnected


async def test_a_name_without_addresses_never_connected() -> None:
    failure = await failure_of(exchanges(resolver=FakeResolver({HOST: []})), f"https://{HOST}")
    assert type(failure) is NeverConnected


@pytest.mark.parametrize("trouble", ["another name", "unknown authority"])
async def test_somebody_else_behind_the_address_is_sent_nothing(trouble: str) -> None:
    authority = TestAuthority()
    tls = authority.client() if trouble == "another name" else TestAuthority().client()
    with hostile_provider(tls=authority.server("other.fern-desk.test")) as server:
        lines = exchanges(tls=tls, dial=RecordingDial(reroute_to_port=server.port))
        failure = await failure_of(lines, f"https://{HOST}/good")
        assert type(failure) is NeverConnected
        assert server.requests == []


@pytest.mark.parametrize("manner", ["plain text", "reset", "closed"])
async def test_a_handshake_that_fails_sent_nothing(manner: str) -> None:
    def serve(connection: socket.socket) -> None:
        connection.recv(4096)
        if manner == "plain text":
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        if manner == "reset":
            _reset(connection)

    with a_server(serve) as port:
        failure = await failure_of(exchanges(dial=RecordingDial(reroute_to_port=port)), f"https://{HOST}")
    assert type(failure) is NeverConnected


# --- something was sent ---
@pytest.mark.parametrize("behaviour", ["reset", "close", "close_in_headers", "close_in_body"])
async def test_a_connection_that_dies_after_the_request_may_have_carried_it(behaviour: str) -> None:
    with hostile_provider() as server:
        failure = await failure_of(exchanges(), server.url(behaviour))
        assert len(server.requests) == 1
    assert isinstance(failure, ConnectionFailed)
    assert not isinstance(failure, NeverConnected)


async def test_a_connection_closed_before_it_was_read_may_have_carried_the_request() -> None:
    with a_server(lambda connection: None) as port:
        failure = await failure_of(exchanges(), f"http://127.0.0.1:{port}")
    assert type(failure) is ConnectionFailed


async def test_after_the_handshake_the_request_may_have_arrived() -> None:
    authority = TestAuthority()
    context = authority.server(HOST)

    def serve(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as wrapped:
            wrapped.recv(4096)
            _reset(wrapped)

    with a_server(serve) as port:
        lines = exchanges(tls=authority.client(), dial=RecordingDial(reroute_to_port=port))
        failure = await failure_of(lines, f"https://{HOST}")
    assert isinstance(failure, ConnectionFailed)
    assert not isinstance(failure, NeverConnected)


@pytest.mark.parametrize("trouble", ["unreachable", "forbidden"])
async def test_a_reused_connection_that_died_may_have_carried_it_though_no_other_comes_about(trouble: str) -> None:
    """The first sending got no answer, and the second one no connection: of the first nobody knows."""
    resolver, dial = FakeResolver({"kb.localhost": ["127.0.0.1"]}), RecordingDial()
    with hostile_provider() as server:
        lines = exchanges(resolver=resolver, dial=dial)
        source = a_source(base_url=server.url("dies_when_reused", host="kb.localhost"))
        assert (await send(lines, source)).status == 200
        if trouble == "unreachable":
            dial.unreachable = frozenset({"127.0.0.1"})
        else:
            resolver.names["kb.localhost"] = ["169.254.169.254"]
        with pytest.raises(ConnectionFailed) as failure:
            await send(lines, source)
        assert [seen.nth_on_connection for seen in server.requests] == [1, 2]
        lines.close()
        await asyncio.sleep(0)
    assert type(failure.value) is ConnectionFailed


def _reset(connection: socket.socket | ssl.SSLSocket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
