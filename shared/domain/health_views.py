"""How a provider is, out of all that is known of it, and how all of them are together. Pure rules.

What is known are signs: the registration, the circuits of both lanes, the last look of the probe, the pool of a live
service. The worst sign decides, in the order of `STATES`; one more bad sign never makes a provider look better.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from shared.domain.allowances import Allowance
from shared.domain.circuits import WELL, Circuit, Circuits, CircuitState, Effect, Lane, revision_of
from shared.domain.effects import EFFECTS
from shared.domain.health import HealthRecords, HealthState, Look, ProbeRun, ProviderHealth
from shared.domain.journal import JournalEntry
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import Warning_
from shared.domain.pool_views import PoolView
from shared.domain.pools import Pool
from shared.domain.registrations import Provider, ProviderStatus, StatusReason

STALE_AFTER_S: Final = 900.0

# The worst first.
STATES: Final = (
    HealthState.DISABLED,
    HealthState.AUTO_DISABLED,
    HealthState.REFUSED,
    HealthState.BROKEN,
    HealthState.DOWN,
    HealthState.LIMITED,
    HealthState.FAILING,
    HealthState.NOT_CONFIGURED,
    HealthState.UNCHECKED,
    HealthState.HEALTHY,
)
_RANK: Final = {state: rank for rank, state in enumerate(STATES)}
_FINE: Final = frozenset({HealthState.HEALTHY, HealthState.UNCHECKED})
_ASKED: Final = _FINE | {HealthState.FAILING}  # what is in any other state gives nothing at the moment
_LEFT_ALONE: Final = {
    Effect.TRANSIENT: HealthState.DOWN,
    Effect.REFUSAL: HealthState.REFUSED,
    Effect.FAULT: HealthState.BROKEN,
}
_FAILED_LAST: Final = {**_LEFT_ALONE, Effect.TRANSIENT: HealthState.FAILING}


class Overall(StrEnum):
    """Of all providers that are in use. `DEGRADED` also where it is not known."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    DOWN = "down"


class Part(StrEnum):
    """What health is put together from, where it could not be read."""

    AGENT_CIRCUITS = "agent_circuits"
    CUSTOMER_CIRCUITS = "customer_circuits"
    LOOKS = "looks"
    KEYS = "keys"
    RESTS = "rests"
    ALLOWANCES = "allowances"
    AGENT_HISTORY = "agent_history"
    CUSTOMER_HISTORY = "customer_history"


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolHealth:
    """`view` and `allowance` are None where they could not be read."""

    pool: Pool
    view: PoolView | None = None
    allowance: Allowance | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Looks:
    """What the probe has written, and when: `began_at` of the last whole run, if it left nothing out."""

    by_provider: Mapping[str, ProviderHealth] = field(default_factory=dict)
    began_at: float | None = None
    is_stale: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """All that is known of one provider. `circuits` has no entry for a lane that could not be read, or that it is not
    asked on.
    """

    provider: Provider
    circuits: Mapping[Lane, Circuit] = field(default_factory=dict)
    looks: Looks = field(default_factory=Looks)
    pool: PoolHealth | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """One thing that speaks for a state. Times are Unix seconds. `is_of_look`: a look says it, and nothing that keeps
    searches from asking.
    """

    state: HealthState
    code: OutcomeCode | None = None
    since: float | None = None
    retry_at: float | None = None
    is_of_look: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderView:
    """`look` is None for a registration, as it is now, that nobody has looked at yet."""

    provider: Provider
    sign: Sign
    look: Look | None = None
    warnings: tuple[Warning_, ...] = ()
    last_well_at: float | None = None
    circuits: Mapping[Lane, Circuit] = field(default_factory=dict)

    @property
    def state(self) -> HealthState:
        return self.sign.state


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthReport:
    """`providers` with the worst first. `run` is the last one that was begun; `is_stale`: none has finished lately.
    `tells_counts`: whether the caller may know how many providers there are. `unavailable` names what could not be
    read. `history` is of one provider alone, the newest first.
    """

    status: Overall
    at: float
    run: ProbeRun | None
    looked_at: float | None
    is_stale: bool
    providers: tuple[ProviderView, ...]
    pools: tuple[PoolHealth, ...]
    unavailable: tuple[Part, ...]
    tells_counts: bool = False
    history: tuple[JournalEntry, ...] = ()


def in_use(provider: Provider, agent_circuits: Circuits) -> Provider:
    """The registration with the status that counts: `auto_disabled` where it is on and a circuit has taken it out of
    use. What customers' searches bring about is never shown as a status.
    """
    circuit = agent_circuits.get(provider.id, WELL)
    if provider.status is not ProviderStatus.ACTIVE or not circuit.disabled_at:
        return provider
    reason = StatusReason(circuit.last_code, circuit.disabled_at)
    return replace(provider, status=ProviderStatus.AUTO_DISABLED, status_reason=reason)


def as_stored(provider: Provider) -> Provider:
    """The other way round: how its operator has set it."""
    is_lost = provider.status is ProviderStatus.AUTO_DISABLED
    return replace(provider, status=ProviderStatus.ACTIVE if is_lost else provider.status, status_reason=None)


def looks_of(records: HealthRecords | None, *, now: float) -> Looks:
    """None: what the probe has written cannot be read, so nothing is known of it."""
    if records is None:
        return Looks()
    run = records.finished
    finished_at = run.finished_at if run is not None else None
    return Looks(
        by_provider={each.provider_id: each for each in records.providers},
        began_at=run.started_at if run is not None and not run.left_out else None,
        is_stale=finished_at is None or now - finished_at > STALE_AFTER_S,
    )


