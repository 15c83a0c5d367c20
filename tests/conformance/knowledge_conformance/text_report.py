"""A report for a person: what is in order, what is not, what was seen, and what to do about it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from itertools import groupby

from knowledge_conformance.baseline import Verdict
from knowledge_conformance.findings import Finding, Status
from knowledge_conformance.report import Report, check_of
from knowledge_conformance.scenarios.every import CHECKS

_WIDTH = 100
_SCENARIOS = {
    "retrieval": "It answers",
    "results": "Its results",
    "requests": "What it has to take",
    "signatures": "Genuine requests are accepted",
    "capabilities": "What it declares",
    "languages": "Languages",
    "hostile": "Everybody else is refused",
    "errors": "Requests without sense are declined",
    "load": "Many at once",
}
_MARKS = {
    Status.PASSED: "ok",
    Status.FAILED: "FAILED",
    Status.WARNED: "warning",
    Status.SKIPPED: "skipped",
    Status.NOT_RUN: "NOT RUN",
}


def text_of(report: Report, verdict: Verdict) -> str:
    return "\n".join(_lines(report, verdict)) + "\n"


def listing() -> str:
    """Every check: id, level, profile and title."""
    rows = [(each.id, each.requirement.level, each.requirement.profile, each.title) for each in CHECKS.values()]
    lines = [f"{id_:32} {level:6} {profile:8} {title}" for id_, level, profile, title in rows]
    return "\n".join([*lines, "", "semanticSearch cannot be proven from outside; no check claims to."]) + "\n"


def _lines(report: Report, verdict: Verdict) -> Iterator[str]:
    yield f"Knowledge provider contract, version 1, profile {report.profile}: {report.url}"
    for scenario, findings in groupby(report.findings, key=lambda finding: check_of(finding).requirement.scenario):
        yield ""
        yield from _scenario(_SCENARIOS[scenario], list(findings), verdict)
    yield ""
    for note in report.notes:
        yield from _wrapped("Note: ", note)
    yield from _baseline(verdict)
    yield from _end(report, verdict)


def _scenario(title: str, findings: list[Finding], verdict: Verdict) -> Iterator[str]:
    passed = sum(1 for finding in findings if finding.status is Status.PASSED)
    skipped = sum(1 for finding in findings if finding.status is Status.SKIPPED)
    more = f", {skipped} could not be judged" if skipped else ""
    yield f"{title}: {passed} of {len(findings)} in order{more}"
    for finding in findings:
        if finding.status is not Status.PASSED:
            yield from _told(finding, is_expected=finding.id in verdict.expected)


def _told(finding: Finding, *, is_expected: bool) -> Iterator[str]:
    about = check_of(finding)
    mark = "expected" if is_expected else _MARKS[finding.status]
    if finding.status in (Status.SKIPPED, Status.NOT_RUN):  # it did nothing wrong that one could mend
        yield from _wrapped(f"  {mark:8} {finding.id}: ", finding.saw)
        return
    yield f"  {mark:8} {finding.id}  {about.title} ({about.requirement.level})"
    yield from _wrapped("           seen: ", finding.saw)
    yield from _wrapped("           do:   ", about.fix)
    yield f"           read: {about.requirement.link}"


def _baseline(verdict: Verdict) -> Iterator[str]:
    for id_ in sorted(verdict.stale):
        yield f"The baseline expects {id_} to fail, and it passes: take it out of the file."
    for id_ in sorted(verdict.open):
        yield f"The baseline names {id_}, which could not be judged."
    if verdict.unasked:
        yield f"Not asked for, and in the baseline: {', '.join(sorted(verdict.unasked))}."


def _end(report: Report, verdict: Verdict) -> Iterator[str]:
    counts = report.counts
    told = ", ".join(f"{counts[status]} {status.value.replace('_', ' ')}" for status in Status if counts[status])
    expected = f" ({len(verdict.expected)} of the failures expected)" if verdict.expected else ""
    yield f"{told}{expected}, in {report.seconds:.1f} s"
    if not report.is_judged:
        yield "NOTHING JUDGED: from what was skipped nothing follows."
        return
    yield f"{'PASSED' if verdict.ok else 'FAILED'}: profile {report.profile}"
    if report.profile == "minimum":
        yield "Whether anybody else is refused was not examined: --profile full."


def _wrapped(prefix: str, words: str) -> list[str]:
    return textwrap.wrap(words, _WIDTH, initial_indent=prefix, subsequent_indent=" " * len(prefix))
