"""The circuits of one lane, shared by all instances."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # a search whose sources are all well needs no rules of circuits
    from shared.domain.circuits import Circuits, Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownCircuits:
    """As they were read. `version` is the store's own mark of that state, 0 for one that nobody has written."""

    circuits: Circuits = field(default_factory=dict)
    version: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedCircuits:
    """What one write did: of those that changed, how they were and how they are now; empty when nothing was written.
    `known` is everything as it is now.
    """

    before: Circuits
    after: Circuits
    known: KnownCircuits


class CircuitStore(Protocol):
    """Of one lane; nothing in it can name another. All raise `Unavailable` when the store cannot be used."""

    async def read(self) -> KnownCircuits:
        """Strongly consistent, one read, no write, shared with the other single rows that are asked for just then. What
        cannot be read of a circuit counts as well: health fails open.
        """
        ...

    async def change(self, rule: Rule, *, known: KnownCircuits) -> ChangedCircuits:
        """Applies `rule` to what is there, in one conditional write for all that it changes: to `known` where that is
        still the state, else to what is there now, until it holds. No write where it changes nothing. `rule` may be
        called several times and has to be pure; one that gives `WELL` for a circuit has it forgotten.
        """
        ...
