"""Asks all sources at once, but for those whose circuit is open.

Reading the circuits goes on beside reading the registrations. Where all are well nothing more is read and nothing is
written.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from shared.domain.circuits import WELL, Circuit, CircuitState, Effect, Incident, revision_of
from shared.domain.deadlines import Deadline
from shared.domain.effects import effect_of
from shared.domain.outcomes import OutcomeCode
from shared.domain.registrations import Source
from shared.domain.replies import Reply, reply_without
from shared.ports.circuits import KnownCircuits
from shared.ports.clock import Clock
from shared.services.at_once import both
from shared.services.circuit_keeper import CircuitKeeper
from shared.services.fan_out import FanOut, Inquiry, Replies


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tried:
    """The replies of sources that wait for a trial, and under which id those of `held` were asked."""

    replies: tuple[Reply, ...] = ()
    trial_id: str = ""
    held: frozenset[str] = frozenset()


class GuardedAsking:
    """`ask` answers as `FanOut.ask` does. A source that is not asked is told as `circuit_open` with the time at which
    it may be, or as `disabled`.
    """

    def __init__(self, *, fan_out: FanOut, keeper: CircuitKeeper, clock: Clock) -> None:
        self._fan_out = fan_out
        self._keeper = keeper
        self._clock = clock

    async def known(self) -> KnownCircuits:
        """To be awaited beside the read of the registrations. Raises nothing."""
        return await self._keeper.known()

    async def ask(
        self, inquiries: Sequence[Inquiry], *, known: KnownCircuits, deadline: Deadline, request_id: str
    ) -> Replies:
        """Cancelling this cancels every question under way."""
        now = self._clock.now()
        free = [each for each in inquiries if _circuit(each.source, known).state_at(now) is CircuitState.CLOSED]
        waiting = [each for each in inquiries if each not in free] if len(free) < len(inquiries) else []
        asking = self._fan_out.ask(free, deadline=deadline, request_id=request_id)
        if not waiting:
            asked, tried = await asking, _Tried()
        else:
            trying = self._try(waiting, known=known, deadline=deadline, request_id=request_id)
            asked, tried = await both(asking, trying)
        await self._settle(asked, tried, known=known)
        every = {reply.source.id: reply for reply in (*asked, *tried.replies)}
        return tuple(every[each.source.id] for each in inquiries)

    async def _try(
        self, waiting: Sequence[Inquiry], *, known: KnownCircuits, deadline: Deadline, request_id: str
    ) -> _Tried:
        """Asks those whose trial this request gets, and those that were found well meanwhile."""
        now = self._clock.now()
        due = [each.source.id for each in waiting if _is_due(_circuit(each.source, known), now=now)]
        if not due:
            return _Tried(replies=tuple(_not_asked(each.source, known, now=now) for each in waiting))
        claim = await self._keeper.claim(due, known=known)
        asked = [each for each in waiting if self._may_go(each.source, due, claim.providers, claim.known)]
        replies = await self._fan_out.ask(asked, deadline=deadline, request_id=request_id)
        left = [_not_asked(each.source, claim.known, now=now) for each in waiting if each not in asked]
        return _Tried(replies=(*replies, *left), trial_id=claim.trial_id, held=claim.providers)

    def _may_go(self, source: Source, due: Collection[str], held: Collection[str], known: KnownCircuits) -> bool:
        is_closed = _circuit(source, known).state_at(self._clock.now()) is CircuitState.CLOSED
        return source.id in held or (source.id in due and is_closed)

    async def _settle(self, asked: Replies, tried: _Tried, *, known: KnownCircuits) -> None:
        incidents = {
            reply.source.id: incident
            for reply in (*asked, *tried.replies)
            if (incident := self._incident(reply, tried)) is not None and _matters(incident, reply.source, known)
        }
        await self._keeper.settle(incidents, known=known)

    def _incident(self, reply: Reply, tried: _Tried) -> Incident | None:
        is_trial = reply.source.id in tried.held
        effect = effect_of(reply.outcome, own_limit_ms=round(self._fan_out.limit_s(reply.source) * 1000))
        if effect is Effect.NOTHING and not is_trial:
            return None
        return Incident(
            revision=revision_of(reply.source),
            effect=effect,
            code=reply.outcome.error_code,
            held_until=reply.outcome.retry_at,
            trial_id=tried.trial_id if is_trial else "",
            jitter=self._keeper.jitter(),
            may_disable=self._keeper.may_disable,
        )


def _matters(incident: Incident, source: Source, known: KnownCircuits) -> bool:
    """A success of one that is well changes nothing."""
    return incident.effect is not Effect.SUCCESS or _circuit(source, known) is not WELL


def _circuit(source: Source, known: KnownCircuits) -> Circuit:
    found = known.circuits.get(source.id)
    return WELL if found is None else found.of(revision_of(source))


def _is_due(circuit: Circuit, *, now: float) -> bool:
    free_at = circuit.free_at(now)
    return free_at is not None and free_at <= now


def _not_asked(source: Source, known: KnownCircuits, *, now: float) -> Reply:
    free_at = _circuit(source, known).free_at(now)
    code = OutcomeCode.DISABLED if free_at is None else OutcomeCode.CIRCUIT_OPEN
    return reply_without(source, code, was_asked=False, retry_at=None if free_at is None else max(free_at, now + 1))
