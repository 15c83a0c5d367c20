"""The wire to a service, against real sockets that behave badly in one way each."""

from __future__ import annotations

import contextlib
import io
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import pytest

from shared.adapters import service_wire
from shared.adapters.clock import SystemClock
from shared.adapters.service_faults import AnswerTimedOut, ConnectionLost, NoAnswer, NotAnAnswer, NotConnected
from shared.adapters.service_places import Place
from shared.adapters.service_wire import Connections, Patience, WireRequest
from shared.ports.clock import Clock
from tests.support.fakes import FakeClock
from tests.support.tls import TestAuthority

HOST = "127.0.0.1"
CLOCK = SystemClock()
ASK = WireRequest({"host": HOST, "x-amz-target": "T.Ask"}, b'{"a":1}')
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
GOOD = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
PATIENT = Patience(connect_s=5.0, read_s=5.0, answer_s=10.0)
HURRIED = Patience(connect_s=5.0, read_s=0.2, answer_s=0.6)
Manner: TypeAlias = Callable[[socket.socket], None]


class Server:
    """Takes connections, reads requests, and does to each what `manner` says. Counts both, and keeps what it read."""

    def __init__(self, manner: Manner, tls: ssl.SSLContext | None = None) -> None:
        self.manner = manner
        self.connections = 0
        self.requests: list[bytes] = []
        self.wires: list[Connections] = []  # that lead here
        self._tls = tls
        self._listener = socket.create_server((HOST, 0))
        self.place = Place(HOST, self._listener.getsockname()[1], is_tls=tls is not None)
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.connections += 1
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError, ssl.SSLError):
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
            with connection:
                while request := _request(connection):
                    self.requests.append(request)
                    self.manner(connection)

    def close(self) -> None:
        self._listener.close()
        for wire in self.wires:
            wire.close()


def _request(connection: socket.socket) -> bytes:
    read = b""
    while not read.endswith(ASK.body):
        part = connection.recv(65_536)
        if not part:
            return b""
        read += part
    return read


def sends(*parts: bytes, pause_s: float = 0.0) -> Manner:
    def send(connection: socket.socket) -> None:
        for part in parts:
            connection.sendall(part)
            time.sleep(pause_s)

    return send


def then(manner: Manner, end: Manner) -> Manner:
    def both(connection: socket.socket) -> None:
        manner(connection)
        end(connection)

    return both


def closes(connection: socket.socket) -> None:
    connection.shutdown(socket.SHUT_RDWR)


def resets(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def waits(_connection: socket.socket) -> None:
    time.sleep(2)


@pytest.fixture
def server() -> Iterator[Callable[..., Server]]:
    made: list[Server] = []

    def make(manner: Manner, tls: ssl.SSLContext | None = None) -> Server:
        made.append(Server(manner, tls))
        return made[-1]

    yield make
    for each in made:
        each.close()


def wire_to(
    server: Server,
    patience: Patience = PATIENT,
    *,
    most_idle: int = 4,
    authorities: Callable[[], ssl.SSLContext] = ssl.create_default_context,
    clock: Clock = CLOCK,
) -> Connections:
    wire = Connections(server.place, patience, most_idle=most_idle, authorities=authorities, clock=clock)
    server.wires.append(wire)
    return wire


def test_a_request_is_one_post_with_its_length_and_the_answer_comes_whole(server: Callable[..., Server]) -> None:
    served = server(sends(b"HTTP/1.1 400 Bad\r\nX-Amz-CRC32: 7\r\ncontent-length: 5\r\n\r\n{", b'"a":', b"}"))
    served.manner = sends(b"HTTP/1.1 400 Bad\r\nX-Amz-CRC32: 7\r\ncontent-length: 7\r\n\r\n{", b'"a":', b"1}")
    answer = wire_to(served).send(ASK)
    assert (answer.status, answer.headers["x-amz-crc32"], answer.body) == (400, "7", b'{"a":1}')
    head = b"POST / HTTP/1.1\r\nhost: 127.0.0.1\r\nx-amz-target: T.Ask\r\ncontent-length: 7\r\n\r\n"
    assert served.requests == [head + ASK.body]


@pytest.mark.parametrize(
    "answer",
    [
        CHUNKED + b"1\r\n{\r\n1\r\n}\r\n0\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n" + GOOD,
    ],
    ids=["in chunks", "after a go-ahead"],
)
def test_other_ways_to_send_the_same(server: Callable[..., Server], answer: bytes) -> None:
    served = server(sends(answer))
    wire = wire_to(served)
    assert [wire.send(ASK).body for _ in range(3)] == [b"{}"] * 3
    assert served.connections == 1


# --- connections ---
def test_the_connection_used_last_is_used_first_and_no_more_are_kept_than_may_be(server: Callable[..., Server]) -> None:
    together = threading.Barrier(3, timeout=10)
    served = server(then(lambda _: together.wait() and None, sends(GOOD)))
    wire = wire_to(served, most_idle=2)
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: wire.send(ASK), range(3)))
    assert (served.connections, len(wire._idle)) == (3, 2)
    served.manner = sends(GOOD)
    last = wire._idle[-1].connection
    wire.send(ASK)
    assert wire._idle[-1].connection is last
    wire.close()
    assert wire._idle == []


