"""Sends one request and reads its answer within the contract's bounds. No redirect is followed, no proxy is asked."""

from __future__ import annotations

import asyncio
import ssl
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import TracebackType
from typing import Self

import httpx

MAX_BODY_BYTES = 1_048_576
_WINDOW_BITS = {"gzip": 31, "x-gzip": 31, "deflate": 15}


class Fault(StrEnum):
    """Why there is no whole answer."""

    UNREACHABLE = "no connection could be made"
    TIMEOUT = "no whole answer came in time"
    BROKEN = "the connection broke, or what came is no HTTP"
    TOO_LARGE = "the answer has more than 1 MiB"
    BAD_ENCODING = "the answer has a Content-Encoding that is not what it says, or that nobody asked for"


@dataclass(frozen=True, slots=True)
class Sent:
    """A request. Its headers are sent as they stand, repeated ones too."""

    method: str
    path: str
    body: bytes = field(repr=False)
    headers: tuple[tuple[str, str], ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """`status` is 0 where none came. Header names are lower-case."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    took_s: float
    fault: Fault | None = None

    @property
    def words(self) -> str:
        return self.fault.value if self.fault else f"the answer was {self.status}"


class _Stopped(Exception):
    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault = fault


class Client:
    """Every request has a connection of its own, unless it is sent on a `line()`."""

    def __init__(self, url: str, *, timeout_s: float) -> None:
        self._url = url
        self._timeout_s = timeout_s
        self._tls = ssl.create_default_context() if url.startswith("https:") else False  # where there is no TLS at all
        self._client = self._connected(keep=0)

    async def send(self, sent: Sent) -> Reply:
        return await self._send(self._client, sent)

    def line(self) -> Line:
        """One connection for several requests."""
        return Line(self, self._connected(keep=1))

    async def _send(self, client: httpx.AsyncClient, sent: Sent) -> Reply:
        started = time.monotonic()
        status, headers, body, fault = 0, dict[str, str](), b"", None
        try:
            async with asyncio.timeout(self._timeout_s):
                request = client.build_request(
                    sent.method, self._url + sent.path, content=sent.body or None, headers=list(sent.headers)
                )
                response = await client.send(request, stream=True)
                try:
                    status, headers = response.status_code, {k.lower(): v for k, v in response.headers.items()}
                    body = _decoded(await _wire(response), headers.get("content-encoding", ""))
                finally:
                    await response.aclose()
        except (TimeoutError, httpx.ReadTimeout, httpx.WriteTimeout, httpx.PoolTimeout):
            fault = Fault.TIMEOUT
        except (httpx.ConnectError, httpx.ConnectTimeout):
            fault = Fault.UNREACHABLE
        except httpx.TransportError:
            fault = Fault.BROKEN
        except _Stopped as stopped:
            fault = stopped.fault
        return Reply(status, headers, body, time.monotonic() - started, fault)

    def _connected(self, *, keep: int) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            verify=self._tls,
            trust_env=False,
            timeout=self._timeout_s,
            limits=httpx.Limits(max_connections=100, max_keepalive_connections=keep),
            headers={
                "User-Agent": "knowledge-conformance/1",
                "Accept": "application/json",
                "Accept-Encoding": "gzip, deflate",
            },
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self._client.aclose()


class Line:
    """Requests one after the other on one connection, for as long as the provider keeps it open."""

    def __init__(self, owner: Client, client: httpx.AsyncClient) -> None:
        self._owner = owner
        self._client = client

    async def send(self, sent: Sent) -> Reply:
        return await self._owner._send(self._client, sent)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self._client.aclose()


async def _wire(response: httpx.Response) -> bytes:
    parts, size = [], 0
    async for part in response.aiter_raw():
        parts.append(part)
        size += len(part)
        if size > MAX_BODY_BYTES:
            raise _Stopped(Fault.TOO_LARGE)
    return b"".join(parts)


def _decoded(wire: bytes, encoding: str) -> bytes:
    coding = encoding.strip().lower()
    if coding in ("", "identity") or not wire:
        return wire
    if coding not in _WINDOW_BITS:
        raise _Stopped(Fault.BAD_ENCODING)
    decompressor = zlib.decompressobj(_WINDOW_BITS[coding])
    try:
        body = decompressor.decompress(wire, MAX_BODY_BYTES + 1)
    except zlib.error:
        raise _Stopped(Fault.BAD_ENCODING) from None
    if len(body) > MAX_BODY_BYTES:
        raise _Stopped(Fault.TOO_LARGE)
    if not decompressor.eof:
        raise _Stopped(Fault.BAD_ENCODING)
    return body
