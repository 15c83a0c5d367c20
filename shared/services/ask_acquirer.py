"""Has one hosted live service fetch one source, over a meter and at the service's own endpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from shared.domain.acquiring import AcquireWish
from shared.domain.acquisitions import Acquired, Wanted
from shared.domain.deadlines import Deadline
from shared.domain.outcomes import OutcomeCode
from shared.domain.pools import POOL_OF
from shared.domain.registrations import ProviderKind, Source
from shared.errors import ExchangeTimeout, Refused
from shared.ports.clock import Clock
from shared.ports.live_retriever import Acquirer
from shared.ports.meter import Meters

# A service that answers at the last moment is still settled with before the answer is due.
_SETTLING_S: Final = 0.25


class AskAcquirer:
    """A kind that is not here is `not_configured`."""

    def __init__(
        self,
        *,
        acquirers: Mapping[ProviderKind, Acquirer],
        endpoints: Mapping[ProviderKind, str],
        meters: Meters,
        clock: Clock,
    ) -> None:
        self._acquirers = acquirers
        self._endpoints = endpoints
        self._meters = meters
        self._clock = clock

    async def __call__(self, source: Source, wish: AcquireWish, *, deadline: Deadline) -> Acquired:
        """By the deadline, whatever the service and the stores behind the meter do."""
        acquirer = self._acquirers.get(source.kind)
        if acquirer is None:
            raise Refused(OutcomeCode.NOT_CONFIGURED)
        at_service = replace(source, base_url=self._endpoints[source.kind])
        earlier = Deadline(at_s=deadline.at_s - _SETTLING_S)
        meter = self._meters.open(at_service, POOL_OF[source.kind], deadline=earlier)
        wanted = Wanted(url=wish.url, freshness=wish.freshness)
        try:
            async with asyncio.timeout(deadline.remaining_s(self._clock.monotonic())):
                return await acquirer.acquire(at_service, wanted, meter=meter)
        except TimeoutError:
            raise ExchangeTimeout from None
