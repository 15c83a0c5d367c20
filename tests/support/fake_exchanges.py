"""Lines to providers without a network: scripted answers, recorded requests.

    exchanges = FakeExchanges(answer=json_answer({"contractVersion": 1, "results": []}))
    exchanges.script(source.id, ConnectionFailed(), json_answer(...))    # one step a call; the last one repeats
    exchanges.script(other.id, HANGS)                                    # until its deadline

A step is an `OutboundAnswer`, an exception to raise, `HANGS`, `after(seconds, step)`, or `DROPPED_ONCE`: a reused
connection that died unanswered, after which the request is built again and the next step answers it; on a line that
sends nothing twice, that is the end.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum

from shared.domain.deadlines import Deadline
from shared.domain.registrations import Source
from shared.errors import ConnectionFailed, ExchangeTimeout
from shared.ports.clock import Clock
from shared.ports.exchange import Exchange, OutboundAnswer, OutboundRequest, Watch


class _Mark(Enum):
    HANGS = "hangs"
    DROPPED_ONCE = "dropped_once"


HANGS = _Mark.HANGS
DROPPED_ONCE = _Mark.DROPPED_ONCE


@dataclass(frozen=True, slots=True)
class After:
    seconds: float
    step: OutboundAnswer | BaseException


Step = OutboundAnswer | BaseException | After | _Mark


def after(seconds: float, step: OutboundAnswer | BaseException) -> After:
    return After(seconds, step)


def json_answer(value: object, *, status: int = 200, headers: dict[str, str] | None = None) -> OutboundAnswer:
    """An answer as the real adapter hands it over: header names in lower case."""
    every = {"content-type": "application/json"} | (headers or {})
    return OutboundAnswer(status=status, headers=every, body=json.dumps(value, ensure_ascii=False).encode())


@dataclass(frozen=True, slots=True)
class Sent:
    source: Source
    request: OutboundRequest

    @property
    def headers(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.request.headers}


class FakeExchanges:
    """`answer` is for every source without a script of its own. `sent` holds what was sent, oldest first."""

    def __init__(self, *, clock: Clock, answer: Step | None = None) -> None:
        self.sent: list[Sent] = []
        self.cancelled = 0
        self._clock = clock
        self._answer = answer
        self._scripts: dict[str, list[Step]] = {}

    def script(self, source_id: str, *steps: Step) -> None:
        self._scripts[source_id] = list(steps)

    def open(self, source: Source, *, deadline: Deadline) -> Exchange:
        return FakeExchange(source=source, deadline=deadline, clock=self._clock, owner=self)

    @asynccontextmanager
    async def open_once(self, source: Source, *, deadline: Deadline) -> AsyncIterator[Exchange]:
        yield FakeExchange(source=source, deadline=deadline, clock=self._clock, owner=self, may_send_again=False)

    def next_step(self, source: Source) -> Step:
        steps = self._scripts.get(source.id)
        if steps:
            return steps.pop(0) if len(steps) > 1 else steps[0]
        if self._answer is None:
            raise AssertionError(f"nothing is scripted for {source.id}")
        return self._answer


@dataclass(slots=True)
class FakeExchange:
    source: Source
    deadline: Deadline
    clock: Clock
    owner: FakeExchanges = field(repr=False)
    may_send_again: bool = True

    def remaining_ms(self) -> int:
        return int(self.deadline.remaining_s(self.clock.monotonic()) * 1000)

    async def send(self, build: Callable[[], OutboundRequest], *, watch: Watch | None = None) -> OutboundAnswer:
        """A `watch` gets the scripted body in one piece."""
        answer = await self._in_time(build)
        if watch is not None:
            watch(answer.headers, answer.body)
        return answer

    async def _in_time(self, build: Callable[[], OutboundRequest]) -> OutboundAnswer:
        remaining_s = self.deadline.remaining_s(self.clock.monotonic())
        if remaining_s <= 0:
            raise ExchangeTimeout
        try:
            async with asyncio.timeout(remaining_s):
                return await self._send(build)
        except TimeoutError:
            raise ExchangeTimeout from None
        except asyncio.CancelledError:
            self.owner.cancelled += 1
            raise

    async def _send(self, build: Callable[[], OutboundRequest]) -> OutboundAnswer:
        self.owner.sent.append(Sent(self.source, build()))
        step = self.owner.next_step(self.source)
        if step is DROPPED_ONCE:
            if not self.may_send_again:
                raise ConnectionFailed
            return await self._send(build)
        if step is HANGS:
            await asyncio.Event().wait()
        if isinstance(step, After):
            await asyncio.sleep(step.seconds)
            step = step.step
        if isinstance(step, BaseException):
            raise step
        assert isinstance(step, OutboundAnswer)
        return step
