"""Testing a self-hosted server, on the wire. Nothing that the server said is repeated, but for its version."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field, model_validator

from shared.domain.instances import Finding, Instance, InstanceKind, InstanceReport, Risk
from shared.domain.outcomes import OutcomeCode
from shared.web.instance_models import kind_of
from shared.web.remote_ids import RemoteId
from shared.web.server_fields import TestQuery, fingerprint_shown
from shared.web.server_outcome_words import server_explanation_of
from shared.web.shown import Shown
from shared.web.wire import AdminModel

MAY_BILL: Final = "upstream_may_bill_or_log"
LIST_FORBIDDEN: Final = "list_forbidden"
InstanceWarning = Literal["upstream_may_bill_or_log", "list_forbidden"]


class InstanceTest(AdminModel):
    """Reads the list; with `query` and `remoteId`, which come together, one knowledge base is searched as well."""

    query: TestQuery | None = None
    remote_id: RemoteId | None = None

    @model_validator(mode="after")
    def _together(self) -> InstanceTest:
        if (self.query is None) != (self.remote_id is None):
            raise ValueError("Send `query` and `remoteId` together, or neither")
        return self


class InstanceConditions(Shown):
    """What the server was asked under in this one test."""

    kind: InstanceKind
    base_url: str
    credential_fingerprint: str | None
    acknowledged: tuple[Risk, ...]
    has_private_authority: bool
    timeout_ms: int

    @classmethod
    def of(cls, instance: Instance, *, timeout_ms: int) -> InstanceConditions:
        return cls(
            kind=kind_of(instance),
            base_url=instance.base_url,
            credential_fingerprint=fingerprint_shown(instance.credential),
            acknowledged=tuple(sorted(instance.acknowledged)),
            has_private_authority=instance.private_authority is not None,
            timeout_ms=timeout_ms,
        )


class InstanceTestShown(Shown):
    """Each thing apart: none is claimed because another held. `explanation` says in words what `errorCode` means and
    what to do.
    """

    reachable: Finding = Field(description="Something answered at the address.")
    authenticated: Finding = Field(description="The credential was sent and accepted.")
    list_readable: Finding = Field(
        description="The list could be read. A key that may not read it can still be searched with: see `retrieval`."
    )
    retrieval: Finding = Field(description="One search came through, with or without hits.")
    result_count: int | None = Field(description="Hits of that search; null without one.")
    error_code: OutcomeCode | None
    explanation: str | None
    version: str | None = Field(description="Only where the server says it itself.")
    duration_ms: int
    warnings: tuple[InstanceWarning, ...] = Field(
        description="`upstream_may_bill_or_log`: the server may have billed and logged the search. `list_forbidden`: "
        "the list may not be read; bind with ids that you know."
    )
    effective: InstanceConditions

    @classmethod
    def of(
        cls, instance: Instance, report: InstanceReport, *, result_count: int | None, timeout_ms: int
    ) -> InstanceTestShown:
        return cls(
            reachable=report.reachable,
            authenticated=report.authenticated,
            list_readable=report.list_readable,
            retrieval=report.retrieval,
            result_count=result_count,
            error_code=report.error_code,
            explanation=server_explanation_of(report.error_code),
            version=report.version,
            duration_ms=report.duration_ms,
            warnings=_warnings(report),
            effective=InstanceConditions.of(instance, timeout_ms=timeout_ms),
        )


def _warnings(report: InstanceReport) -> tuple[InstanceWarning, ...]:
    searched = report.retrieval is not Finding.UNTESTED
    # A search that came through takes the code of a closed list with it, and of no other list.
    hidden = report.retrieval is Finding.PASSED and report.error_code is None
    forbidden = hidden or report.error_code == OutcomeCode.FORBIDDEN
    warnings: tuple[InstanceWarning, ...] = (MAY_BILL,) if searched else ()
    return (*warnings, LIST_FORBIDDEN) if forbidden and report.list_readable is Finding.FAILED else warnings
