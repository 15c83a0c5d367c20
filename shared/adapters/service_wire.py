"""The wire to one service: HTTP/1.1 over kept connections, each used again only where nothing speaks against it.

An answer is read whole and never followed anywhere; no proxy is asked. Every call of `send` sends once.
"""

from __future__ import annotations

import io
import select
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPResponse
from typing import TYPE_CHECKING, Final, Protocol, cast

from shared.adapters.service_faults import AnswerTimedOut, ConnectionLost, NotAnAnswer, NotConnected
from shared.adapters.service_places import Place
from shared.ports.clock import Clock, Moment

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

KEEP_ALIVE_S: Final = 5.0
MAX_ANSWER_BYTES: Final = 32 * 1024 * 1024  # the largest that a service gives is half of it


@dataclass(frozen=True, slots=True)
class WireRequest:
    """A POST to the root. Names of `headers` are in lower case, nothing in them breaks a line."""

    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class WireAnswer:
    """Names of `headers` are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


class Wire(Protocol):
    def send(self, request: WireRequest) -> WireAnswer:
        """Raises `NoAnswer`."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long is waited for a connection, for the next part of an answer, and for all of it."""

    connect_s: float
    read_s: float
    answer_s: float


@dataclass(frozen=True, slots=True)
class Idle:
    """A connection that waits for its next use.

    While a process is frozen the other side closes its connections and nobody here hears of it, and a network forgets
    those on which nothing passes. Each would fail on its next use, more of them than there are attempts. So none is
    used after `KEEP_ALIVE_S`, however busy others were.
    """

    connection: socket.socket
    since: Moment

    def is_fresh(self, clock: Clock) -> bool:
        return self.since.is_within(KEEP_ALIVE_S, clock=clock)


class Connections:
    """Implements `Wire`, for several threads at once. Keeps up to `most_idle` connections, and uses the last one that
    became idle first. `authorities` gives whose certificates are believed; it is asked when one is first needed.
    """

    def __init__(
        self,
        place: Place,
        patience: Patience,
        *,
        most_idle: int,
        authorities: Callable[[], ssl.SSLContext],
        clock: Clock,
    ) -> None:
        self._place = place
        self._patience = patience
        self._most_idle = most_idle
        self._authorities = authorities
        self._clock = clock
        self._idle: list[Idle] = []

    def send(self, request: WireRequest) -> WireAnswer:
        connection = self._idle_one() or self._connected()
        is_kept = False
        try:
            answer, may_keep = _exchange(connection, request, self._patience)
            is_kept = may_keep and len(self._idle) < self._most_idle
            return answer
        except TimeoutError:
            raise AnswerTimedOut("timed out") from None
        except (OSError, HTTPException, ValueError):
            raise ConnectionLost("lost") from None  # the standard library's reader trusts the size of a chunk
        finally:
            if is_kept:
                self._idle.append(Idle(connection, Moment.of(self._clock)))
            else:
                connection.close()

    def close(self) -> None:
        """Of what is idle."""
        while (idle := self._taken()) is not None:
            idle.connection.close()

    def _idle_one(self) -> socket.socket | None:
        """One that is dead is found out before anything is sent on it, so that this costs no attempt."""
        while (idle := self._taken()) is not None:
            if idle.is_fresh(self._clock) and _is_quiet(idle.connection):
                return idle.connection
            idle.connection.close()
        return None

    def _taken(self) -> Idle | None:
        with suppress(IndexError):
            return self._idle.pop()
        return None

    def _connected(self) -> socket.socket:
        place = self._place
        try:
            connection = socket.create_connection((place.host, place.port), self._patience.connect_s)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if not place.is_tls:
                return connection
            # Closes the connection where it fails; what was waited for connecting is waited for this as well.
            return self._authorities().wrap_socket(connection, server_hostname=place.host)
        except (OSError, ValueError):
            raise NotConnected("not connected") from None


def _is_quiet(connection: socket.socket) -> bool:
    """Whatever comes before it was asked for is an end, or no answer to what will be asked. TLS may have taken it off
    the socket already.
    """
    if isinstance(connection, ssl.SSLSocket) and connection.pending():
        return False
    watched = select.poll()
    watched.register(connection, select.POLLIN)
    return not watched.poll(0)


def _exchange(connection: socket.socket, request: WireRequest, patience: Patience) -> tuple[WireAnswer, bool]:
    """The answer, and whether the connection is good for another."""
    connection.settimeout(patience.read_s)
    connection.sendall(_head(request) + request.body)
    incoming = _Incoming(connection, patience)
    response = HTTPResponse(cast("socket.socket", incoming), method="POST")
    response.begin()
    if response.length is None and not response.chunked:
        raise ConnectionLost("lost")  # it would end with the connection, as does a head that was cut off
    if response.length is not None and response.length > MAX_ANSWER_BYTES:
        raise NotAnAnswer("too long")
    # Of a chunk that is said to be larger no more is made room for.
    body = response.read(MAX_ANSWER_BYTES + 1) if response.chunked else response.read()
    if len(body) > MAX_ANSWER_BYTES:
        raise NotAnAnswer("too long")
    headers = {name.lower(): value for name, value in response.headers.items()}
    may_keep = not response.will_close and response.status >= 200 and not incoming.has_more()
    return WireAnswer(response.status, headers, body), may_keep


def _head(request: WireRequest) -> bytes:
    lines = "".join([f"{name}: {value}\r\n" for name, value in request.headers.items()])
    return f"POST / HTTP/1.1\r\n{lines}content-length: {len(request.body)}\r\n\r\n".encode("latin-1")


class _Incoming(io.RawIOBase):
    """What a connection brings from now on, as a file of the kind that the standard library's reader asks for; within
    the time for one answer, and no more than one may have.
    """

    def __init__(self, connection: socket.socket, patience: Patience) -> None:
        self._connection = connection
        self._read_s = patience.read_s
        self._ends_at = time.monotonic() + patience.answer_s
        self._left = MAX_ANSWER_BYTES + 1024 * 1024  # with its head
        self._is_over = False
        self._buffer = _Buffer(self)

    def makefile(self, _mode: str) -> io.BufferedReader:
        return self._buffer

    def has_more(self) -> bool:
        """Whether anything was received beyond the answer."""
        self._is_over = True
        return bool(self._buffer.peek())

    def readable(self) -> bool:
        return True

    def readinto(self, into: WriteableBuffer) -> int:
        if self._is_over:
            return 0
        left_s = self._ends_at - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        if self._left <= 0:
            raise NotAnAnswer("too long")
        self._connection.settimeout(min(self._read_s, left_s))
        count = self._connection.recv_into(into)
        self._left -= count
        return count


class _Buffer(io.BufferedReader):
    """Stays readable when the standard library's reader has what it wants."""

    def close(self) -> None:
        pass