def test_a_connection_that_lay_idle_for_long_is_not_used_however_busy_another_was(
    server: Callable[..., Server],
) -> None:
    clock = FakeClock()
    together = threading.Barrier(2, timeout=10)
    together_good = then(lambda _: together.wait() and None, sends(GOOD))
    served = server(together_good)
    wire = wire_to(served, clock=clock)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: wire.send(ASK), range(2)))
        served.manner = sends(GOOD)
        for _ in range(3):
            clock.advance(4.0)
            wire.send(ASK)
        assert served.connections == 2
        served.manner = together_good
        list(pool.map(lambda _: wire.send(ASK), range(2)))
    assert served.connections == 3


@pytest.mark.parametrize("end", [closes, resets])
def test_a_kept_connection_that_died_meanwhile_is_found_out_before_it_is_used(
    server: Callable[..., Server], end: Manner
) -> None:
    is_over = threading.Event()

    def ends(connection: socket.socket) -> None:
        end(connection)
        is_over.set()

    served = server(then(sends(GOOD), ends))
    wire = wire_to(served)
    for number in range(1, 4):
        assert wire.send(ASK).body == b"{}"
        assert is_over.wait(10)
        is_over.clear()
        assert served.connections == number
    assert len(served.requests) == 3


def test_what_came_unasked_is_never_taken_for_an_answer(server: Callable[..., Server]) -> None:
    has_sent = threading.Event()
    served = server(
        then(sends(GOOD + b'HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n{"b":22}'), lambda _: has_sent.set())
    )
    wire = wire_to(served)
    assert wire.send(ASK).body == b"{}"
    assert has_sent.wait(10)
    served.manner = sends(GOOD)
    assert wire.send(ASK).body == b"{}"
    assert served.connections == 2


def test_what_came_unasked_within_tls_is_none_either(server: Callable[..., Server]) -> None:
    """As many bytes as are read at once end with the answer: what is behind it stays where no socket tells of it."""
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 8000\r\nX-Filler: "
    filler = b"f" * (io.DEFAULT_BUFFER_SIZE - 8_000 - len(head) - 4)
    answer = head + filler + b"\r\n\r\n" + b"x" * 8_000
    authority = TestAuthority()
    served = server(sends(answer + GOOD), authority.server(HOST))
    wire = wire_to(served, authorities=authority.client)
    assert [len(wire.send(ASK).body) for _ in range(3)] == [8_000] * 3
    assert served.connections == 3


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 101 Switching\r\n\r\n",
    ],
    ids=["says so", "is of HTTP/1.0", "speaks something else now"],
)
def test_a_connection_that_carries_no_other_request_is_not_kept(server: Callable[..., Server], answer: bytes) -> None:
    served = server(sends(answer))
    wire = wire_to(served)
    with contextlib.suppress(NoAnswer):
        wire.send(ASK)
    assert wire._idle == []


