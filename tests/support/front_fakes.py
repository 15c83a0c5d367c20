"""A stand-in for the door behind a distribution, in memory.

    door = FakeFrontDoor(FrontDigests(digest_of("shown")))     # admits what shows "shown"
    door.digests = None                                        # nothing was made known yet

Like the other fakes it has `failure`. The suite in `tests/contract` holds it to the port.
"""

from __future__ import annotations

from shared.domain.front import FrontDigests
from tests.support.fakes import Failing


class FakeFrontDoor(Failing):
    def __init__(self, digests: FrontDigests | None = None) -> None:
        self.digests = digests

    def admits(self, presented: str) -> bool:
        self._may_fail()
        return self.digests is not None and self.digests.match(presented)
