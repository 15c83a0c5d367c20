"""The report as JUnit XML, as continuous integration reads it."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, tostring

from knowledge_conformance.baseline import Verdict
from knowledge_conformance.findings import Finding, Status
from knowledge_conformance.report import Report, check_of


def junit_of(report: Report, verdict: Verdict) -> bytes:
    """Expected failures count as skipped, stale lines of the baseline as failures."""
    failures = sum(1 for finding in report.findings if _is_failure(finding, verdict))
    skipped = sum(1 for finding in report.findings if _is_skipped(finding, verdict))
    numbers = {"tests": str(len(report.findings)), "failures": str(failures), "skipped": str(skipped)}
    suites = Element("testsuites", numbers)
    suite = SubElement(
        suites, "testsuite", {"name": f"knowledge-conformance.{report.profile}", **numbers, "errors": "0"}
    )
    suite.set("time", f"{report.seconds:.3f}")
    for finding in report.findings:
        _add(suite, finding, verdict)
    written: bytes = tostring(suites, encoding="utf-8", xml_declaration=True)
    return written


def _add(suite: Element, finding: Finding, verdict: Verdict) -> None:
    about = check_of(finding)
    case = SubElement(suite, "testcase", {"classname": about.requirement.scenario, "name": finding.id, "time": "0"})
    if _is_failure(finding, verdict):
        words = "the baseline expects it to fail, and it passes" if finding.id in verdict.stale else finding.saw
        failure = SubElement(case, "failure", {"message": words, "type": about.requirement.level})
        failure.text = f"{about.title}\n{about.fix}\n{about.requirement.link}"
    elif _is_skipped(finding, verdict):
        expected = "expected: " if finding.id in verdict.expected else ""
        SubElement(case, "skipped", {"message": expected + finding.saw})
    elif finding.status is Status.WARNED:
        SubElement(case, "system-out").text = f"warning: {finding.saw}\n{about.fix}\n{about.requirement.link}"


def _is_failure(finding: Finding, verdict: Verdict) -> bool:
    is_bad = finding.status in (Status.FAILED, Status.NOT_RUN) and finding.id not in verdict.expected
    return is_bad or finding.id in verdict.stale


def _is_skipped(finding: Finding, verdict: Verdict) -> bool:
    return finding.status is Status.SKIPPED or finding.id in verdict.expected
