"""How providers are, on the wire: what is known, what was and was not looked at, and what could not be read."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field

from shared.domain.allowances import Allowance
from shared.domain.circuits import Circuit, CircuitState, Lane
from shared.domain.exposure import ExposureProfile
from shared.domain.health import HealthState, Look, ProbeRun
from shared.domain.health_views import HealthReport, Overall, Part, PoolHealth, ProviderView
from shared.domain.journal import Happening, JournalEntry
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import Warning_
from shared.domain.pools import KEYED_POOLS, Pool
from shared.domain.registrations import LIVE_KINDS, SERVER_KINDS, ProviderKind, ProviderStatus
from shared.web.live_outcome_words import live_explanation_of
from shared.web.moments import moment, moment_or_none
from shared.web.outcome_words import explanation_of
from shared.web.server_outcome_words import server_explanation_of
from shared.web.shown import Shown

Moment = Annotated[str, Field(json_schema_extra={"format": "date-time"})]

STATE_WORDS: Final = {
    HealthState.HEALTHY: "The last look went well.",
    HealthState.LIMITED: "It, or what it is asked with, is to be left alone for a while.",
    HealthState.FAILING: "It failed last, or at its trials, for a reason that may pass, and is still asked.",
    HealthState.DOWN: "It failed repeatedly.",
    HealthState.REFUSED: "It does not take our credentials.",
    HealthState.BROKEN: "It answers, and not as its contract says.",
    HealthState.NOT_CONFIGURED: "It cannot be asked as it is set up.",
    HealthState.DISABLED: "",
    HealthState.AUTO_DISABLED: "It was taken out of use. `status: active`, or a passed test, puts it back.",
}
_LOOK_LIMITED: Final = "A look was told to come back later, and looks wait for that. It keeps no search from asking."
_NOT_LOOKED_AT: Final = "Nobody has looked at it lately, and nothing is known to have failed."
_NOTHING_TO_LOOK_AT: Final = "Nothing of it can be looked at without a search, and nothing is known to have failed."


class CircuitShown(Shown):
    """What searches of one lane have met. `failures` counts those in a row; a success clears everything."""

    state: CircuitState
    failures: int
    open_until: Moment | None
    last_code: OutcomeCode | None
    last_at: Moment | None

    @classmethod
    def of(cls, circuit: Circuit, *, now: float) -> CircuitShown:
        state = circuit.state_at(now)
        return cls(
            state=state,
            failures=circuit.failures + circuit.refusals + circuit.faults,
            open_until=moment(circuit.open_until) if state is CircuitState.OPEN else None,
            last_code=circuit.last_code,
            last_at=moment_or_none(circuit.last_at or None),
        )


class CircuitsShown(Shown):
    """`agent`: agents' searches. `customer`: those of assistants and widgets; null for a provider that they never ask.
    Either is null where it could not be read.
    """

    agent: CircuitShown | None
    customer: CircuitShown | None


class ProviderHealthShown(Shown):
    id: str = Field(examples=["cs_k3j5mq2x7a4bwz6t"])
    name: str
    kind: ProviderKind
    exposure_profile: ExposureProfile
    status: ProviderStatus
    state: HealthState = Field(description="The worst that is known of it; docs/api.md has the order.")
    since: Moment | None = Field(
        description="Since when that speaks for this state: the first of the looks in a row that found it, or the last "
        "failure that a search met. Null for `healthy` and `unchecked`: what failed meanwhile and is over is not kept."
    )
    looked: Look | None = Field(
        description="What the probe looks at. `nothing`: nothing of it can be looked at without a search. Null: this "
        "registration, as it is now, was not looked at yet."
    )
    code: OutcomeCode | None
    explanation: str = Field(description="What the state and the code mean, and what to do.")
    retry_at: Moment | None
    last_well_at: Moment | None = Field(description="When a look last began, or ceased, to go well.")
    warnings: tuple[Warning_, ...]
    circuits: CircuitsShown

    @classmethod
    def of(cls, view: ProviderView, *, now: float) -> ProviderHealthShown:
        provider, sign = view.provider, view.sign
        of_lanes = {lane: CircuitShown.of(circuit, now=now) for lane, circuit in view.circuits.items()}
        return cls(
            id=provider.id,
            name=provider.source.name,
            kind=provider.source.kind,
            exposure_profile=provider.exposure_profile,
            status=provider.status,
            state=view.state,
            since=moment_or_none(sign.since),
            looked=view.look,
            code=sign.code,
            explanation=_explanation(view),
            retry_at=moment_or_none(sign.retry_at),
            last_well_at=moment_or_none(view.last_well_at),
            warnings=view.warnings,
            circuits=CircuitsShown(agent=of_lanes.get(Lane.AGENT), customer=of_lanes.get(Lane.CUSTOMER)),
        )


class AllowanceLeft(Shown):
    """Operations of 24 hours. `used` has the unknown ones in it."""

    limit: int
    used: int
    unknown: int

    @classmethod
    def of(cls, allowance: Allowance, *, now: float) -> AllowanceLeft:
        return cls(limit=allowance.limit, used=allowance.used_at(now), unknown=allowance.unknown_at(now))


class PoolHealthShown(Shown):
    """How many keys there are; null where they, or their rests, could not be read. `retryAt`: all of them rest."""

    pool: Pool
    takes_keys: bool
    configured: int | None
    usable: int | None
    resting: int | None
    retry_at: Moment | None
    allowance: AllowanceLeft | None

    @classmethod
    def of(cls, pool: PoolHealth, *, now: float) -> PoolHealthShown:
        view = pool.view
        return cls(
            pool=pool.pool,
            takes_keys=pool.pool in KEYED_POOLS,
            configured=len(view.keys) if view else None,
            usable=view.usable if view else None,
            resting=view.resting if view else None,
            retry_at=moment_or_none(view.ready_again_at) if view else None,
            allowance=AllowanceLeft.of(pool.allowance, now=now) if pool.allowance else None,
        )


class RunShown(Shown):
    """A run of the probe. `finishedAt` is null while it goes on, and when it was cut off. `leftOut`: providers that
    there was no time for. Both counts are of all providers, and null for a caller that is no admin.
    """

    started_at: Moment
    finished_at: Moment | None
    looked_at: int | None
    left_out: int | None

    @classmethod
    def of(cls, run: ProbeRun, *, tells_counts: bool) -> RunShown:
        return cls(
            started_at=moment(run.started_at),
            finished_at=moment_or_none(run.finished_at),
            looked_at=run.looked_at if tells_counts else None,
            left_out=run.left_out if tells_counts else None,
        )


class _Health(Shown):
    status: Overall = Field(
        description="`down`: none of the providers that are in use can give anything. `degraded`: something is wrong "
        "with one of them, a part could not be read, or nobody has looked lately."
    )
    checked_at: Moment | None = Field(description="When the probe last finished a run.")
    stale: bool = Field(description="Whether no run has finished within 15 minutes: what looks found is not believed.")
    run: RunShown | None = Field(description="The last run that was begun.")
    pools: tuple[PoolHealthShown, ...]
    unavailable: tuple[Part, ...] = Field(description="What could not be read now, and is missing from this answer.")


class HealthShown(_Health):
    """Put together out of what is known; nobody is asked anything. The worst comes first, what is disabled last."""

    providers: tuple[ProviderHealthShown, ...]

    @classmethod
    def of(cls, report: HealthReport) -> HealthShown:
        providers = tuple(ProviderHealthShown.of(each, now=report.at) for each in report.providers)
        return cls(providers=providers, **_common(report))


class HappeningShown(Shown):
    """A change of state. `lane` is null for what the probe saw; `until`: of a circuit that opened."""

    at: Moment
    happening: Happening
    state: str
    lane: Lane | None
    code: OutcomeCode | None
    until: Moment | None

    @classmethod
    def of(cls, entry: JournalEntry) -> HappeningShown:
        return cls(
            at=moment(entry.at),
            happening=entry.happening,
            state=entry.state,
            lane=entry.lane,
            code=entry.code,
            until=moment_or_none(entry.until),
        )


class OneHealthShown(_Health):
    """`history`: the last 30 days, the newest first, at most 200 changes."""

    provider: ProviderHealthShown
    history: tuple[HappeningShown, ...]

    @classmethod
    def of(cls, report: HealthReport) -> OneHealthShown:
        (view,) = report.providers
        history = tuple(HappeningShown.of(each) for each in report.history)
        return cls(provider=ProviderHealthShown.of(view, now=report.at), history=history, **_common(report))


def _common(report: HealthReport) -> dict[str, Any]:
    return {
        "status": report.status,
        "checked_at": moment_or_none(report.looked_at),
        "stale": report.is_stale,
        "run": RunShown.of(report.run, tells_counts=report.tells_counts) if report.run else None,
        "pools": tuple(PoolHealthShown.of(each, now=report.at) for each in report.pools),
        "unavailable": report.unavailable,
    }


def _explanation(view: ProviderView) -> str:
    if view.state is HealthState.UNCHECKED:
        return _NOTHING_TO_LOOK_AT if view.look is Look.NOTHING else _NOT_LOOKED_AT
    is_of_look_alone = view.state is HealthState.LIMITED and view.sign.is_of_look
    words = _LOOK_LIMITED if is_of_look_alone else STATE_WORDS[view.state]
    return " ".join(text for text in (words, _explained(view)) if text)


def _explained(view: ProviderView) -> str | None:
    """The code in the words of the provider's kind."""
    kind, code = view.provider.source.kind, view.sign.code
    if kind in SERVER_KINDS:
        return server_explanation_of(code)
    if kind in LIVE_KINDS:
        return live_explanation_of(code)
    return None if code is None else explanation_of(code)
