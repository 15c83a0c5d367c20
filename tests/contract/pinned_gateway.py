"""The adapter that asks providers, as one process has it, for tests that ask real servers through it."""

from __future__ import annotations

import asyncio

from shared.adapters.authorities import public_authorities
from shared.adapters.clock import SystemClock
from shared.adapters.event_loop import ProcessLoop
from shared.adapters.exchanges import PinnedExchanges
from shared.domain.deadlines import Deadline
from shared.domain.registrations import Source
from shared.ports.exchange import OutboundAnswer, OutboundRequest, Watch
from tests.support.fake_network import FakeResolver, RecordingDial

CLOCK = SystemClock()
TLS = public_authorities()  # read once: it takes a while


class Gateway:
    """The adapter as one process has it, on one event loop."""

    def __init__(self, **over) -> None:
        self.clock = over.pop("clock", CLOCK)
        self.dial = over.pop("dial", RecordingDial())
        self.exchanges = PinnedExchanges(
            resolver=over.pop("resolver", FakeResolver()),
            clock=self.clock,
            allow_loopback_http=over.pop("allow_loopback_http", True),
            private_network_available=over.pop("private_network_available", False),
            dial=self.dial,
            tls=TLS,
            **over,
        )
        self.loop = ProcessLoop()

    async def send(
        self, source: Source, *, seconds: float = 20, url: str | None = None, watch: Watch | None = None
    ) -> OutboundAnswer:
        line = self.exchanges.open(source, deadline=Deadline.after(seconds, now_s=self.clock.monotonic()))
        return await line.send(
            lambda: OutboundRequest(
                method="POST",
                url=url or f"{source.base_url}/retrieve",
                headers=(("Content-Type", "application/json"),),
                body=b'{"query":"ferry","limit":3}',
            ),
            watch=watch,
        )

    def ask(self, source: Source, **how) -> OutboundAnswer:
        return self.loop.run(self.send(source, **how))

    def close(self) -> None:
        async def closing() -> None:
            self.exchanges.close()
            await asyncio.sleep(0.01)

        self.loop.run(closing())
        self.loop.close()
