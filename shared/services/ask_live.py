"""Asks a hosted live service, through a meter: nothing is sent that was not reserved."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from shared.domain.deadlines import Deadline
from shared.domain.passages import Question, Retrieval
from shared.domain.pools import Pool
from shared.domain.registrations import Source
from shared.ports.clock import Clock
from shared.ports.live_retriever import LiveRetriever
from shared.ports.meter import Meters
from shared.ports.retriever import RetrieverLimits
from shared.ports.secret_box import Unsealer

# An answer that comes at the last moment still has to be settled, or the search would be over before it.
_SETTLING_S: Final = 0.25


class AskLive:
    """Implements `ports.asker.Asker`. `endpoint` is where the service is; a registration cannot say otherwise."""

    def __init__(self, *, retriever: LiveRetriever, meters: Meters, pool: Pool, endpoint: str, clock: Clock) -> None:
        self._retriever = retriever
        self._meters = meters
        self._pool = pool
        self._endpoint = endpoint
        self._clock = clock

    @property
    def limits(self) -> RetrieverLimits:
        return self._retriever.limits

    async def ask(
        self,
        source: Source,
        question: Question,
        *,
        unsealer: Unsealer,  # noqa: ARG002  # its keys lie in a pool, not with the registration
        deadline: Deadline,
    ) -> Retrieval:
        at_service = replace(source, base_url=self._endpoint)
        in_time = Deadline(deadline.at_s - _SETTLING_S)
        own_deadline = in_time.capped(self.limits.timeout_s, now_s=self._clock.monotonic())
        meter = self._meters.open(at_service, self._pool, deadline=own_deadline)
        return await self._retriever.retrieve(at_service, question, meter=meter)
