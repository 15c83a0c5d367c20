"""What came back from one source, and which of it may be kept."""

from __future__ import annotations

from dataclasses import dataclass, replace

from shared.domain.exposure import ExposureProfile, may_keep
from shared.domain.outcomes import SKIPPED_CODES, Outcome, OutcomeCode, OutcomeStatus
from shared.domain.passages import Discovery, Passage, Retrieval, Warning_
from shared.domain.registrations import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One source's part of a search. Nothing is dropped for its audience before `sifted`."""

    source: Source
    outcome: Outcome
    passages: tuple[Passage, ...] = ()
    discoveries: tuple[Discovery, ...] = ()


def reply_with(source: Source, retrieval: Retrieval, *, duration_ms: int = 0) -> Reply:
    """A source answered; `result_count` is how many passages it returned, `truncated` that some of it was cut on the
    way in. Discoveries alone are a success too.
    """
    cut = Warning_.SURPLUS_CUT in retrieval.warnings or any(p.truncated for p in retrieval.passages)
    outcome = Outcome(
        provider_id=source.id,
        name=source.name,
        status=_status_of(retrieval.passages, retrieval.discoveries),
        duration_ms=duration_ms,
        result_count=len(retrieval.passages),
        truncated=cut,
        warnings=retrieval.warnings,
    )
    return Reply(source=source, outcome=outcome, passages=retrieval.passages, discoveries=retrieval.discoveries)


def reply_without(
    source: Source,
    code: OutcomeCode,
    *,
    was_asked: bool = True,
    duration_ms: int = 0,
    retry_at: float | None = None,
) -> Reply:
    """A source gave nothing: `skipped` when it was not asked at all, as some codes say by themselves, else `failed`."""
    outcome = Outcome(
        provider_id=source.id,
        name=source.name,
        status=OutcomeStatus.FAILED if was_asked and code not in SKIPPED_CODES else OutcomeStatus.SKIPPED,
        error_code=code,
        duration_ms=duration_ms,
        retry_at=retry_at,
    )
    return Reply(source=source, outcome=outcome)


def sifted(reply: Reply, profile: ExposureProfile) -> Reply:
    """Without the passages whose label forbids keeping them from a source of this profile; a drop leaves a warning.
    Discoveries carry no label, so only what is agent_only keeps them.
    """
    kept = tuple(p for p in reply.passages if may_keep(profile, p.audience))
    discoveries = reply.discoveries if profile is ExposureProfile.AGENT_ONLY else ()
    if len(kept) == len(reply.passages) and discoveries == reply.discoveries:
        return reply
    outcome = replace(
        reply.outcome,
        status=_status_of(kept, discoveries),
        result_count=len(kept),
        warnings=(*reply.outcome.warnings, Warning_.INTERNAL_DROPPED),
    )
    return replace(reply, passages=kept, discoveries=discoveries, outcome=outcome)


def _status_of(passages: tuple[Passage, ...], discoveries: tuple[Discovery, ...]) -> OutcomeStatus:
    return OutcomeStatus.SUCCESS if passages or discoveries else OutcomeStatus.EMPTY
