"""When a provider is left alone for a while: one circuit for each provider and lane. Pure rules.

    closed ── 3 transient failures in a row ──> open for 30 s, twice as long each time, at most 15 min, ±10 %
      ^  └─── 429 or 503 with Retry-After ────> open until then, at most 1 h; counts for nothing
      │
      └─ success ── trial <── one request at a time ── half-open <── the wait is over, or a probe found it well
                      └────── failure ──────────────> open again, for longer

Three refusals of the credentials in a row, or five answers in a row against the contract, take the provider out of use
until an operator puts it back; on the customer lane, where nothing may do that, they open the circuit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, TypeAlias

from shared.domain.lanes import Lane as Lane
from shared.domain.outcomes import OutcomeCode
from shared.domain.registrations import Source

MAX_FAILURES: Final = 3
MAX_REFUSALS: Final = 3
MAX_FAULTS: Final = 5
FIRST_WAIT_S: Final = 30.0
LONGEST_WAIT_S: Final = 900.0
LONGEST_HOLD_S: Final = 3_600.0  # however long a provider asks to be left alone
JITTER: Final = 0.1
TRIAL_LEASE_S: Final = 30.0
HURRIED_AFTER_S: Final = 30.0  # what callers in a hurry leave to the others, after each trial that showed nothing
CLOCKS_DIFFER_S: Final = 30.0  # at most, where they are right; what ends later than it can was written by a wrong one


class CircuitState(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"
    AUTO_DISABLED = "auto_disabled"


class Effect(StrEnum):
    """What an outcome says about the provider. `NOTHING`: neither that it is well nor that it is not."""

    SUCCESS = "success"
    TRANSIENT = "transient"
    REFUSAL = "refusal"
    FAULT = "fault"
    HOLD = "hold"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Circuit:
    """What is remembered of one provider on one lane; of one that is well, nothing (`WELL`). Times are Unix seconds.

    `revision` says of which state of the registration: what another one did counts for nothing, but being disabled
    lasts. The counts are in a row: a success clears them. `openings` is how often in a row it opened of itself;
    `is_held`: the provider said how long. `trial_id` holds the one trial until `trial_until`; without it, that is when
    a trial ended that showed nothing.
    """

    revision: str = ""
    failures: int = 0
    refusals: int = 0
    faults: int = 0
    openings: int = 0
    open_until: float = 0.0
    is_held: bool = False
    trial_id: str = ""
    trial_until: float = 0.0
    disabled_at: float = 0.0
    last_code: OutcomeCode | None = None
    last_at: float = 0.0

    def state_at(self, now: float) -> CircuitState:
        if self.disabled_at:
            return CircuitState.AUTO_DISABLED
        if not self.open_until:
            return CircuitState.CLOSED
        return CircuitState.OPEN if now < self._ends(now) else CircuitState.HALF_OPEN

    def free_at(self, now: float) -> float | None:
        """When it can be asked again: in the past or now for one that may be asked, None for one that is disabled."""
        if self.disabled_at:
            return None
        if not self.open_until:
            return now
        trial_until = self.trial_until if self.trial_id else 0.0
        return max(self._ends(now), _believed(trial_until, TRIAL_LEASE_S, now=now))

    def is_new_at(self, now: float) -> bool:
        """Whether it is half-open for so short a time that who has the patience for a fair trial may yet come."""
        return 0 <= now - max(self.open_until, self.trial_until) < HURRIED_AFTER_S

    def _ends(self, now: float) -> float:
        longest_s = LONGEST_HOLD_S if self.is_held else LONGEST_WAIT_S * (1 + JITTER)
        return _believed(self.open_until, longest_s, now=now)

    def of(self, revision: str) -> Circuit:
        """What of it counts for this revision."""
        if self.revision == revision:
            return self
        return self.but_out_of_use(revision) if self.disabled_at else WELL

    def but_out_of_use(self, revision: str) -> Circuit:
        """That it is out of use and why, and nothing else of it, under this revision."""
        return Circuit(revision=revision, disabled_at=self.disabled_at, last_code=self.last_code, last_at=self.last_at)


WELL: Final = Circuit()

Circuits: TypeAlias = "Mapping[str, Circuit]"  # by provider id; one that is not in it is well
Rule: TypeAlias = "Callable[[Circuits], Circuits]"  # of all, those that change; `WELL` forgets one


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """What one outcome says, for `after`. `held_until` comes with `HOLD`; `trial_id` is the one that this request
    holds, if any. `jitter` lies between -1 and 1. `may_disable`: whether its lane may take a provider out of use.
    """

    revision: str
    effect: Effect
    code: OutcomeCode | None = None
    held_until: float | None = None
    trial_id: str = ""
    jitter: float = 0.0
    may_disable: bool = False


def _believed(end: float, longest_s: float, *, now: float) -> float:
    """When it ends; over, where it would take longer than anything can: the clock that set it was ahead."""
    return end if end <= now + longest_s + CLOCKS_DIFFER_S else now


def revision_of(source: Source) -> str:
    """Changes with every write of the registration, and of the instance that it is bound to."""
    return f"{source.generation}.{source.link.generation}" if source.link else str(source.generation)


def circuit_of(source: Source, circuits: Circuits) -> Circuit:
    """What counts of it for the registration as it is now; `WELL` where nothing does."""
    found = circuits.get(source.id)
    return WELL if found is None else found.of(revision_of(source))


def after(circuit: Circuit, incident: Incident, *, now: float) -> Circuit:
    """The circuit once this has happened; the very same one where it changes nothing."""
    current = circuit.of(incident.revision)
    if current.disabled_at or _is_older(incident.revision, circuit.revision):
        return circuit
    if current.open_until and not _is_trial_of(current, incident):
        return circuit  # asked before it opened, or by one whose lease is over: the trial decides
    if incident.effect is Effect.NOTHING:
        return replace(_released(current), trial_until=now) if current.open_until else circuit
    if incident.effect is Effect.SUCCESS:
        return WELL if current is not WELL else circuit
    if incident.effect is Effect.HOLD:
        return _held(current, incident, now=now)
    return _failed(current, incident, now=now)


def claimed(circuit: Circuit, trial_id: str, *, now: float, is_hurried: bool = False) -> Circuit | None:
    """With the trial taken; None where there is none to take. Whoever is in a hurry shows little by a trial, and takes
    none as long as a patient one may come: together they try once in `HURRIED_AFTER_S` at most.
    """
    free_at = circuit.free_at(now)
    if circuit.state_at(now) is not CircuitState.HALF_OPEN or free_at is None or free_at > now:
        return None
    if is_hurried and circuit.is_new_at(now):
        return None
    return replace(circuit, trial_id=trial_id, trial_until=now + TRIAL_LEASE_S)


def found_well(circuit: Circuit, *, now: float) -> Circuit:
    """A probe found the provider well: the next request is the trial. Whoever asked for a wait is left to it."""
    if circuit.state_at(now) is not CircuitState.OPEN or circuit.is_held:
        return circuit
    return replace(circuit, open_until=now)


def disabled(circuit: Circuit, incident: Incident, *, now: float) -> Circuit:
    """Out of use, by a refusal or a fault that another lane has counted."""
    return Circuit(
        revision=incident.revision, disabled_at=circuit.disabled_at or now, last_code=incident.code, last_at=now
    )


def begun_anew(circuit: Circuit, revision: str) -> Circuit:
    """Once the registration has been written as `revision`; the very same where nothing older is remembered. Of one
    that is remembered the new one is, with nothing counted: so what is still told to those who asked before says
    nothing. Being out of use outlasts it.
    """
    return circuit if circuit.disabled_at or not _is_older(circuit.revision, revision) else Circuit(revision=revision)


def _is_older(revision: str, than: str) -> bool:
    """Asked under a registration that has been written since: what came of it says nothing about how it is now."""
    try:
        return _parts_of(revision) < _parts_of(than)
    except ValueError:
        return False


def _parts_of(revision: str) -> tuple[int, ...]:
    return tuple(int(part) for part in revision.split("."))


def _is_trial_of(circuit: Circuit, incident: Incident) -> bool:
    return bool(incident.trial_id) and circuit.trial_id == incident.trial_id


def _released(circuit: Circuit) -> Circuit:
    return replace(circuit, trial_id="", trial_until=0.0)


def _held(circuit: Circuit, incident: Incident, *, now: float) -> Circuit:
    until = min(incident.held_until or now, now + LONGEST_HOLD_S)
    return replace(
        _released(circuit),
        revision=incident.revision,
        open_until=until,
        is_held=True,
        last_code=incident.code,
        last_at=now,
    )


def _failed(circuit: Circuit, incident: Incident, *, now: float) -> Circuit:
    counted = replace(
        _released(circuit),
        revision=incident.revision,
        failures=circuit.failures + (incident.effect is Effect.TRANSIENT),
        refusals=circuit.refusals + (incident.effect is Effect.REFUSAL),
        faults=circuit.faults + (incident.effect is Effect.FAULT),
        last_code=incident.code,
        last_at=now,
    )
    is_lost = counted.refusals >= MAX_REFUSALS or counted.faults >= MAX_FAULTS
    if is_lost and incident.may_disable:
        return replace(counted, disabled_at=now, open_until=0.0, is_held=False)
    if is_lost or counted.failures >= MAX_FAILURES or circuit.open_until:
        return _opened(counted, jitter=incident.jitter, now=now)
    return counted


def _opened(circuit: Circuit, *, jitter: float, now: float) -> Circuit:
    wait_s = min(FIRST_WAIT_S * 2**circuit.openings, LONGEST_WAIT_S) * (1 + JITTER * jitter)
    return replace(circuit, openings=min(circuit.openings + 1, 16), open_until=now + wait_s, is_held=False)
