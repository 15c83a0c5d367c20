"""One TCP or TLS connection to one checked address."""

from __future__ import annotations

import asyncio
import select
import socket
import ssl
from typing import Protocol, cast

from shared.errors import ResponseTooLarge

_PAUSE_ABOVE_BYTES = 131_072


class PinnedStream(asyncio.Protocol):
    """The bytes of one connection. Nothing here has a time-out of its own: the caller's deadline covers everything."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.bytes_read = 0
        self.has_ended = False  # nothing more will come: the other side closed, the line broke, or `abort`
        self._limit = 0
        self._incoming = bytearray()
        self._waiter: asyncio.Future[None] | None = None
        self._transport: asyncio.Transport | None = None

    def limit(self, more_bytes: int) -> None:
        """From here on, reading more than this raises `ResponseTooLarge`."""
        self._limit = self.bytes_read + more_bytes

    def write(self, data: bytes) -> None:
        """Never waits. Whether it arrived shows in the reading."""
        if self._transport is not None:
            self._transport.write(data)

    async def read(self, max_bytes: int) -> bytes:
        """At least one byte, or none at all once the connection has ended."""
        if self._incoming:
            await asyncio.sleep(0)  # a flood from one provider must not keep the others waiting
        while not self._incoming and not self.has_ended:
            self._waiter = self.loop.create_future()
            await self._waiter
        data = bytes(self._incoming[:max_bytes])
        del self._incoming[:max_bytes]
        self.bytes_read += len(data)
        if self.bytes_read > self._limit:
            raise ResponseTooLarge
        if not self._incoming and not self.has_ended and self._transport is not None:
            self._transport.resume_reading()
        return data

    def is_quiet(self) -> bool:
        """Whether an idle connection is still open and has nothing to say: only then may it be used again."""
        return not (self.has_ended or self._incoming or self._has_unread_bytes())

    def abort(self) -> None:
        """Closes at once, without a farewell to the other side. May be called twice."""
        self.has_ended = True
        if self._transport is not None and not self.loop.is_closed():
            self._transport.abort()

    # --- called by the event loop ---
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._incoming += data
        if len(self._incoming) > _PAUSE_ABOVE_BYTES and self._transport is not None:
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        self.has_ended = True
        self._wake()

    def connection_lost(self, _error: Exception | None) -> None:
        self.has_ended = True
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _has_unread_bytes(self) -> bool:
        """Asks the system, since a thawed process has not yet heard what happened while it was frozen."""
        sock = self._transport.get_extra_info("socket") if self._transport is not None else None
        if sock is None or sock.fileno() < 0:
            return True
        poller = select.poll()
        poller.register(sock.fileno(), select.POLLIN)
        return bool(poller.poll(0))


class Dial(Protocol):
    """Connects to exactly `address` and, where `tls` is given, has it prove that it is `tls_name`.

    `patience_s` bounds the TCP connection alone. Raises `OSError` (time-outs and TLS failures among them).
    """

    async def __call__(
        self, address: str, port: int, *, tls: ssl.SSLContext | None, tls_name: str, patience_s: float | None
    ) -> PinnedStream: ...


async def dial(
    address: str, port: int, *, tls: ssl.SSLContext | None, tls_name: str, patience_s: float | None
) -> PinnedStream:
    """See `Dial`."""
    async with asyncio.timeout(patience_s):
        sock = await _connected(address, port)
    loop = asyncio.get_running_loop()
    try:
        _, stream = await loop.create_connection(
            PinnedStream, sock=sock, ssl=tls, server_hostname=tls_name if tls else None
        )
    except BaseException:
        sock.close()
        raise
    return stream


async def _connected(address: str, port: int) -> socket.socket:
    sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.settimeout(0)  # never blocks: the event loop waits for it
        await asyncio.get_running_loop().sock_connect(sock, (address, port))
    except BaseException:
        sock.close()
        raise
    return sock
