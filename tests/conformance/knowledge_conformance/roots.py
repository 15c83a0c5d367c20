"""What a provider can do so wrong that other checks cannot judge: those name the one that failed, never just "another".

All of these judge what was seen and send nothing; they are judged in every run, whichever checks were asked for.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from knowledge_conformance.findings import Finding, Status
from knowledge_conformance.registry import Need

# In the order in which they are named.
GENUINE = (
    "sig.genuine-accepted",
    "retrieve.no-redirect",
    "latency.deadline",
    "retrieve.size",
    "retrieve.encoding",
    "retrieve.answers",
)
ANSWERS = (*GENUINE, "json.utf8", "json.depth", "json.valid", "json.finite-numbers", "answer.object")
RESULTS = (*ANSWERS, "answer.results", "results.found")
ROOTS = (*RESULTS, "results.none", "limit.highest", "capabilities.page", "locale.labelled")

UNMET = {
    Need.GENUINE: ("no genuine request was answered with 200", GENUINE),
    Need.ANSWERS: ("no answer could be read", ANSWERS),
    Need.RESULTS: ("no result was seen", RESULTS),
}
_BAD = (Status.FAILED, Status.WARNED)


def explained(finding: Finding, failed: Collection[str]) -> Finding:
    """One that is skipped for another's failure, with the name of that other. Where none of them failed, nobody would
    be told of anything, so it fails itself.
    """
    if not finding.because:
        return finding
    for id_ in finding.because:
        if id_ in failed and id_ != finding.id:
            return replace(finding, saw=f"{finding.saw}; see {id_}", because=(id_,))
    return Finding(finding.id, Status.FAILED, f"{finding.saw}, and no check says why")


def failed_in(findings: Collection[Finding]) -> frozenset[str]:
    return frozenset(finding.id for finding in findings if finding.status in _BAD)
