"""Judges one check after the other, and tells what they have in common once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection

from knowledge_conformance.client import NO_CONNECTION
from knowledge_conformance.findings import Failed, Finding, Postponed, Skipped, Status, Unmarked
from knowledge_conformance.registry import Check, Need
from knowledge_conformance.roots import UNMET, explained, failed_in
from knowledge_conformance.subject import Subject

UNMARKED = "refusal.has-status"
_FINER = {
    "sig.replay-refused": (
        "sig.replay-renamed-refused",
        "sig.replay-later-refused",
        "sig.replay-after-many-refused",
        "sig.nonce-other-time-refused",
    ),
    "sig.replay-later-refused": ("sig.replay-after-many-refused",),  # by then, both time and requests have gone by
    "sig.wrong-secret-refused": ("sig.empty-secret-refused", "sig.altered-value-refused", "sig.upper-case-refused"),
}
_GONE_S = 0.1
_NO_TIME = (
    "no time was left: the provider answers too slowly for a whole run. Make it faster, or run this with --only: {id}"
)
_GONE = "no connection could be made any more: the provider went away during the run"


class Bench:
    """`found` are the findings so far, by id. After `until`, of the monotonic clock, nothing is judged any more."""

    def __init__(self, subject: Subject, *, until: float) -> None:
        self.subject = subject
        self.found: dict[str, Finding] = {}
        self._until = until
        self._unmarked: set[str] = set()
        self._is_gone = False

    async def judge(self, each: Check) -> None:
        finding = await self._finding(each)
        if finding.status in (Status.FAILED, Status.WARNED) and await self._went_away():
            finding = Finding(each.id, Status.NOT_RUN, _GONE)
        self.found[each.id] = finding

    def fold_unmarked(self) -> None:
        """Where it is told that refusals have no status, what failed for that alone could not be judged."""
        if self._failed(UNMARKED):
            for id_ in self._unmarked - {UNMARKED}:
                self.found[id_] = Finding(id_, Status.SKIPPED, "whether it was refused cannot be told", (UNMARKED,))

    def fold_finer(self) -> None:
        """Where the plain case fails, the finer ones say nothing more."""
        for root, finer in _FINER.items():
            for id_ in finer if self._failed(root) else ():
                if id_ in self.found and self.found[id_].status in (Status.FAILED, Status.WARNED):
                    self.found[id_] = Finding(id_, Status.SKIPPED, "the plain case fails already", (root,))

    def _failed(self, id_: str) -> bool:
        return id_ in self.found and self.found[id_].status is Status.FAILED

    def explain(self) -> None:
        """Every skip for another's failure gets the name of a check that did fail."""
        failed = failed_in(self.found.values())
        self.found = {id_: explained(finding, failed) for id_, finding in self.found.items()}

    def named_by(self, ids: Collection[str]) -> set[str]:
        """The checks whose failure explains why these could not be judged."""
        return {self.found[id_].because[0] for id_ in ids if id_ in self.found and self.found[id_].because}

    async def _finding(self, each: Check) -> Finding:
        if self._is_gone:
            return Finding(each.id, Status.NOT_RUN, _GONE)
        if each.need in UNMET and not self._is_met(each.need):
            saw, because = UNMET[each.need]
            return Finding(each.id, Status.SKIPPED, saw, because)
        try:
            async with asyncio.timeout(max(self._until - time.monotonic(), 0)):
                return Finding(each.id, Status.PASSED, await each.judge(self.subject))
        except Failed as failed:
            if isinstance(failed, Unmarked):
                self._unmarked.add(each.id)
            status = Status.FAILED if each.requirement.level == "MUST" else Status.WARNED
            return Finding(each.id, status, str(failed))
        except Skipped as skipped:
            return Finding(each.id, Status.SKIPPED, str(skipped), skipped.because)
        except Postponed as postponed:
            return Finding(each.id, Status.NOT_RUN, str(postponed))
        except TimeoutError:
            return Finding(each.id, Status.NOT_RUN, _NO_TIME.format(id=each.id))

    async def _went_away(self) -> bool:
        """Whether connections failed, and fail still: then the rest needs not be tried."""
        client = self.subject.client
        if not self._is_gone and client.broken:
            client.broken = 0
            await asyncio.sleep(_GONE_S)
            again = await client.send(self.subject.signed(self.subject.plain_body()))
            self._is_gone = again.fault in NO_CONNECTION
        return self._is_gone

    def _is_met(self, need: Need) -> bool:
        seen = self.subject.seen
        if need is Need.RESULTS:
            return bool(seen.results)
        if need is Need.ANSWERS:
            return bool(seen.readable)
        return any(one.reading for one in seen.answers)
