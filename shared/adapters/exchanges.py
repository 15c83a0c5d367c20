"""Lines to providers: every address checked, every connection pinned, everything over by the deadline."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import dataclass

import certifi

from shared.adapters import pinned_stream
from shared.adapters.checked_addresses import NetworkRules, checked_addresses
from shared.adapters.connection_pools import ConnectionPools, Kept, SourcePool
from shared.adapters.pinned_connection import PinnedConnection
from shared.adapters.pinned_stream import Dial, PinnedStream
from shared.domain.deadlines import Deadline
from shared.domain.registrations import Source
from shared.errors import BlockedAddress, ConnectionDropped, ConnectionFailed, ExchangeTimeout, Invalid
from shared.ports.clock import Clock
from shared.ports.exchange import Exchange, OutboundAnswer, OutboundRequest
from shared.ports.resolver import Resolver

_MOST_ADDRESSES_TRIED = 8
_PATIENCE_S = 1.0  # for the TCP connection to one address, while there is another to try


def public_authorities() -> ssl.SSLContext:
    """TLS that trusts the public certificate authorities and always verifies; no environment variable changes it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_verify_locations(certifi.where())
    return context


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
        self._pools = ConnectionPools(clock)
        self._dialler = _Dialler(resolver=resolver, tls=tls or public_authorities(), dial=dial)

    def open(self, source: Source, *, deadline: Deadline) -> Exchange:
        policy = self._rules.policy(allow_private_network=source.allow_private_network)
        try:
            pool = self._pools.of(source.id, base_url=source.base_url, policy=policy)
        except Invalid:
            pool = None
        return PinnedExchange(pool=pool, deadline=deadline, clock=self._clock, dialler=self._dialler)

    def close(self) -> None:
        """Closes every idle connection."""
        self._pools.close()


class PinnedExchange:
    """See `Exchange`. Without a pool (a stored URL that could never have been checked) everything is refused."""

    def __init__(self, *, pool: SourcePool | None, deadline: Deadline, clock: Clock, dialler: _Dialler) -> None:
        self._pool = pool
        self._deadline = deadline
        self._clock = clock
        self._dialler = dialler

    def remaining_ms(self) -> int:
        return int(self._deadline.remaining_s(self._clock.monotonic()) * 1000)

    async def send(self, build: Callable[[], OutboundRequest]) -> OutboundAnswer:
        if self._pool is None:
            raise BlockedAddress
        remaining_s = self._deadline.remaining_s(self._clock.monotonic())
        if remaining_s <= 0:
            raise ExchangeTimeout
        try:
            async with asyncio.timeout(remaining_s):
                return await self._send(self._pool, build)
        except TimeoutError:
            raise ExchangeTimeout from None

    async def _send(self, pool: SourcePool, build: Callable[[], OutboundRequest]) -> OutboundAnswer:
        kept = pool.take()
        if kept is not None:
            try:
                return await _answer(pool, kept, build())
            except ConnectionDropped:
                pass  # it died while it lay idle: nothing was answered, so sending again is safe
        return await _answer(pool, await self._connect(pool), build())

    async def _connect(self, pool: SourcePool) -> Kept:
        stream = await self._dialler.connect(pool)
        connection = PinnedConnection(stream, destination=pool.destination)
        now_s = self._clock.monotonic()
        return Kept(connection, opened_at_s=now_s, idle_since_s=now_s, idle_since=self._clock.now())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Dialler:
    resolver: Resolver
    tls: ssl.SSLContext
    dial: Dial

    async def connect(self, pool: SourcePool) -> PinnedStream:
        """To the first checked address that takes the connection. Raises the `ExchangeError` family."""
        to = pool.destination
        addresses = await checked_addresses(to, pool.policy, resolver=self.resolver)
        candidates = addresses[:_MOST_ADDRESSES_TRIED]
        for number, address in enumerate(candidates, start=1):
            patience_s = _PATIENCE_S if number < len(candidates) else None
            tls = self.tls if to.scheme == "https" else None
            try:
                return await self.dial(address, to.port, tls=tls, tls_name=to.host, patience_s=patience_s)
            except ssl.SSLError:
                break  # somebody is there and is not who they should be
            except OSError:
                continue
        raise ConnectionFailed


async def _answer(pool: SourcePool, kept: Kept, request: OutboundRequest) -> OutboundAnswer:
    try:
        if not request.url.startswith(pool.base_url) or request.url[len(pool.base_url) :][:1] not in ("/", "?", ""):
            raise BlockedAddress  # a line to one source leads nowhere else
        answer = await kept.connection.answer_to(request)
    except BaseException:
        kept.connection.abort()
        raise
    pool.give_back(kept)
    return answer
