"""The only way to a hosted live service: every operation is reserved, keyed and settled around the sending."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from shared.domain.deadlines import Deadline
from shared.domain.pools import Pool
from shared.domain.registrations import Source
from shared.ports.exchange import Exchange

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One try of one operation: a line with its own deadline, which sends nothing twice, and the key to use (None for a
    service without keys).
    """

    exchange: Exchange
    key: str | None = field(default=None, repr=False)


class Meter(Protocol):
    """Operations of one pool under one deadline."""

    def remaining_ms(self) -> int:
        """Milliseconds until the deadline, never negative."""
        ...

    async def perform(self, work: Callable[[Attempt], Awaitable[T]]) -> T:
        """Reserves a unit, then lets `work` send, with one key after the other while it raises `KeyRefused`: each
        distinct key at most once, none that rests, none when under three seconds are left. The refused keys rest.

        What `work` returns is returned, and the unit is confirmed. A `KeyRefused` by every key releases it and becomes
        `Refused` (`keys_exhausted`, with `retry_at`); `NeverConnected` and `BlockedAddress` release it;
        `ExchangeTimeout`, any other `ConnectionFailed` and `Unclear` leave it unknown; every other error confirms it.
        A service without keys rests as one key would, and also after any other `Refused` (`rate_limited`); that is
        what comes of an operation while it rests, and nothing is sent.
        Raises those, and `Refused`: `not_configured` without a key, `allowance_exhausted` when the day's units are
        used, in both cases before anything is sent.
        """
        ...


class Meters(Protocol):
    """Opens meters. `source.base_url` is where the service is; nothing else is reached through it."""

    def open(self, source: Source, pool: Pool, *, deadline: Deadline) -> Meter: ...
