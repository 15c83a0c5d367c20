"""The transports of all sources, kept apart from each other."""

from __future__ import annotations

import ssl
from collections import OrderedDict
from collections.abc import Callable

from shared.adapters.pinned_transport import PinnedTransport, Terms
from shared.domain.registrations import MAX_PROVIDERS
from shared.ports.clock import Clock

_BETWEEN_SWEEPS_S = 1.0


class ConnectionPools:
    """Of no more sources than one search may ask: the one that was not asked for longest makes room."""

    def __init__(self, clock: Clock, connect: Callable[[Terms, ssl.SSLContext], PinnedTransport]) -> None:
        """`connect` raises `Invalid` for a URL that was never checked."""
        self._clock = clock
        self._connect = connect
        self._transports: OrderedDict[str, PinnedTransport] = OrderedDict()
        self._swept_at_s = clock.monotonic()

    def of(self, source_id: str, terms: Terms, *, tls: ssl.SSLContext) -> PinnedTransport:
        """A source whose terms have changed starts anew. `tls` is the terms' own. Raises `Invalid` like `connect`."""
        self._sweep()
        transport = self._transports.get(source_id)
        if transport and transport.terms != terms:
            transport.close()
        if transport is None or transport.is_closed:
            transport = self._transports[source_id] = self._connect(terms, tls)
        self._transports.move_to_end(source_id)
        if len(self._transports) > MAX_PROVIDERS:
            self._transports.popitem(last=False)[1].close()
        return transport

    def close(self) -> None:
        while self._transports:
            self._transports.popitem()[1].close()

    def _sweep(self) -> None:
        now_s = self._clock.monotonic()
        if now_s - self._swept_at_s >= _BETWEEN_SWEEPS_S:
            self._swept_at_s = now_s
            for transport in self._transports.values():
                transport.close_idle(expired_only=True)
