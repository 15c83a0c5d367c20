"""Changes of a provider's state, as they are kept for 30 days."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from shared.domain.circuits import WELL, Circuit, Circuits, Lane
from shared.domain.outcomes import OutcomeCode

KEPT_FOR_S: Final = 30 * 86_400.0


class Happening(StrEnum):
    """Stable words: `docs/operations.md` explains each."""

    CIRCUIT_OPENED = "circuit_opened"
    CIRCUIT_HELD = "circuit_held"  # the provider asked to be left alone
    CIRCUIT_HALF_OPENED = "circuit_half_opened"  # by a probe that found it well, or an operator
    CIRCUIT_CLOSED = "circuit_closed"
    AUTO_DISABLED = "auto_disabled"
    PUT_BACK = "put_back"  # by an operator
    STATE_CHANGED = "state_changed"  # as the probe sees it


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntry:
    """`state` is what it came into: a `HealthState` of the probe or a `CircuitState`. `lane` is None for the probe's.
    `until` (Unix seconds): of a circuit that opened. Holds no word of anybody's but the gateway's own.
    """

    provider_id: str
    at: float
    happening: Happening
    state: str
    lane: Lane | None = None
    code: OutcomeCode | None = None
    until: float | None = None

    @property
    def is_once(self) -> bool:
        """Whether the same of the same lane and moment is the same event."""
        return self.happening is Happening.AUTO_DISABLED


def happenings(before: Circuits, after: Circuits, *, lane: Lane, now: float) -> tuple[JournalEntry, ...]:
    """What a change of circuits amounts to; counts and claimed trials amount to nothing. `after` has those changed."""
    entries = ((id_, _happening(before.get(id_, WELL), circuit)) for id_, circuit in after.items())
    return tuple(
        JournalEntry(
            provider_id=id_,
            at=now,
            happening=happening,
            state=after[id_].state_at(now),
            lane=lane,
            code=after[id_].last_code or before.get(id_, WELL).last_code,
            until=after[id_].open_until or None,
        )
        for id_, happening in entries
        if happening is not None
    )


def _happening(before: Circuit, after: Circuit) -> Happening | None:
    if bool(before.disabled_at) is not bool(after.disabled_at):
        return Happening.AUTO_DISABLED if after.disabled_at else Happening.PUT_BACK
    if after.open_until == before.open_until:
        return None
    if not after.open_until:
        return Happening.CIRCUIT_CLOSED
    if before.open_until and replace(before, open_until=after.open_until) == after:  # nothing happened to a request
        return Happening.CIRCUIT_HALF_OPENED
    return Happening.CIRCUIT_HELD if after.is_held else Happening.CIRCUIT_OPENED