# --- what is no answer ---
@pytest.mark.parametrize(
    ("manner", "fault"),
    [
        (closes, ConnectionLost),
        (resets, ConnectionLost),
        (then(sends(GOOD[:-1]), closes), ConnectionLost),
        (then(sends(GOOD[:20]), closes), ConnectionLost),
        (then(sends(b"HTTP/1.1 200 OK\r\n\r\n{}"), closes), ConnectionLost),
        (sends(b"SSH-2.0-OpenSSH\r\n"), ConnectionLost),
        (sends(b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 200 + b"\r\n"), ConnectionLost),
        (sends(b"HTTP/1.1 200 OK\r\na: " + b"b" * 100_000 + b"\r\n\r\n"), ConnectionLost),
        (sends(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n{"), NotAnAnswer),
        (then(sends(CHUNKED + b"-5\r\n{}\r\n0\r\n\r\n"), closes), ConnectionLost),
        (then(sends(CHUNKED + b"ffffffffff\r\n{"), closes), ConnectionLost),
        (then(sends(CHUNKED + b"f" * 64 + b"\r\n{"), closes), ConnectionLost),
    ],
)
def test_what_is_no_whole_answer_is_none(server: Callable[..., Server], manner: Manner, fault: type[NoAnswer]) -> None:
    served = server(manner)
    wire = wire_to(served)
    with pytest.raises(fault):
        wire.send(ASK)
    assert (len(served.requests), wire._idle) == (1, [])


def test_an_answer_without_end_is_cut_off(server: Callable[..., Server], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_wire, "MAX_ANSWER_BYTES", 100_000)
    chunk = b"10000\r\n" + b"x" * 65_536 + b"\r\n"
    endless = sends(CHUNKED, *[chunk] * 400)
    with pytest.raises(NotAnAnswer):
        wire_to(server(endless)).send(ASK)


@pytest.mark.parametrize(
    "manner",
    [waits, then(sends(GOOD[:-1]), waits), sends(*[bytes([byte]) for byte in GOOD * 2], pause_s=0.05)],
    ids=["silence", "a part and silence", "a byte now and then"],
)
def test_an_answer_that_takes_too_long_is_not_waited_for(server: Callable[..., Server], manner: Manner) -> None:
    wire = wire_to(server(manner), HURRIED)
    with pytest.raises(AnswerTimedOut):
        wire.send(ASK)
    assert wire._idle == []


# --- whom it believes ---
def test_nobody_there_is_told_apart() -> None:
    with socket.create_server((HOST, 0)) as listener:
        port = listener.getsockname()[1]
    place = Place(HOST, port, is_tls=False)
    with pytest.raises(NotConnected):
        Connections(place, PATIENT, most_idle=1, authorities=ssl.create_default_context, clock=CLOCK).send(ASK)


@pytest.mark.parametrize(("names", "is_believed"), [((HOST,), True), (("other.example.com",), False)])
def test_a_service_proves_who_it_is(server: Callable[..., Server], names: tuple[str, ...], is_believed: bool) -> None:
    authority = TestAuthority()
    served = server(sends(GOOD), authority.server(*names))
    wire = wire_to(served, authorities=authority.client)
    if is_believed:
        assert [wire.send(ASK).status for _ in range(2)] == [200, 200]
        assert served.connections == 1
    else:
        with pytest.raises(NotConnected):
            wire.send(ASK)
        assert served.requests == []


def test_an_authority_of_ones_own_is_not_believed(server: Callable[..., Server]) -> None:
    served = server(sends(GOOD), TestAuthority().server(HOST))
    with pytest.raises(NotConnected):
        wire_to(served).send(ASK)
    assert served.requests == []


def test_no_proxy_of_the_environment_is_asked(server: Callable[..., Server], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert wire_to(server(sends(GOOD))).send(ASK).body == b"{}"
