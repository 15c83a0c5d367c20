"""Opens the way to Alexandria for an admitted caller: through which registration, and metered."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from shared.domain.alexandria import catalogue_among
from shared.domain.credentials import Principal
from shared.domain.deadlines import Deadline
from shared.domain.pools import Pool
from shared.domain.registrations import Source
from shared.errors import ExchangeTimeout, NotFound
from shared.ports.clock import Clock
from shared.ports.internal_catalog import InternalCatalog
from shared.ports.meter import Meter, Meters
from shared.services.at_once import in_time

T = TypeVar("T")

# An answer that comes at the last moment still has to be settled.
_SETTLING_S: Final = 0.25


@dataclass(frozen=True, slots=True)
class Way:
    """`source.base_url` is the service's endpoint."""

    source: Source
    meter: Meter


class OpenAlexandria:
    """`endpoint` is where the service is; a registration cannot say otherwise. Nothing is reserved yet."""

    def __init__(self, *, catalog: InternalCatalog, meters: Meters, endpoint: str, clock: Clock) -> None:
        self._catalog = catalog
        self._meters = meters
        self._endpoint = endpoint
        self._clock = clock

    async def __call__(self, principal: Principal, *, named: str | None, deadline: Deadline) -> Way:
        """Raises `NotFound`, in the same words for every provider that cannot be gone through, and `Unavailable`."""
        providers = await in_time(self._catalog.providers(), deadline=deadline, clock=self._clock)
        chosen = catalogue_among(providers, allowed=principal.allowed_providers, named=named)
        if chosen is None:
            raise NotFound("There is no such provider that leads to Alexandria.")
        source = replace(chosen.source, base_url=self._endpoint)
        in_time_to_settle = Deadline(deadline.at_s - _SETTLING_S)
        return Way(source, self._meters.open(source, Pool.FIRECRAWL, deadline=in_time_to_settle))


async def answered(work: Coroutine[Any, Any, T], *, deadline: Deadline, clock: Clock) -> T:
    """By the deadline, whatever the stores behind the meter do. Raises what `work` raises, and `ExchangeTimeout`."""
    try:
        async with asyncio.timeout(deadline.remaining_s(clock.monotonic())):
            return await work
    except TimeoutError:
        raise ExchangeTimeout from None
