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
    """`saw` is a sentence about what happened: never a secret, a query or anything that the provider wrote."""

    id: str
    status: Status
    saw: str


class Failed(Exception):
    """Raised by a check; the message is what was seen."""


class Skipped(Exception):
    """Raised by a check that cannot judge; the message is why."""
