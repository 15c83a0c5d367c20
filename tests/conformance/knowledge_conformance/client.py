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
_CERTIFICATES = {  # by OpenSSL's number
    9: "it is not valid yet",
    10: "it has expired",
    18: "it is signed by itself alone",
    19: "its chain ends in one that is signed by itself and that this machine does not trust",
    20: "a certificate between it and one that this machine trusts is missing",
    21: "a certificate between it and one that this machine trusts is missing",
    62: "it is for another host name",
    64: "it is for another address",
}
_WINDOW_BITS = {"gzip": 31, "x-gzip": 31, "deflate": 15}


class Fault(StrEnum):
    """Why there is no whole answer."""

    UNREACHABLE = "no connection could be made"
    CERTIFICATE = "the certificate of the address does not hold"
    TLS = "TLS could not be agreed on"
    TIMEOUT = "no whole answer came in time"
    BROKEN = "the connection broke, or what came is no HTTP"
    TOO_LARGE = "the answer has more than 1 MiB"
    BAD_ENCODING = "the answer has a Content-Encoding that is not what it says, or that nobody asked for"


NO_CONNECTION = (Fault.UNREACHABLE, Fault.CERTIFICATE, Fault.TLS)


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
    is_cut: bool = False  # a refusal, whose body was not read to its end
    detail: str = ""

    @property
    def is_whole(self) -> bool:
        return self.fault is None and self.status == 200

    @property
    def words(self) -> str:
        if self.fault is Fault.TIMEOUT and self.status:
            return f"the answer began with {self.status} and did not end in time: is its Content-Length true?"
        told = self.fault.value if self.fault else f"the answer was {self.status}"
        return f"{told}: {self.detail}" if self.detail else told


class _Stopped(Exception):
    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault = fault


class Client:
    """Every request has a connection of its own, unless it is sent on a `line()`."""

    def __init__(self, url: str, *, timeout_s: float) -> None:
        self._url = url
        self._timeout_s = timeout_s
        self.answered = 0  # how many requests got a whole 200 so far
        self.broken = 0  # and how many no connection, or one that broke
        self._tls = ssl.create_default_context() if url.startswith("https:") else False  # where there is no TLS at all
        self._client = self._connected(keep=0)

    async def send(self, sent: Sent) -> Reply:
        return await self._send(self._client, sent)

    def line(self) -> Line:
        """One connection for several requests."""
        return Line(self, self._connected(keep=1))

    async def _send(self, client: httpx.AsyncClient, sent: Sent) -> Reply:
        started = time.monotonic()
        status, headers, body, fault, detail, is_cut = 0, dict[str, str](), b"", None, "", False
        try:
            async with asyncio.timeout(self._timeout_s):
                request = client.build_request(
                    sent.method, self._url + sent.path, content=sent.body or None, headers=_in_bytes(sent)
                )
                response = await client.send(request, stream=True)
                try:
                    status, headers = response.status_code, {k.lower(): v for k, v in response.headers.items()}
                    body = _decoded(await _wire(response), headers.get("content-encoding", ""))
                finally:
                    await response.aclose()
        except (TimeoutError, httpx.ReadTimeout, httpx.WriteTimeout, httpx.PoolTimeout):
            fault = Fault.TIMEOUT
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            fault, detail = _why(error)
        except httpx.TransportError:
            fault = Fault.BROKEN
        except _Stopped as stopped:
            # The body of a refusal is not read, so nothing in it is a fault of the answer.
            fault = None if status >= 300 else stopped.fault
            is_cut = stopped.fault is Fault.TOO_LARGE
        self.answered += fault is None and status == 200
        self.broken += fault in (*NO_CONNECTION, Fault.BROKEN)
        return Reply(status, headers, body, time.monotonic() - started, fault, is_cut, detail)

    def _connected(self, *, keep: int) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            verify=self._tls,
            trust_env=False,
            timeout=httpx.Timeout(self._timeout_s, connect=self._timeout_s * 0.8),
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


def _in_bytes(sent: Sent) -> list[tuple[bytes, bytes]]:
    """Names in ASCII; values as they stand, in UTF-8."""
    return [(name.encode("ascii"), value.encode()) for name, value in sent.headers]


def _why(error: BaseException) -> tuple[Fault, str]:
    """Why there is no connection, and what is wrong with a certificate, in words of ours."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return Fault.CERTIFICATE, _CERTIFICATES.get(cause.verify_code, "it cannot be verified")
        if isinstance(cause, ssl.SSLError):
            return Fault.TLS, "does the port speak HTTPS?"
        cause = cause.__cause__ or cause.__context__
    return Fault.UNREACHABLE, ""


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
