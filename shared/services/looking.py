"""What all looks at providers have in common: one piece of work in bounded time, whose failure is what was found."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from shared.domain.circuits import LONGEST_HOLD_S
from shared.domain.deadlines import Deadline
from shared.domain.health import Finding, Look
from shared.domain.outcomes import OutcomeCode, outcome_code_of
from shared.domain.passages import Warning_
from shared.domain.registrations import Source
from shared.errors import ExchangeError, Unavailable
from shared.ports.clock import Clock
from shared.ports.exchange import Exchange, Exchanges, OutboundAnswer, OutboundRequest, Watch

# It is well and takes no more, or wants to be paid: whatever a kind makes of that in a search.
_LIMITS: Final = frozenset({402, 429})
_LETTING_GO_S: Final = 0.1  # so that a request's own time is over first


class NotedExchange:
    """An `Exchange` that notes how it was answered last: None where it was not."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self.has_sent = False
        self.status: int | None = None

    def remaining_ms(self) -> int:
        return self._exchange.remaining_ms()

    async def send(self, build: Callable[[], OutboundRequest], *, watch: Watch | None = None) -> OutboundAnswer:
        self.has_sent = True
        answer = await self._exchange.send(build, watch=watch)
        self.status = answer.status
        return answer


Work: TypeAlias = "Callable[[NotedExchange], Awaitable[tuple[Warning_, ...]]]"


class Looking:
    """Raises nothing of a provider's. A secret or a row of the gateway's own that cannot be had is `not_configured`, as
    it would be in a search: the provider was not asked.
    """

    def __init__(self, look: Look, *, exchanges: Exchanges, clock: Clock) -> None:
        self._look = look
        self._exchanges = exchanges
        self._clock = clock

    async def __call__(self, source: Source, work: Work, *, deadline: Deadline) -> Finding:
        """`work` gives what was noticed, and raises the `ExchangeError` family, or `Unavailable`."""
        started_s = self._clock.monotonic()
        exchange = NotedExchange(self._exchanges.open(source, deadline=deadline))
        code, retry_at = None, None
        warnings: tuple[Warning_, ...] = ()
        try:
            async with asyncio.timeout(deadline.remaining_s(started_s) + _LETTING_GO_S):
                warnings = await work(exchange)
        except ExchangeError as error:
            code = OutcomeCode.RATE_LIMITED if exchange.status in _LIMITS else outcome_code_of(error)
            retry_at = self._bounded(error.retry_at)
        except Unavailable:
            code = OutcomeCode.NOT_CONFIGURED
        except TimeoutError:
            code = OutcomeCode.TIMEOUT if exchange.has_sent else OutcomeCode.NOT_CONFIGURED
        duration_ms = round((self._clock.monotonic() - started_s) * 1000)
        return Finding(look=self._look, code=code, retry_at=retry_at, duration_ms=duration_ms, warnings=warnings)

    def _bounded(self, retry_at: float | None) -> float | None:
        return None if retry_at is None else min(retry_at, self._clock.now() + LONGEST_HOLD_S)
