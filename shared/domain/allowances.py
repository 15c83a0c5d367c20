"""How many upstream operations a pool may make in a rolling day. Counts of the gateway's own operations, never money.

A unit is reserved before anything is sent. Then it is confirmed (the operation was made), released (it was not), or it
stays: a reservation that is not settled within its lease counts as unknown, without a write, until an operator
reviews it. Confirmed units leave the count a day after they were confirmed, in slots of half an hour: never earlier.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from shared.domain.pools import Pool

WINDOW_S: Final = 86_400
SLOT_S: Final = 1_800
LEASE_S: Final = 60.0
MAX_LIMIT: Final = 100_000
_REVIEWED_FROM: Final = 5  # one in so many
DEFAULT_LIMIT: Final = {pool: 800 if pool is Pool.MINTLIFY else 1_000 for pool in Pool}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """One unit of one pool, taken before the operation."""

    pool: Pool
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What an operator found out about units that were unknown: how many operations were made and how many not."""

    happened: int = 0
    did_not_happen: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """`slots`: confirmed units by number of the half hour since 1970. `open`: the end of each reservation's lease, by
    id. `unknown`: units past their lease that were already gathered into one number. `generation` counts the changes
    that operators made.
    """

    pool: Pool
    limit: int
    generation: int = 0
    slots: Mapping[int, int] = field(default_factory=dict)
    open: Mapping[str, float] = field(default_factory=dict)
    unknown: int = 0

    def confirmed_at(self, now: float) -> int:
        return sum(units for slot, units in self.slots.items() if not has_left(slot, now=now))

    def reserved_at(self, now: float) -> int:
        return sum(lease_end > now for lease_end in self.open.values())

    def unknown_at(self, now: float) -> int:
        return self.unknown + sum(lease_end <= now for lease_end in self.open.values())

    def asks_for_review_at(self, now: float) -> bool:
        """Whether a fifth of the limit is unknown, or more: those units stay until an operator has looked at them."""
        return self.unknown_at(now) * _REVIEWED_FROM >= self.limit > 0

    def used_at(self, now: float) -> int:
        return self.confirmed_at(now) + len(self.open) + self.unknown

    def free_again_at(self, now: float) -> float | None:
        """When a unit is free at the latest known (Unix seconds): `now` if one is; None when only a review or a higher
        limit frees one.
        """
        too_many = self.used_at(now) - self.limit + 1
        if too_many <= 0:
            return now
        for slot in sorted(slot for slot in self.slots if not has_left(slot, now=now)):
            too_many -= self.slots[slot]
            if too_many <= 0:
                return float(leaves_at(slot))
        return None


def slot_of(now: float) -> int:
    return int(now // SLOT_S)


def leaves_at(slot: int) -> int:
    """When a slot's units leave the count: a day after the slot's own end."""
    return (slot + 1) * SLOT_S + WINDOW_S


def has_left(slot: int, *, now: float) -> bool:
    return leaves_at(slot) <= now


AllowanceState = Literal["open", "exhausted", "closed"]
