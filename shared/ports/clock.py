"""Time, as the gateway asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Clock(Protocol):
    """`now` is Unix seconds and may step; `monotonic` never goes back and has no meaning but differences."""

    def now(self) -> float: ...

    def monotonic(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Moment:
    """On both clocks: either may stand still while the process is frozen, and the wall clock may be set back."""

    at: float
    at_s: float

    @classmethod
    def of(cls, clock: Clock) -> Moment:
        return cls(at=clock.now(), at_s=clock.monotonic())

    def is_within(self, seconds: float, *, clock: Clock) -> bool:
        """Whether it lies less than `seconds` back, by both."""
        return all(0 <= ago_s < seconds for ago_s in self._ago_s(clock))

    def is_beyond(self, seconds: float, *, clock: Clock) -> bool:
        """Whether it lies more than `seconds` back, by either."""
        return max(self._ago_s(clock)) > seconds

    def _ago_s(self, clock: Clock) -> tuple[float, float]:
        return clock.now() - self.at, clock.monotonic() - self.at_s
