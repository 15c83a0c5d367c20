"""The table: each behaviour, and which outcome it got."""

from __future__ import annotations

from collections.abc import Iterable

from tests.hostile.judgement import faults
from tests.hostile.trial import Finding

_ROW = "{:30} {:44} {:20} {:>5} {:>6}  {}"


def table(findings: Iterable[Finding]) -> str:
    head = _ROW.format("behaviour", "what it does", "outcome (agent)", "found", "shown", "warnings; what is wrong")
    return "\n".join([head, *(_row(finding) for finding in findings)])


def _row(finding: Finding) -> str:
    case, outcome = finding.case, finding.outcome
    said = [*outcome["warnings"], *(f"WRONG: {fault}" for fault in faults(finding))]
    found = outcome["resultCount"]
    return _ROW.format(
        case.id, case.does[:44], finding.agents_outcome, found, len(finding.shown), ", ".join(said)
    ).rstrip()
