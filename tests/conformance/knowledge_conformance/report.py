"""What a run found."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from knowledge_conformance.findings import Finding, Status
from knowledge_conformance.registry import Check
from knowledge_conformance.requirements import VERSION
from knowledge_conformance.scenarios.every import CHECKS

_SIGHT = "results.found"
_BAD = (Status.FAILED, Status.NOT_RUN)


@dataclass(frozen=True, slots=True)
class Report:
    """`declared` are the capabilities that were read. Findings are in the order of the requirements."""

    url: str
    profile: str
    seconds: float
    declared: frozenset[str]
    findings: tuple[Finding, ...]
    pauses_s: tuple[float, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every MUST that could be judged was kept, all had their time, and something was judged at all."""
        return self.is_judged and not any(finding.status in _BAD for finding in self.findings)

    @property
    def is_judged(self) -> bool:
        """False where nothing was, or where no check could say whether results come: from that, nothing follows."""
        judged = self.ids(*(status for status in Status if status is not Status.SKIPPED))
        is_blind = _SIGHT in self.skipped and not self.ids(*_BAD)
        return bool(judged) and not is_blind

    def ids(self, *statuses: Status) -> frozenset[str]:
        return frozenset(finding.id for finding in self.findings if finding.status in statuses)

    @property
    def failed(self) -> frozenset[str]:
        """Ids of the failed MUSTs."""
        return self.ids(Status.FAILED)

    @property
    def warned(self) -> frozenset[str]:
        """Ids of the failed SHOULDs."""
        return self.ids(Status.WARNED)

    @property
    def skipped(self) -> frozenset[str]:
        return self.ids(Status.SKIPPED)

    @property
    def counts(self) -> dict[str, int]:
        counted = Counter(finding.status for finding in self.findings)
        return {status.value: counted[status] for status in Status}

    @property
    def notes(self) -> tuple[str, ...]:
        """What no check can say."""
        notes = []
        if "semanticSearch" in self.declared:
            notes.append(
                "semanticSearch is declared. No examination from outside can prove it: try questions in other words."
            )
        if self.pauses_s:
            waited = f"{len(self.pauses_s)} times, {sum(self.pauses_s):.0f} s in all"
            notes.append(f"It asked for a pause with Retry-After, and the pause was kept: {waited}.")
        if self.url.endswith("/retrieve") and "retrieve.answers" in self.failed:
            notes.append("The address ends in /retrieve. Name the base URL, without it: /retrieve is added to that.")
        return tuple(notes)


def check_of(finding: Finding) -> Check:
    return CHECKS[finding.id]


def as_json(report: Report, *, ok: bool, expected: frozenset[str]) -> dict[str, Any]:
    """For machines. `expected` are the failures that the baseline names; `ok` is the verdict with it."""
    return {
        "reportVersion": 1,
        "contractVersion": VERSION,
        "url": report.url,
        "profile": report.profile,
        "ok": ok,
        "seconds": round(report.seconds, 3),
        "declared": sorted(report.declared),
        "counts": report.counts,
        "notes": list(report.notes),
        "findings": [_finding(finding, is_expected=finding.id in expected) for finding in report.findings],
    }


def _finding(finding: Finding, *, is_expected: bool) -> dict[str, Any]:
    about = check_of(finding)
    return {
        "id": finding.id,
        "scenario": about.requirement.scenario,
        "level": about.requirement.level,
        "section": about.requirement.link,
        "title": about.title,
        "status": finding.status.value,
        "expected": is_expected,
        "saw": finding.saw,
        "fix": about.fix,
    }