def view_of(known: Known, *, now: float) -> ProviderView:
    revision = revision_of(known.provider.source)
    circuits = {lane: circuit.of(revision) for lane, circuit in known.circuits.items()}
    found = known.looks.by_provider.get(known.provider.id)
    look = found if found is not None and found.revision == revision else None
    return ProviderView(
        provider=known.provider,
        sign=worst(signs(known, circuits, look, now=now)),
        look=look.look if look else None,
        warnings=look.warnings if look else (),
        last_well_at=found.last_well_at if found else None,
        circuits=circuits,
    )


def worst(all_signs: Iterable[Sign]) -> Sign:
    """Of two that say the same, the first. Without any, nothing is known."""
    return min(all_signs, key=lambda sign: _RANK[sign.state], default=Sign(state=HealthState.UNCHECKED))


def overall(views: Iterable[ProviderView], *, is_stale: bool, is_partly_unknown: bool) -> Overall:
    """Providers that an operator has switched off count for nothing. `DOWN`: none of the others can give anything.
    `HEALTHY`: nothing is wrong with any, all could be read, and somebody has looked lately.
    """
    states = [view.state for view in views if view.state is not HealthState.DISABLED]
    if states and not _ASKED.intersection(states):
        return Overall.DOWN
    is_unknown = is_partly_unknown or (is_stale and bool(states))
    return Overall.DEGRADED if is_unknown or not _FINE.issuperset(states) else Overall.HEALTHY


def by_urgency(view: ProviderView) -> tuple[bool, int, str, str]:
    """Sorts views: the worst first, what is switched off last."""
    is_off = view.state is HealthState.DISABLED
    return is_off, _RANK[view.state], view.provider.source.name, view.provider.id


def signs(known: Known, circuits: Mapping[Lane, Circuit], look: ProviderHealth | None, *, now: float) -> Iterator[Sign]:
    """`circuits` and `look` are those that count for the registration as it is now."""
    if known.provider.status is ProviderStatus.DISABLED:
        yield Sign(state=HealthState.DISABLED, code=OutcomeCode.DISABLED)
    looked_well_at = _looked_well_at(look, known.looks)
    for circuit in circuits.values():
        yield from _signs_of_circuit(circuit, looked_well_at=looked_well_at, now=now)
    if known.pool is not None:
        yield from _signs_of_pool(known.pool, now=now)
    if look is not None:
        yield _sign_of_look(look, is_stale=known.looks.is_stale, now=now)


def _looked_well_at(look: ProviderHealth | None, looks: Looks) -> float | None:
    """A look is written when it changes alone; that all were looked at says that this one was."""
    is_well = look is not None and look.state is HealthState.HEALTHY
    return looks.began_at if is_well and not looks.is_stale else None


def _signs_of_circuit(circuit: Circuit, *, looked_well_at: float | None, now: float) -> Iterator[Sign]:
    state, code = circuit.state_at(now), circuit.last_code
    if state is CircuitState.AUTO_DISABLED:
        yield Sign(state=HealthState.AUTO_DISABLED, code=code, since=circuit.disabled_at)
    elif state is CircuitState.OPEN:
        yield _left_alone(circuit)
    elif code is not None and not circuit.is_held and not _is_over(circuit, looked_well_at):
        yield Sign(state=_FAILED_LAST[_effect(code)], code=code, since=circuit.last_at)


def _left_alone(circuit: Circuit) -> Sign:
    state = HealthState.LIMITED if circuit.is_held else _LEFT_ALONE[_effect(circuit.last_code)]
    return Sign(state=state, code=circuit.last_code, since=circuit.last_at, retry_at=circuit.open_until)


def _is_over(circuit: Circuit, looked_well_at: float | None) -> bool:
    """A look that went well shows that the provider is reached and takes our credentials, and no more than that: it
    says nothing of answers that break the contract, nor of one whose trials failed after looks had gone well.
    """
    is_beyond_looks = _effect(circuit.last_code) is Effect.FAULT or circuit.openings > 1
    return looked_well_at is not None and looked_well_at > circuit.last_at and not is_beyond_looks


def _effect(code: OutcomeCode | None) -> Effect:
    return Effect.TRANSIENT if code is None else EFFECTS.get(code, Effect.TRANSIENT)


def _signs_of_pool(pool: PoolHealth, *, now: float) -> Iterator[Sign]:
    view, allowance = pool.view, pool.allowance
    if view is not None and view.takes_keys and not view.keys:
        yield Sign(state=HealthState.NOT_CONFIGURED, code=OutcomeCode.NOT_CONFIGURED)
    elif view is not None and view.ready_again_at is not None:
        code = OutcomeCode.KEYS_EXHAUSTED if view.takes_keys else OutcomeCode.RATE_LIMITED
        yield Sign(state=HealthState.LIMITED, code=code, retry_at=view.ready_again_at)
    if allowance is not None and allowance.used_at(now) >= allowance.limit:
        yield Sign(
            state=HealthState.LIMITED, code=OutcomeCode.ALLOWANCE_EXHAUSTED, retry_at=allowance.free_again_at(now)
        )


def _sign_of_look(look: ProviderHealth, *, is_stale: bool, now: float) -> Sign:
    is_over = look.state is HealthState.LIMITED and look.retry_at is not None and look.retry_at <= now
    if is_over or (is_stale and look.state is HealthState.HEALTHY):
        return Sign(state=HealthState.UNCHECKED)
    # What failed between two looks and is over has left nothing behind: nobody can say since when all has been well.
    since = None if look.state in _FINE else look.since
    return Sign(state=look.state, code=look.code, since=since, retry_at=look.retry_at, is_of_look=True)
