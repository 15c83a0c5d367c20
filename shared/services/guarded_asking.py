"""Asks all sources at once, but for those whose circuit is open.

Reading the circuits goes on beside reading the registrations. Where all are well nothing more is read and nothing is
written.
"""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from shared.domain.deadlines import Deadline
from shared.domain.outcomes import GOOD
from shared.ports.circuits import KnownCircuits
from shared.ports.clock import Clock
from shared.services.circuit_keeper import CircuitKeeper
from shared.services.fan_out import FanOut, Inquiry, Replies

if TYPE_CHECKING:
    from shared.services.ask_around import AskAround

T = TypeVar("T")


class GuardedAsking:
    """`ask` answers as `FanOut.ask` does. A source that is not asked is told as `circuit_open` with the time at which
    it may be, or as `disabled`.
    """

    def __init__(self, *, fan_out: FanOut, keeper: CircuitKeeper, clock: Clock) -> None:
        self._fan_out = fan_out
        self._keeper = keeper
        self._clock = clock

    async def known(self) -> KnownCircuits:
        """Raises nothing: what cannot be read holds nobody back."""
        return await self._keeper.known()

    async def beside(self, reading: Coroutine[Any, Any, T]) -> tuple[T, KnownCircuits]:
        """`known`, read at the same time as the registrations. Raises what `reading` raises."""
        return await self._keeper.beside(reading)

    async def ask(
        self, inquiries: Sequence[Inquiry], *, known: KnownCircuits, deadline: Deadline, request_id: str
    ) -> Replies:
        """Cancelling this cancels every question under way."""
        if known.circuits:
            return await self._around.ask(inquiries, known=known, deadline=deadline, request_id=request_id)
        replies = await self._fan_out.ask(inquiries, deadline=deadline, request_id=request_id)
        if not all(reply.outcome.status in GOOD for reply in replies):
            await self._around.settle(replies, known=known, deadline=deadline)
        return replies

    @cached_property
    def _around(self) -> AskAround:
        from shared.services.ask_around import AskAround  # most processes never meet a source that is not well

        return AskAround(fan_out=self._fan_out, keeper=self._keeper, clock=self._clock)
