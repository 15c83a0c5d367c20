"""Failures that are known and expected, by id, one a line. A line that is no longer true fails the run."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from knowledge_conformance.findings import Status
from knowledge_conformance.report import Report
from knowledge_conformance.requirements import requirements


class BadBaseline(ValueError):
    """The file cannot be read, or names a check that is none."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """`expected` are the failures that the baseline names; `stale` is what it names and what passes; `open` could not
    be judged, and `unasked` was not asked for: of both nothing is known.
    """

    ok: bool
    expected: frozenset[str]
    stale: frozenset[str]
    open: frozenset[str] = frozenset()
    unasked: frozenset[str] = frozenset()


def read_baseline(path: Path) -> frozenset[str]:
    """Ids; `#` begins a remark. Raises `BadBaseline`."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise BadBaseline(f"The baseline {path} cannot be read.") from None
    ids = frozenset(id_ for line in lines if (id_ := line.partition("#")[0].strip()))
    if unknown := sorted(ids - requirements().keys()):
        raise BadBaseline(f"The baseline names no check of this contract: {', '.join(unknown)}.")
    return ids


def judged(report: Report, baseline: Collection[str] = ()) -> Verdict:
    """What was skipped or not asked for is neither expected nor stale."""
    known = frozenset(baseline)
    asked = frozenset(finding.id for finding in report.findings)
    bad = report.ids(Status.FAILED, Status.NOT_RUN)
    expected = known & (report.failed | report.warned)
    stale = known & report.ids(Status.PASSED)
    is_ok = report.is_judged and not (bad - expected) and not stale
    return Verdict(ok=is_ok, expected=expected, stale=stale, open=known & report.skipped, unasked=known - asked)
