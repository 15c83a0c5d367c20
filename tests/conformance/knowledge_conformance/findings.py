"""What a check finds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """`warned` is a failed SHOULD. `skipped` could not be judged here; `not_run` had no time left."""

    PASSED = "passed"
    FAILED = "failed"
    WARNED = "warned"
    SKIPPED = "skipped"
    NOT_RUN = "not_run"


@dataclass(frozen=True, slots=True)
class Finding:
    """`saw` is a sentence about what happened: never a secret, a query or anything that the provider wrote. What is
    skipped for another check's failure names those of which one has to have failed in `because`.
    """

    id: str
    status: Status
    saw: str
    because: tuple[str, ...] = ()


class Failed(Exception):
    """Raised by a check; the message is what was seen."""


class Unmarked(Failed):
    """What should have been refused got neither results nor a status that says no: a fault of all refusals."""


class Skipped(Exception):
    """Raised by a check that cannot judge; the message is why. `because`, of which see `Finding`."""

    def __init__(self, saw: str, *, because: tuple[str, ...] = ()) -> None:
        super().__init__(saw)
        self.because = because


class Postponed(Exception):
    """Raised by a check that the provider put off for longer than a run waits; the message is how."""
