"""Lines to providers: every address checked, every connection pinned, everything over by the deadline."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import cast

import httpcore
import httpx

from shared.adapters import pinned_stream
from shared.adapters.authorities import Authorities
from shared.adapters.bounded_body import ACCEPTED_CODINGS, MAX_BODY_BYTES, BoundedBody
from shared.adapters.checked_addresses import NetworkRules
from shared.adapters.connection_pools import ConnectionPools
from shared.adapters.pinned_stream import Dial, PinnedStream
from shared.adapters.pinned_transport import Network, PinnedTransport, Terms
from shared.domain.deadlines import Deadline
from shared.domain.registrations import Source
from shared.errors import (
    BlockedAddress,
    ConnectionDropped,
    ConnectionFailed,
    ExchangeError,
    ExchangeTimeout,
    Invalid,
    NeverConnected,
    Refused,
)
from shared.ports.clock import Clock
from shared.ports.exchange import Exchange, OutboundAnswer, OutboundRequest, Watch
from shared.ports.resolver import Resolver

_MAX_FRAMING_BYTES = 65_536  # chunk sizes and what is read ahead, beyond the body itself


class PinnedExchanges:
    """One object a process. `tls` replaces the public certificate authorities; `dial` is how a connection is made."""

    def __init__(
        self,
        *,
        resolver: Resolver,
        clock: Clock,
        allow_loopback_http: bool,
        private_network_available: bool,
        tls: ssl.SSLContext | None = None,
        dial: Dial = pinned_stream.dial,
    ) -> None:
        self._rules = NetworkRules(
            allow_loopback_http=allow_loopback_http, private_network_available=private_network_available
        )
        self._clock = clock
        self._authorities = Authorities(tls)

        def connect(terms: Terms, tls: ssl.SSLContext) -> PinnedTransport:
            network = Network(terms, resolver=resolver, clock=clock, dial=dial)
            return PinnedTransport(terms, network=network, tls=tls)

        self._connect = connect
        self._pools = ConnectionPools(clock, connect)

    def open(self, source: Source, *, deadline: Deadline) -> Exchange:
        find = partial(self._transport, source, self._pools)
        return PinnedExchange(find, deadline=deadline, clock=self._clock, may_send_again=True)

    @asynccontextmanager
    async def open_once(self, source: Source, *, deadline: Deadline) -> AsyncIterator[Exchange]:
        own = ConnectionPools(self._clock, self._connect)
        find = partial(self._transport, source, own)
        try:
            yield PinnedExchange(find, deadline=deadline, clock=self._clock, may_send_again=False)
        finally:
            own.close()

    async def _transport(self, source: Source, pools: ConnectionPools) -> PinnedTransport:
        """Raises `BlockedAddress` for a stored URL that could never have been checked, and `Refused`."""
        link = source.link
        policy = self._rules.policy(
            allow_private_network=source.allow_private_network,
            allow_plain_http=link is not None and link.allow_plain_http,
        )
        tls = await self._authorities.trusting(link.private_authority if link else None)
        try:
            return pools.of(source.id, Terms(source.base_url, policy, link), tls=tls)
        except Invalid:
            raise BlockedAddress from None

    def close(self) -> None:
        """Closes every idle connection."""
        self._pools.close()


class PinnedExchange:
    """See `Exchange`. `find` gives the transport to send through, or refuses."""

    def __init__(
        self, find: Callable[[], Awaitable[PinnedTransport]], *, deadline: Deadline, clock: Clock, may_send_again: bool
    ) -> None:
        self._may_send_again = may_send_again
        self._find = find
        self._deadline = deadline
        self._clock = clock

    def remaining_ms(self) -> int:
        return int(self._deadline.remaining_s(self._clock.monotonic()) * 1000)

    async def send(self, build: Callable[[], OutboundRequest], *, watch: Watch | None = None) -> OutboundAnswer:
        remaining_s = self._deadline.remaining_s(self._clock.monotonic())
        if remaining_s <= 0:
            raise ExchangeTimeout
        try:
            async with asyncio.timeout(remaining_s):
                answer = await self._send(build, watch)
        except TimeoutError:
            raise ExchangeTimeout from None
        if self._deadline.remaining_s(self._clock.monotonic()) <= 0:
            raise ExchangeTimeout  # others held up the event loop: reading this answer now would hold up everybody
        return answer

    async def _send(self, build: Callable[[], OutboundRequest], watch: Watch | None) -> OutboundAnswer:
        transport = await self._find()
        try:
            return await _answer(transport, build(), watch)
        except ConnectionDropped:
            if not self._may_send_again:
                raise ConnectionFailed from None
            transport.close_idle()  # it died while it lay idle, unanswered: send once more, on a fresh connection
        try:
            return await _answer(transport, build(), watch)
        except (NeverConnected, BlockedAddress):
            raise ConnectionFailed from None  # of the first sending nobody can say that nothing was done


async def _answer(transport: PinnedTransport, request: OutboundRequest, watch: Watch | None) -> OutboundAnswer:
    outgoing = _as_httpcore(request, transport, watch)
    async with transport.connection() as connection:
        response = await connection.send(outgoing)
        answer = await _complete(response, connection.stream, watch)
        await response.aclose()
    return answer


def _as_httpcore(request: OutboundRequest, transport: PinnedTransport, watch: Watch | None) -> httpcore.Request:
    base_url = transport.base_url
    if not request.url.startswith(base_url) or request.url[len(base_url) :][:1] not in ("/", "?", ""):
        raise BlockedAddress  # a line to one source leads nowhere else
    codings = ACCEPTED_CODINGS if watch is None else "identity"
    framing = [("Content-Length", str(len(request.body)))] if request.body else []
    headers = [("Host", transport.authority), ("Accept-Encoding", codings), *request.headers, *framing]
    return httpcore.Request(request.method, transport.url(request.url), headers=headers, content=request.body)


async def _complete(response: httpcore.Response, stream: PinnedStream, watch: Watch | None) -> OutboundAnswer:
    if response.extensions["network_stream"] is not stream:
        raise Refused("invalid_response")  # it wants to speak another protocol
    body = BoundedBody(headers := dict(httpx.Headers(response.headers).items()))
    chunks = aiter(cast("AsyncIterable[bytes]", response.stream))
    try:
        if watch is not None and not body.is_coded:
            if await _watched(chunks, stream, body, partial(watch, headers)):
                await stream.aclose()  # the rest is not read, so nothing else can be asked on it
                return OutboundAnswer(status=response.status, headers=headers, body=body.complete())
        elif raw := await _raw_body(chunks, stream):
            body.feed(raw)
        decoded = body.complete()
        if watch is not None and body.is_coded:
            watch(headers, decoded)
        stream.complete()
    except httpcore.RemoteProtocolError:
        raise (ConnectionFailed() if stream.was_read_to_its_end else Refused("invalid_response")) from None
    return OutboundAnswer(status=response.status, headers=headers, body=decoded)


async def _watched(
    chunks: AsyncIterator[bytes], stream: PinnedStream, body: BoundedBody, has_seen_enough: Callable[[bytes], bool]
) -> bool:
    """Whether the watch ended the reading."""
    stream.begin_body(framing_bytes=_MAX_FRAMING_BYTES)
    is_whole = False
    try:
        async for chunk in chunks:
            stream.allow(len(chunk))
            body.feed(chunk)
            if has_seen_enough(chunk):
                return True
        is_whole = True
        return False
    finally:
        if not is_whole:
            await _wind_up(chunks, stream)


async def _wind_up(chunks: AsyncIterator[bytes], stream: PinnedStream) -> None:
    """Left in the middle, the generators that read an answer would be closed later, by tasks that nobody waits for."""
    stream.stop()
    with suppress(httpcore.RemoteProtocolError, ExchangeError):
        async for _ in chunks:
            pass


async def _raw_body(chunks: AsyncIterator[bytes], stream: PinnedStream) -> bytes:
    """As it is on the wire. Too much of it, and framing that outgrows it, ends the next reading."""
    stream.begin_body(framing_bytes=_MAX_FRAMING_BYTES)
    raw = bytearray()
    async for chunk in chunks:
        raw += chunk
        if len(raw) <= MAX_BODY_BYTES:
            stream.allow(len(chunk))
    return bytes(raw)
