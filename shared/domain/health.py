"""What a scheduled look at a provider found, and what is made of several in a row. Pure rules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from shared.domain.circuits import Effect
from shared.domain.effects import EFFECTS
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import Warning_
from shared.domain.registrations import ProviderKind

DOWN_AFTER: Final = 3  # looks in a row that failed for a passing reason


class Look(StrEnum):
    """What was looked at. `NOTHING`: the kind has nothing that can be read without a search or a paid call."""

    CAPABILITIES = "capabilities"
    KNOWLEDGE_BASE = "knowledge_base"
    TOOLS = "tools"
    NOTHING = "nothing"


_LOOKS: Final = {
    ProviderKind.CONTRACT: Look.CAPABILITIES,
    ProviderKind.DIFY: Look.KNOWLEDGE_BASE,
    ProviderKind.FASTGPT: Look.KNOWLEDGE_BASE,
    ProviderKind.RAGFLOW: Look.KNOWLEDGE_BASE,
    ProviderKind.DEEPWIKI: Look.TOOLS,
    ProviderKind.MINTLIFY: Look.TOOLS,
}


def look_of(kind: ProviderKind) -> Look:
    """What is looked at of a provider of this kind."""
    return _LOOKS.get(kind, Look.NOTHING)


class HealthState(StrEnum):
    """How a provider is. The first six come of looks; the others of its registration, its circuit or its pool."""

    HEALTHY = "healthy"
    LIMITED = "limited"  # it, or its keys, are to be left alone for a while
    FAILING = "failing"  # a look failed for a reason that may pass
    DOWN = "down"  # several did, or its circuit is open
    REFUSED = "refused"  # it does not take our credentials
    BROKEN = "broken"  # it answers, and not as its contract says
    UNCHECKED = "unchecked"  # nothing is known yet, or nothing can be looked at
    NOT_CONFIGURED = "not_configured"  # no keys
    DISABLED = "disabled"
    AUTO_DISABLED = "auto_disabled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One look. `code` is None when all is well. `retry_at` (Unix seconds): the provider said when to come back."""

    look: Look
    code: OutcomeCode | None = None
    retry_at: float | None = None
    duration_ms: int = 0
    warnings: tuple[Warning_, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderHealth:
    """What the looks at one provider have shown. Written when it changes, not with every look; times are Unix seconds.

    `since`: when it came into this state. `failures`: looks in a row that failed for a passing reason. `revision`: of
    the registration that was looked at.
    """

    provider_id: str
    revision: str
    look: Look
    state: HealthState
    since: float
    code: OutcomeCode | None = None
    failures: int = 0
    warnings: tuple[Warning_, ...] = ()
    retry_at: float | None = None
    last_well_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeRun:
    """The last run over all providers: `finished_at` is None while it goes on, or when it was cut off. `next_id` is the
    provider with which the next run begins, where this one left some out.
    """

    run_id: str
    started_at: float
    finished_at: float | None = None
    looked_at: int = 0
    left_out: int = 0  # for want of time
    next_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthRecords:
    """All that the probe has written. `finished` is the last run that came to its end: `run`, unless that goes on still
    or was cut off.
    """

    run: ProbeRun | None = None
    finished: ProbeRun | None = None
    providers: tuple[ProviderHealth, ...] = ()


_STATES: Final = {
    Effect.TRANSIENT: HealthState.FAILING,
    Effect.REFUSAL: HealthState.REFUSED,
    Effect.FAULT: HealthState.BROKEN,
}
_LIMITED: Final = frozenset({OutcomeCode.RATE_LIMITED, OutcomeCode.KEYS_EXHAUSTED, OutcomeCode.ALLOWANCE_EXHAUSTED})


def after_look(
    before: ProviderHealth | None, finding: Finding, *, provider_id: str, revision: str, now: float
) -> ProviderHealth:
    """What is known now; equal to `before` where nothing has changed. What was found of another revision is forgotten,
    but for when it was last well.
    """
    known = before if before is not None and before.revision == revision else None
    state = _state_of(finding)
    failures = (known.failures if known else 0) + 1 if state is HealthState.FAILING else 0
    failures = min(failures, DOWN_AFTER)
    if failures >= DOWN_AFTER:
        state = HealthState.DOWN
    health = ProviderHealth(
        provider_id=provider_id,
        revision=revision,
        look=finding.look,
        state=state,
        since=known.since if known and known.state is state else now,
        code=finding.code,
        failures=failures,
        warnings=finding.warnings,
        retry_at=finding.retry_at,
        last_well_at=before.last_well_at if before else None,
    )
    return _with_last_well(health, known, now=now)


def _with_last_well(health: ProviderHealth, known: ProviderHealth | None, *, now: float) -> ProviderHealth:
    """Of a provider that is well, when it began to be so: the runs themselves say how long it has been."""
    if health.state is not HealthState.HEALTHY:
        if known is not None and known.state is HealthState.HEALTHY:
            return replace(health, last_well_at=now)
        return health
    return replace(health, last_well_at=health.since)


def _state_of(finding: Finding) -> HealthState:
    if finding.look is Look.NOTHING:
        return HealthState.UNCHECKED
    if finding.code is None:
        return HealthState.HEALTHY
    if finding.code in _LIMITED or finding.retry_at is not None:
        return HealthState.LIMITED
    if finding.code is OutcomeCode.NOT_CONFIGURED:
        return HealthState.NOT_CONFIGURED
    if finding.code is OutcomeCode.CAPABILITY_UNAVAILABLE:
        return HealthState.BROKEN
    effect = EFFECTS.get(finding.code, Effect.TRANSIENT)
    return _STATES[effect]
