"""A point on the monotonic clock by which something must be over."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Deadline:
    """`at_s` is on the monotonic clock of this process, so a stepping wall clock changes nothing."""

    at_s: float

    @classmethod
    def after(cls, seconds: float, *, now_s: float) -> Deadline:
        return cls(at_s=now_s + seconds)

    def remaining_s(self, now_s: float) -> float:
        """Seconds left, never negative."""
        return max(0.0, self.at_s - now_s)

    def capped(self, seconds: float, *, now_s: float) -> Deadline:
        """The earlier of this deadline and `seconds` from now."""
        return Deadline(at_s=min(self.at_s, now_s + seconds))
