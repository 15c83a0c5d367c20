"""One TCP or TLS connection to one checked address, as httpcore reads and writes it."""

# ruff: noqa: ARG002, ASYNC109 - httpcore's signatures carry time-outs; here the caller's deadline covers everything

from __future__ import annotations

import asyncio
import select
import ssl
from enum import Enum, auto
from typing import Any, Protocol, cast

import httpcore

from shared.errors import ConnectionDropped, ConnectionFailed, NeverConnected, Refused, ResponseTooLarge
from shared.ports.clock import Clock, Moment

KEEP_ALIVE_S = 5.0
_LONGEST_LIFE_S = 60.0  # then the name is looked up again, however busy the connection is
_PIECE_BYTES = 4_096
_SMALL_PIECE_BYTES = 512  # while chunks are tiny: parsed one by one, they must not keep the event loop for long
_MANY_CHUNKS = 32
_MAX_HEADS_BYTES = 131_072  # an answer's head and what announces it; httpcore refuses a single head over 100 KiB
_PAUSE_ABOVE_BYTES = 131_072


class _Phase(Enum):
    IDLE = auto()
    ASKED = auto()  # a request was written, and nothing has come yet
    HEAD = auto()
    BODY = auto()


class PinnedStream(asyncio.Protocol, httpcore.AsyncNetworkStream):
    """Reading raises the `ExchangeError` family; `ConnectionDropped` only where an earlier answer had been completed
    and not one byte of this one has come. Whatever ends a reading early closes the connection at once.
    """

    def __init__(self, clock: Clock) -> None:
        self.was_read_to_its_end = False
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._opened = self._idle_since = Moment.of(clock)
        self._phase = _Phase.IDLE
        self._answers = 0
        self._may_read_bytes = 0
        self._chunks = 0  # that the last piece was made of
        self._has_ended = False  # nothing more will come: the other side closed, the line broke, or `abort`
        self._is_broken = False
        self._incoming = bytearray()
        self._news = asyncio.Event()
        self._transport: asyncio.Transport | None = None

    # --- called by httpcore, and to begin TLS ---
    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> PinnedStream:
        raw = cast("asyncio.Transport", self._transport)
        try:
            self._transport = await self._loop.start_tls(raw, self, ssl_context, server_hostname=server_hostname)
        except BaseException as error:
            self.abort()
            if isinstance(error, OSError):
                raise NeverConnected from None  # somebody is there and is not who they should be
            raise
        return self

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Never waits. Whether it arrived shows in the reading."""
        self._phase, self._may_read_bytes = _Phase.ASKED, _MAX_HEADS_BYTES
        if self._transport is not None:
            self._transport.write(buffer)

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            if len(self._incoming) > 1:
                await asyncio.sleep(0)  # a flood from one provider must not keep the others waiting
            while not self._incoming and not self._has_ended:
                self._news.clear()
                await self._news.wait()
            return self._piece() if self._incoming else self._end()
        except BaseException:
            self.abort()
            raise

    async def aclose(self) -> None:
        self.abort()

    def get_extra_info(self, info: str) -> Any:
        """`is_readable` is httpcore's question whether an idle connection must not be used again."""
        return not self._is_reusable() if info == "is_readable" else None

    # --- called around an exchange ---
    def begin_body(self, *, framing_bytes: int) -> None:
        self._phase, self._may_read_bytes = _Phase.BODY, framing_bytes

    def allow(self, chunk_bytes: int) -> None:
        """For each chunk of the body. Once more than was allowed has been read, reading raises `ResponseTooLarge`."""
        self._may_read_bytes += chunk_bytes
        self._chunks += 1

    def complete(self) -> None:
        """The answer is whole. Raises `Refused` for one with more behind it: where would the next answer begin?"""
        if self._incoming:
            raise Refused("invalid_response")
        self._phase = _Phase.IDLE
        self._answers += 1
        self._idle_since = Moment.of(self._clock)

    def has_expired(self) -> bool:
        """Whether it has lain idle, or lived, for too long."""
        has_lain_idle = self._idle_since.is_beyond(KEEP_ALIVE_S, clock=self._clock)
        return has_lain_idle or self._opened.is_beyond(_LONGEST_LIFE_S, clock=self._clock)

    def stop(self) -> None:
        """What has come is forgotten, and the next reading finds the end."""
        self._incoming.clear()
        self.abort()

    def abort(self) -> None:
        """Closes at once, without a farewell to the other side. May be called twice."""
        self._has_ended = True
        if self._transport is not None and not self._loop.is_closed():
            self._transport.abort()

    # --- called by the event loop ---
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._incoming += data
        if len(self._incoming) > _PAUSE_ABOVE_BYTES and self._transport is not None:
            self._transport.pause_reading()
        self._news.set()

    def eof_received(self) -> None:
        self._has_ended = True
        self._news.set()

    def connection_lost(self, error: Exception | None) -> None:
        self._has_ended, self._is_broken = True, error is not None
        self._news.set()

    # --- inside ---
    def _piece(self) -> bytes:
        """The last byte of what has come is handed over alone: whoever then stops before it was sent too much."""
        most_bytes = _SMALL_PIECE_BYTES if self._chunks > _MANY_CHUNKS else _PIECE_BYTES
        self._chunks = 0
        size = max(1, min(most_bytes, len(self._incoming) - 1))
        data = bytes(self._incoming[:size])
        del self._incoming[:size]
        self._may_read_bytes -= size
        if self._may_read_bytes < 0:
            raise ResponseTooLarge
        if self._phase is _Phase.ASKED:
            self._phase = _Phase.HEAD
        if not self._incoming and not self._has_ended and self._transport is not None:
            self._transport.resume_reading()
        return data

    def _end(self) -> bytes:
        if self._phase is _Phase.ASKED and self._answers:
            raise ConnectionDropped
        if self._phase is not _Phase.BODY or self._is_broken:
            raise ConnectionFailed
        self.was_read_to_its_end = True
        return b""

    def _is_reusable(self) -> bool:
        is_open = not self._has_ended and self._loop is asyncio.get_running_loop()
        is_stale = self._phase is _Phase.IDLE and self.has_expired()
        return is_open and not (is_stale or self._incoming or self._has_unread_bytes())

    def _has_unread_bytes(self) -> bool:
        """Asks the system, since a thawed process has not yet heard what happened while it was frozen."""
        sock = self._transport.get_extra_info("socket") if self._transport is not None else None
        if sock is None or sock.fileno() < 0:
            return True
        poller = select.poll()
        poller.register(sock.fileno(), select.POLLIN)
        return bool(poller.poll(0))


class Dial(Protocol):
    """Connects to exactly `address`, within `patience_s` if it is given. Raises `OSError` (time-outs among them)."""

    async def __call__(self, address: str, port: int, *, clock: Clock, patience_s: float | None) -> PinnedStream: ...


async def dial(address: str, port: int, *, clock: Clock, patience_s: float | None) -> PinnedStream:
    """See `Dial`."""
    async with asyncio.timeout(patience_s):
        _, stream = await asyncio.get_running_loop().create_connection(lambda: PinnedStream(clock), address, port)
    return stream
