"""Time, as the gateway asks for it."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """`now` is Unix seconds and may step; `monotonic` never goes back and has no meaning but differences."""

    def now(self) -> float: ...

    def monotonic(self) -> float: ...
