"""What came back from one source, and which of it may be kept."""

from __future__ import annotations

from dataclasses import dataclass, replace

from shared.domain.exposure import ExposureProfile, may_keep
from shared.domain.outcomes import SKIPPED_CODES, Outcome, OutcomeCode, OutcomeStatus
from shared.domain.passages import Passage, Retrieval, Warning_
from shared.domain.registrations import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One source's part of a search. Nothing is dropped for its audience before `sifted`."""

    source: Source
    outcome: Outcome
    passages: tuple[Passage, ...] = ()


def reply_with(source: Source, retrieval: Retrieval, *, duration_ms: int = 0) -> Reply:
    """A source answered; `result_count` is what it returned, `truncated` that some of it was cut on the way in."""
    cut = Warning_.SURPLUS_CUT in retrieval.warnings or any(p.truncated for p in retrieval.passages)
    outcome = Outcome(
        provider_id=source.id,
        name=source.name,
        status=_status_of(retrieval.passages),
        duration_ms=duration_ms,
        result_count=len(retrieval.passages),
        truncated=cut,
        warnings=retrieval.warnings,
    )
    return Reply(source=source, outcome=outcome, passages=retrieval.passages)


def reply_without(source: Source, code: OutcomeCode, *, duration_ms: int = 0, retry_at: float | None = None) -> Reply:
    """A source gave nothing: `skipped` when it was not asked at all, else `failed`."""
    outcome = Outcome(
        provider_id=source.id,
        name=source.name,
        status=OutcomeStatus.SKIPPED if code in SKIPPED_CODES else OutcomeStatus.FAILED,
        error_code=code,
        duration_ms=duration_ms,
        retry_at=retry_at,
    )
    return Reply(source=source, outcome=outcome)


def sifted(reply: Reply, profile: ExposureProfile) -> Reply:
    """Without the passages whose label forbids keeping them from a source of this profile; a drop leaves a warning."""
    kept = tuple(p for p in reply.passages if may_keep(profile, p.audience))
    if len(kept) == len(reply.passages):
        return reply
    outcome = replace(
        reply.outcome,
        status=_status_of(kept),
        result_count=len(kept),
        warnings=(*reply.outcome.warnings, Warning_.INTERNAL_DROPPED),
    )
    return replace(reply, passages=kept, outcome=outcome)


def _status_of(passages: tuple[Passage, ...]) -> OutcomeStatus:
    return OutcomeStatus.SUCCESS if passages else OutcomeStatus.EMPTY
