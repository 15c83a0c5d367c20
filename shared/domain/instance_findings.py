"""What the end of each step of an instance's test says, and what it does not say."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from shared.domain.instances import Finding, InstanceReport
from shared.domain.outcomes import OutcomeCode

_NO_ANSWER: Final = frozenset({OutcomeCode.TIMEOUT, OutcomeCode.CONNECTION_FAILED, OutcomeCode.BLOCKED_ADDRESS})
_LIST_IS_CLOSED: Final = frozenset(
    {OutcomeCode.UNAUTHORIZED, OutcomeCode.FORBIDDEN, OutcomeCode.CAPABILITY_UNAVAILABLE}
)
_NOTHING_SENT: Final = frozenset({OutcomeCode.NOT_CONFIGURED, OutcomeCode.QUERY_TOO_LONG})
_NEVER_THERE: Final = (_NO_ANSWER - {OutcomeCode.TIMEOUT}) | _NOTHING_SENT


def after_listing(report: InstanceReport, error_code: OutcomeCode | None, *, has_credential: bool) -> InstanceReport:
    """`error_code` None: the list came. Only a credential that was sent can have been accepted."""
    if error_code is None:
        known = Finding.PASSED if has_credential else Finding.UNTESTED
        return replace(report, reachable=Finding.PASSED, authenticated=known, list_readable=Finding.PASSED)
    answered = _after_failure(report, error_code)
    return replace(answered, list_readable=Finding.FAILED) if error_code not in _NEVER_THERE else answered


def after_retrieval(report: InstanceReport, error_code: OutcomeCode | None, *, has_credential: bool) -> InstanceReport:
    """A search that came through outweighs a list that may not be read: some keys are for searching alone. Whatever
    else was wrong with the list stays said.
    """
    if error_code is None:
        known = Finding.PASSED if has_credential else report.authenticated
        kept = None if report.error_code in _LIST_IS_CLOSED else report.error_code
        return replace(report, reachable=Finding.PASSED, authenticated=known, retrieval=Finding.PASSED, error_code=kept)
    answered = _after_failure(report, error_code)
    return answered if error_code in _NOTHING_SENT else replace(answered, retrieval=Finding.FAILED)


def _after_failure(report: InstanceReport, error_code: OutcomeCode) -> InstanceReport:
    """What was found before is not unfound: some servers call a failed search an authentication error."""
    report = replace(report, error_code=error_code)
    if error_code in _NOTHING_SENT:
        return report
    if error_code in _NO_ANSWER:
        return report if report.reachable is Finding.PASSED else replace(report, reachable=Finding.FAILED)
    if error_code == OutcomeCode.UNAUTHORIZED and report.authenticated is not Finding.PASSED:
        return replace(report, reachable=Finding.PASSED, authenticated=Finding.FAILED)
    return replace(report, reachable=Finding.PASSED)
