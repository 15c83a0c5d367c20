"""The connections of one provider: httpcore's, made to checked addresses alone, and used again while they are good."""

from __future__ import annotations

import logging
import ssl
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec

import httpcore
import httpx

from shared.adapters.checked_addresses import checked_addresses
from shared.adapters.pinned_stream import KEEP_ALIVE_S, Dial, PinnedStream
from shared.domain.addresses import AddressPolicy
from shared.domain.registrations import Link
from shared.domain.urls import destination_of
from shared.errors import NeverConnected, Refused
from shared.ports.clock import Clock
from shared.ports.resolver import Resolver

_MOST_IDLE = 4
_MOST_ADDRESSES_TRIED = 8
_PATIENCE_S = 1.0  # for the TCP connection to one address, while there is another to try

# httpcore tries this import, in vain, whenever it takes a lock: each time all of the path would be looked through.
if find_spec("sniffio") is None:
    sys.modules["sniffio"] = None  # type: ignore[assignment]

logging.getLogger("httpcore").setLevel(logging.WARNING)  # below that, its lines show whole requests


@dataclass(frozen=True, slots=True)
class Terms:
    """How one source is reached. Connections are made under all of it, and used under nothing else."""

    base_url: str
    policy: AddressPolicy
    link: Link | None = None  # whose credential it is, and who vouches for the server


class Network:
    """Leads to the checked addresses of one base URL under its policy, and nowhere else.

    Raises `Invalid` for a base URL that was never checked.
    """

    def __init__(self, terms: Terms, *, resolver: Resolver, clock: Clock, dial: Dial) -> None:
        self.destination = destination_of(terms.base_url)
        self._policy = terms.policy
        self._resolver = resolver
        self._clock = clock
        self._dial = dial

    async def connect(self) -> PinnedStream:
        """To the first checked address that takes the connection. Raises the `ExchangeError` family."""
        addresses = await checked_addresses(self.destination, self._policy, resolver=self._resolver)
        candidates = addresses[:_MOST_ADDRESSES_TRIED]
        for number, address in enumerate(candidates, start=1):
            patience_s = _PATIENCE_S if number < len(candidates) else None
            try:
                return await self._dial(address, self.destination.port, clock=self._clock, patience_s=patience_s)
            except OSError:
                continue
        raise NeverConnected


class PinnedConnection:
    """One connection and what speaks HTTP on it. For one exchange at a time."""

    def __init__(self, stream: PinnedStream, origin: httpcore.Origin) -> None:
        self.stream = stream
        self._http = httpcore.AsyncHTTP11Connection(origin, stream, keepalive_expiry=KEEP_ALIVE_S)

    async def send(self, request: httpcore.Request) -> httpcore.Response:
        """Raises the `ExchangeError` family."""
        try:
            return await self._http.handle_async_request(request)
        except httpcore.LocalProtocolError:
            raise Refused("not_configured") from None  # a header that cannot be sent: our own side is at fault
        except httpcore.RemoteProtocolError:
            raise Refused("invalid_response") from None

    @property
    def has_ended_well(self) -> bool:
        """Whether its last exchange was complete, on both sides."""
        return self._http.is_idle()

    @property
    def is_still_good(self) -> bool:
        """Whether another exchange may begin, which is asked of the stream too."""
        return not self._http.has_expired()


class PinnedTransport:
    """The connections of one source under one set of terms; never used under any other."""

    def __init__(self, terms: Terms, *, network: Network, tls: ssl.SSLContext) -> None:
        self.base_url = terms.base_url
        self.terms = terms
        self.authority = network.destination.authority
        self.is_closed = False
        self._network = network
        self._usual: tuple[str, httpcore.URL] | None = None
        self._origin = self.url(terms.base_url).origin
        self._tls = tls if network.destination.scheme == "https" else None
        self._idle: list[PinnedConnection] = []

    def url(self, text: str) -> httpcore.URL:
        """In its normal form. The last one without a query is remembered: most sources are asked at one URL."""
        if self._usual is not None and self._usual[0] == text:
            return self._usual[1]
        url = httpx.URL(text)
        parsed = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        if "?" not in text:
            self._usual = (text, parsed)
        return parsed

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[PinnedConnection]:
        """For one exchange: the connection used last, if it is still good, or a new one. It is closed at once where
        the exchange ends with an error, a cancellation too, and where it can carry no other. Raises the
        `ExchangeError` family.
        """
        connection = self._used_before() or await self._new()
        try:
            yield connection
        except BaseException:
            connection.stream.abort()
            raise
        self._keep(connection)

    def close(self) -> None:
        """Closes every idle connection at once, and each one under way when its answer is there."""
        self.is_closed = True
        self.close_idle()

    def close_idle(self, *, expired_only: bool = False) -> None:
        idle = self._idle
        self._idle = [each for each in idle if expired_only and not each.stream.has_expired()]
        for connection in idle:
            if connection not in self._idle:
                connection.stream.abort()

    def _used_before(self) -> PinnedConnection | None:
        while self._idle:
            connection = self._idle.pop()
            if connection.is_still_good:
                return connection
            connection.stream.abort()
        return None

    async def _new(self) -> PinnedConnection:
        stream = await self._network.connect()
        if self._tls is not None:
            await stream.start_tls(self._tls, server_hostname=self._origin.host.decode())
        return PinnedConnection(stream, self._origin)

    def _keep(self, connection: PinnedConnection) -> None:
        if self.is_closed or not connection.has_ended_well:
            connection.stream.abort()
            return
        self._idle.append(connection)
        if len(self._idle) > _MOST_IDLE:
            self._idle.pop(0).stream.abort()
