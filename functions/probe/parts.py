"""What the probe function works with."""

from __future__ import annotations

from dataclasses import dataclass

from shared.ports.card_sweeper import CardSweeper
from shared.ports.clock import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    sweeper: CardSweeper
    clock: Clock
