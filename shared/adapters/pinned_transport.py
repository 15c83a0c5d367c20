"""httpx's transport for one provider: httpcore's connection pool over connections to checked addresses alone."""

from __future__ import annotations

import logging
import ssl
import sys
from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, cast
from weakref import WeakSet

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


class Network(httpcore.AsyncNetworkBackend):
    """Leads to the checked addresses of one base URL under its policy, whatever host it is asked for.

    Raises `Invalid` for a base URL that was never checked.
    """

    def __init__(self, terms: Terms, *, resolver: Resolver, clock: Clock, dial: Dial) -> None:
        self.destination = destination_of(terms.base_url)
        self.streams: WeakSet[PinnedStream] = WeakSet()
        self._policy = terms.policy
        self._resolver = resolver
        self._clock = clock
        self._dial = dial

    async def connect_tcp(self, *_: Any, **__: Any) -> PinnedStream:
        """To the first checked address that takes the connection. Raises the `ExchangeError` family."""
        addresses = await checked_addresses(self.destination, self._policy, resolver=self._resolver)
        candidates = addresses[:_MOST_ADDRESSES_TRIED]
        for number, address in enumerate(candidates, start=1):
            patience_s = _PATIENCE_S if number < len(candidates) else None
            try:
                stream = await self._dial(address, self.destination.port, clock=self._clock, patience_s=patience_s)
            except OSError:
                continue
            self.streams.add(stream)
            return stream
        raise NeverConnected


class PinnedTransport(httpx.AsyncBaseTransport):
    """The connections of one source under one set of terms; never used under any other."""

    def __init__(self, terms: Terms, *, network: Network, tls: ssl.SSLContext) -> None:
        self.base_url = terms.base_url
        self.terms = terms
        self.authority = network.destination.authority
        self.is_closed = False
        self._network = network
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=tls,
            max_connections=None,
            max_keepalive_connections=_MOST_IDLE,
            keepalive_expiry=KEEP_ALIVE_S,
            network_backend=network,
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Raises the `ExchangeError` family."""
        url = request.url
        target = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        try:
            answer = await self._pool.handle_async_request(
                httpcore.Request(request.method, target, headers=request.headers.raw, content=request.stream)
            )
        except httpcore.LocalProtocolError:
            raise Refused("not_configured") from None  # a header that cannot be sent: our own side is at fault
        except httpcore.RemoteProtocolError:
            raise Refused("invalid_response") from None
        return httpx.Response(answer.status, headers=answer.headers, stream=_Body(answer), extensions=answer.extensions)

    def close(self) -> None:
        """Closes every idle connection; after an answer still under way, call it again."""
        self.is_closed = True
        self.close_idle()

    def close_idle(self, *, expired_only: bool = False) -> None:
        for stream in list(self._network.streams):
            stream.close_if_idle(expired_only=expired_only)


class _Body(httpx.AsyncByteStream):
    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    def __aiter__(self) -> AsyncIterator[bytes]:
        return aiter(cast("AsyncIterable[bytes]", self._answer.stream))

    async def aclose(self) -> None:
        await self._answer.aclose()
