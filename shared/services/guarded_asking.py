"""Asks all sources at once, but for those whose circuit is open.

Reading the circuits goes on beside reading the registrations. Where all are well nothing more is read and nothing is
written.
"""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import Any, Final, TypeVar

from shared.domain.deadlines import Deadline
from shared.domain.outcomes import GOOD, outcome_code_of
from shared.domain.replies import Reply, reply_without
from shared.ports.circuits import KnownCircuits
from shared.ports.clock import Clock
from shared.services.at_once import both
from shared.services.circuit_door import CircuitDoor, Passes, is_well
from shared.services.circuit_keeper import SETTLING_S, CircuitKeeper
from shared.services.fan_out import FanOut, Inquiry, Replies

T = TypeVar("T")

_SETTLED_BY_S: Final = 0.03  # after the deadline, when everybody took all the time there was


class GuardedAsking:
    """`ask` answers as `FanOut.ask` does. A source that is not asked is told as `circuit_open` with the time at which
    it may be, or as `disabled`.
    """

    def __init__(self, *, fan_out: FanOut, keeper: CircuitKeeper, clock: Clock) -> None:
        self._fan_out = fan_out
        self._keeper = keeper
        self._clock = clock
        self._door = CircuitDoor(keeper=keeper, clock=clock)

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
            return await self._ask_around(inquiries, known=known, deadline=deadline, request_id=request_id)
        replies = await self._fan_out.ask(inquiries, deadline=deadline, request_id=request_id)
        if not all(reply.outcome.status in GOOD for reply in replies):
            await self._settle(replies, Passes(known=known), known=known, deadline=deadline)
        return replies

    async def _ask_around(
        self, inquiries: Sequence[Inquiry], *, known: KnownCircuits, deadline: Deadline, request_id: str
    ) -> Replies:
        """Those that wait for a trial are asked beside the others: claiming it keeps nobody waiting."""
        now = self._clock.now()
        well = {each.source.id for each in inquiries if is_well(each.source, known, now=now)}
        free = [each for each in inquiries if each.source.id in well]
        waiting = [each for each in inquiries if each.source.id not in well]
        asked, (tried, passes) = await both(
            self._fan_out.ask(free, deadline=deadline, request_id=request_id),
            self._try(waiting, known=known, deadline=deadline, request_id=request_id),
        )
        await self._settle((*asked, *tried), passes, known=known, deadline=deadline)
        every = {reply.source.id: reply for reply in (*asked, *tried)}
        return tuple(every[each.source.id] for each in inquiries)

    async def _try(
        self, waiting: Sequence[Inquiry], *, known: KnownCircuits, deadline: Deadline, request_id: str
    ) -> tuple[Replies, Passes]:
        """Asks those whose trial this request gets, and those that were found well meanwhile."""
        passes = await self._door.passes([each.source for each in waiting], known=known, deadline=deadline)
        let_in = [each for each in waiting if each.source.id in passes.asked]
        left = [self._not_asked(each, passes) for each in waiting if each.source.id not in passes.asked]
        replies = await self._fan_out.ask(let_in, deadline=deadline, request_id=request_id)
        return (*replies, *left), passes

    def _not_asked(self, inquiry: Inquiry, passes: Passes) -> Reply:
        refusal = self._door.refusal(inquiry.source, known=passes.known)
        return reply_without(inquiry.source, outcome_code_of(refusal), was_asked=False, retry_at=refusal.retry_at)

    async def _settle(self, replies: Replies, passes: Passes, *, known: KnownCircuits, deadline: Deadline) -> None:
        said = {
            reply.source.id: self._door.incident(
                reply.source,
                reply.outcome,
                known=known,
                passes=passes,
                own_limit_ms=round(self._fan_out.limit_s(reply.source) * 1000),
            )
            for reply in replies
        }
        incidents = {id_: incident for id_, incident in said.items() if incident is not None}
        left_s = deadline.remaining_s(self._clock.monotonic() - _SETTLED_BY_S)
        await self._keeper.settle(incidents, known=passes.known, within_s=min(SETTLING_S, left_s))
