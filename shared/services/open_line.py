"""Opens a line to one provider for an operator: its secrets, under one ceiling of time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from shared.domain.deadlines import Deadline
from shared.domain.exposure import ExposureProfile
from shared.domain.registrations import Provider, SigningSecrets
from shared.ports.clock import Clock
from shared.ports.exchange import Exchange, Exchanges
from shared.ports.secret_box import Unsealer
from shared.services.ask_signed import opened

CEILING_S = 25.0


@dataclass(frozen=True, slots=True)
class Line:
    """`timeout_ms` is what the provider had left when the line was opened."""

    exchange: Exchange
    secrets: SigningSecrets = field(repr=False)
    timeout_ms: int


class OpenLine:
    """Unsealing counts against the ceiling. Nothing here touches a circuit, a cache or a counter."""

    def __init__(self, *, exchanges: Exchanges, unsealers: Mapping[ExposureProfile, Unsealer], clock: Clock) -> None:
        self._exchanges = exchanges
        self._unsealers = unsealers
        self._clock = clock

    async def __call__(self, provider: Provider, *, timeout_s: float) -> Line:
        """Raises `Unavailable` (`secrets_unavailable`)."""
        ceiling = Deadline.after(CEILING_S, now_s=self._clock.monotonic())
        secrets = await opened(provider.source, self._unsealers[provider.exposure_profile], now=self._clock.now())
        deadline = ceiling.capped(timeout_s, now_s=self._clock.monotonic())
        exchange = self._exchanges.open(provider.source, deadline=deadline)
        return Line(exchange=exchange, secrets=secrets, timeout_ms=exchange.remaining_ms())
