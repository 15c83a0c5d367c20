"""A name service and a way to connect that tests can watch and bend."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from shared.adapters import pinned_stream
from shared.adapters.pinned_stream import PinnedStream
from shared.errors import ConnectionFailed
from shared.ports.clock import Clock


@dataclass(slots=True)
class FakeResolver:
    """`names` maps a host to its addresses, or to an error to raise. Unknown names do not resolve."""

    names: dict[str, list[str] | Exception] = field(default_factory=dict)
    lookups: list[str] = field(default_factory=list)
    delay_s: float = 0.0

    async def resolve(self, host: str, port: int) -> tuple[str, ...]:
        self.lookups.append(host)
        await asyncio.sleep(self.delay_s)
        answer = self.names.get(host, ConnectionFailed())
        if isinstance(answer, Exception):
            raise answer
        return tuple(answer)


@dataclass(slots=True)
class RecordingDial:
    """Notes every address that is dialled, then really connects: to that address, or to `port` on this machine.

    Addresses in `unreachable` refuse; those in `silent` never answer the connection attempt.
    """

    reroute_to_port: int | None = None
    unreachable: frozenset[str] = frozenset()
    silent: frozenset[str] = frozenset()
    dialled: list[str] = field(default_factory=list)

    async def __call__(self, address: str, port: int, *, clock: Clock, patience_s: float | None) -> PinnedStream:
        self.dialled.append(address)
        if address in self.unreachable:
            raise OSError("unreachable")
        if address in self.silent:
            async with asyncio.timeout(patience_s):
                await asyncio.Event().wait()
        if self.reroute_to_port is not None:
            address, port = "127.0.0.1", self.reroute_to_port
        return await pinned_stream.dial(address, port, clock=clock, patience_s=patience_s)
