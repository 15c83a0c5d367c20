"""A meter without a ledger: every operation is let through, with one key after the other.

    meter = ScriptedMeter(exchanges, source, clock=clock, keys=("k-one", "k-two"))

`operations` counts what was performed, `used` holds the keys in the order of their use, `refusals` what the work said
of them. The last key's refusal becomes `keys_exhausted`, as with the real one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from shared.domain.deadlines import Deadline
from shared.domain.registrations import Source
from shared.errors import KeyRefused, Refused
from shared.ports.clock import Clock
from shared.ports.meter import Attempt
from tests.support.fake_exchanges import FakeExchanges

T = TypeVar("T")


class ScriptedMeter:
    def __init__(
        self,
        exchanges: FakeExchanges,
        source: Source,
        *,
        clock: Clock,
        keys: Sequence[str | None] = ("k-demo",),
        timeout_s: float = 25.0,
    ) -> None:
        self.operations = 0
        self.used: list[str | None] = []
        self.refusals: list[KeyRefused] = []
        self._exchanges = exchanges
        self._source = source
        self._clock = clock
        self._keys = keys
        self._deadline = Deadline.after(timeout_s, now_s=clock.monotonic())

    def remaining_ms(self) -> int:
        return int(self._deadline.remaining_s(self._clock.monotonic()) * 1000)

    async def perform(self, work: Callable[[Attempt], Awaitable[T]]) -> T:
        self.operations += 1
        for key in self._keys:
            self.used.append(key)
            try:
                async with self._exchanges.open_once(self._source, deadline=self._deadline) as exchange:
                    return await work(Attempt(exchange=exchange, key=key))
            except KeyRefused as refusal:
                self.refusals.append(refusal)
                if key is None:
                    raise
        raise Refused("keys_exhausted", retry_at=min(refusal.until for refusal in self.refusals))
