"""Looks at a provider that speaks the contract: its capabilities, signed like every request to it."""

from __future__ import annotations

from collections.abc import Mapping

from shared.domain.deadlines import Deadline
from shared.domain.exposure import ExposureProfile
from shared.domain.health import Finding, Look
from shared.domain.passages import Warning_
from shared.domain.registrations import Provider
from shared.ports.clock import Clock
from shared.ports.exchange import Exchanges
from shared.ports.retriever import Retriever
from shared.ports.secret_box import Unsealer
from shared.services.ask_signed import opened
from shared.services.looking import Looking, NotedExchange


class CheckSigned:
    """Implements `ports.check.Check`. A provider without such a page declares nothing; one that declares something else
    than its registration says is noticed, and the registration stays as it is.
    """

    def __init__(
        self,
        *,
        retriever: Retriever,
        exchanges: Exchanges,
        unsealers: Mapping[ExposureProfile, Unsealer],
        clock: Clock,
    ) -> None:
        self._retriever = retriever
        self._unsealers = unsealers
        self._clock = clock
        self._look = Looking(Look.CAPABILITIES, exchanges=exchanges, clock=clock)

    async def __call__(self, provider: Provider, *, deadline: Deadline) -> Finding:
        source = provider.source

        async def read(exchange: NotedExchange) -> tuple[Warning_, ...]:
            secrets = await opened(source, self._unsealers[provider.exposure_profile], now=self._clock.now())
            said = await self._retriever.declare(source, secrets=secrets, exchange=exchange)
            return () if said.capabilities == source.capabilities else (Warning_.CAPABILITIES_CHANGED,)

        return await self._look(source, read, deadline=deadline)
