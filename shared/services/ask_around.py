"""Asks sources of which not all are well. Loaded when there is one."""

from __future__ import annotations

from collections.abc import Sequence

from shared.domain.deadlines import Deadline
from shared.domain.outcomes import outcome_code_of
from shared.domain.registrations import Source
from shared.domain.replies import Reply, reply_without
from shared.ports.circuits import KnownCircuits
from shared.ports.clock import Clock
from shared.services.at_once import both
from shared.services.circuit_door import CircuitDoor, Passes, is_well
from shared.services.circuit_keeper import CircuitKeeper
from shared.services.circuit_writer import settling_times
from shared.services.fan_out import FanOut, Inquiry, Replies


class AskAround:
    """`ask` answers as `FanOut.ask` does, and leaves out whom the circuits leave out."""

    def __init__(self, *, fan_out: FanOut, keeper: CircuitKeeper, clock: Clock) -> None:
        self._fan_out = fan_out
        self._keeper = keeper
        self._clock = clock
        self._door = CircuitDoor(keeper=keeper, clock=clock)

    async def ask(
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
        await self.settle((*asked, *tried), known=known, deadline=deadline, passes=passes)
        every = {reply.source.id: reply for reply in (*asked, *tried)}
        return tuple(every[each.source.id] for each in inquiries)

    async def _try(
        self, waiting: Sequence[Inquiry], *, known: KnownCircuits, deadline: Deadline, request_id: str
    ) -> tuple[Replies, Passes]:
        """Asks those whose trial this request gets, and those that were found well meanwhile."""
        sources = [each.source for each in waiting]
        passes = await self._door.passes(sources, own_limit_ms=self._limit_ms, known=known, deadline=deadline)
        let_in = [each for each in waiting if each.source.id in passes.asked]
        left = [self._not_asked(each, passes) for each in waiting if each.source.id not in passes.asked]
        replies = await self._fan_out.ask(let_in, deadline=deadline, request_id=request_id)
        return (*replies, *left), passes

    def _not_asked(self, inquiry: Inquiry, passes: Passes) -> Reply:
        refusal = self._door.refusal(inquiry.source, known=passes.known)
        return reply_without(inquiry.source, outcome_code_of(refusal), was_asked=False, retry_at=refusal.retry_at)

    async def settle(
        self, replies: Replies, *, known: KnownCircuits, deadline: Deadline, passes: Passes | None = None
    ) -> None:
        """Writes what the replies change of the circuits as they were when `known` was read. Raises nothing."""
        passes = passes or Passes(known=known)
        said = {
            reply.source.id: self._door.incident(
                reply.source,
                reply.outcome,
                known=known,
                passes=passes,
                own_limit_ms=self._limit_ms(reply.source),
            )
            for reply in replies
        }
        incidents = {id_: incident for id_, incident in said.items() if incident is not None}
        within_s, whole_within_s = settling_times(deadline, now_s=self._clock.monotonic())
        await self._keeper.settle(incidents, known=passes.known, within_s=within_s, whole_within_s=whole_within_s)

    def _limit_ms(self, source: Source) -> int:
        return round(self._fan_out.limit_s(source) * 1000)
