"""Stand-ins for what health is kept in, in memory: circuits, the journal, the probe's book; and a look at a provider.

    circuits = FakeCircuitStore()                     # of one lane; several keepers may share it
    circuits.circuits["cs_..."] = Circuit(revision="1", open_until=NOW + 30)
    circuits.meanwhile.append(rule)                   # another instance writes between reading and writing
    journal = FakeJournal(clock)
    book = FakeHealthBook(clock)
    check = ScriptedCheck({"cs_...": Finding(look=Look.TOOLS, code=OutcomeCode.TIMEOUT)})

Like the other fakes each has `failure`. The suites in `tests/contract` hold them to the ports.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace

from shared.domain.circuits import WELL, Circuit, Circuits, Rule
from shared.domain.deadlines import Deadline
from shared.domain.health import Finding, HealthRecords, Look, ProbeRun, ProviderHealth
from shared.domain.journal import KEPT_FOR_S, JournalEntry
from shared.domain.registrations import Provider
from shared.ports.circuits import ChangedCircuits, KnownCircuits
from shared.ports.clock import Clock
from tests.support.fakes import Failing


class FakeCircuitStore(Failing):
    """`circuits` by provider id. `reads` and `writes` count. Each rule of `meanwhile` is what another instance writes,
    once, just before a write here, which then finds another version. `pause` is awaited at the start of each change.
    """

    def __init__(self, circuits: Mapping[str, Circuit] | None = None) -> None:
        self.circuits: dict[str, Circuit] = dict(circuits or {})
        self.version = 1 if circuits else 0
        self.reads = 0
        self.writes = 0
        self.meanwhile: list[Rule] = []
        self.pause: Callable[[], Awaitable[None]] | None = None

    async def read(self) -> KnownCircuits:
        self.reads += 1
        self._may_fail()
        return self._known()

    async def change(self, rule: Rule, *, known: KnownCircuits) -> ChangedCircuits:
        if self.pause is not None:
            await self.pause()
        self._may_fail()
        while True:
            changes = rule(known.circuits)
            if not changes:
                return ChangedCircuits(before={}, after={}, known=known)
            if self.meanwhile:
                self._write(self.meanwhile.pop(0)(self.circuits))
            if known.version == self.version:
                self.writes += 1
                before = {id_: known.circuits.get(id_, WELL) for id_ in changes}
                self._write(changes)
                return ChangedCircuits(before=before, after=dict(changes), known=self._known())
            known = self._known()

    def _known(self) -> KnownCircuits:
        return KnownCircuits(circuits=dict(self.circuits), version=self.version)

    def _write(self, changes: Circuits) -> None:
        self.version += 1
        merged = {**self.circuits, **changes}
        self.circuits = {id_: circuit for id_, circuit in merged.items() if circuit != WELL}


class FakeJournal(Failing):
    """Both sides of it. `entries` holds all that was ever noted, oldest first. `pause` is awaited before each note."""

    def __init__(self, clock: Clock) -> None:
        self.entries: list[JournalEntry] = []
        self.pause: Callable[[], Awaitable[None]] | None = None
        self._clock = clock

    async def note(self, entries: Sequence[JournalEntry]) -> None:
        if self.pause is not None:
            await self.pause()
        self._may_fail()
        for entry in entries:
            if not (entry.is_once and entry in self.entries):
                self.entries.append(entry)

    async def latest(self, provider_id: str, *, limit: int) -> tuple[JournalEntry, ...]:
        self._may_fail()
        oldest = self._clock.now() - KEPT_FOR_S
        kept = [each for each in self.entries if each.provider_id == provider_id and each.at > oldest]
        return tuple(sorted(kept, key=lambda each: each.at, reverse=True)[:limit])


class FakeHealthBook(Failing):
    """`run`, `finished` (the last that was) and `healths` (by provider id) are what is written; `writes` counts the
    rows that `keep` changed.
    """

    def __init__(self, clock: Clock) -> None:
        self.run: ProbeRun | None = None
        self.finished: ProbeRun | None = None
        self.healths: dict[str, ProviderHealth] = {}
        self.lease_until = 0.0
        self.writes = 0
        self._clock = clock

    async def records(self) -> HealthRecords:
        self._may_fail()
        providers = tuple(self.healths[id_] for id_ in sorted(self.healths))
        return HealthRecords(run=self.run, finished=self.finished, providers=providers)

    async def begin(self, run_id: str, *, now: float, every_s: float, lease_s: float) -> bool:
        self._may_fail()
        if self.run is not None and not self._is_due(self.run, now=now, every_s=every_s, lease_s=lease_s):
            return False
        self.run = ProbeRun(run_id=run_id, started_at=now)
        self.lease_until = now + lease_s
        return True

    async def finish(self, run: ProbeRun) -> None:
        self._may_fail()
        if self.run is not None and self.run.run_id == run.run_id:
            self.run = replace(run, finished_at=self._clock.now() if run.finished_at is None else run.finished_at)
            self.finished = self.run

    async def keep(self, healths: Sequence[ProviderHealth], *, forget: Collection[str]) -> None:
        self._may_fail()
        self.writes += len(healths) + len(forget)
        self.healths |= {each.provider_id: each for each in healths}
        for provider_id in forget:
            self.healths.pop(provider_id, None)

    def _is_due(self, run: ProbeRun, *, now: float, every_s: float, lease_s: float) -> bool:
        """Times further ahead than can be are of a clock that was wrong, and hold nobody back."""
        has_passed = abs(now - run.started_at) >= every_s
        is_held = run.finished_at is None and now < self.lease_until <= now + lease_s
        return has_passed and not is_held


class ScriptedCheck:
    """Finds what `findings` says of a provider's id: a finding, or an async function that gives one. All others are
    well. `asked` holds the ids, oldest first.
    """

    def __init__(
        self, findings: Mapping[str, Finding | Callable[[Deadline], Awaitable[Finding]]] | None = None
    ) -> None:
        self.findings = dict(findings or {})
        self.asked: list[str] = []

    async def __call__(self, provider: Provider, *, deadline: Deadline) -> Finding:
        self.asked.append(provider.id)
        finding = self.findings.get(provider.id, Finding(look=Look.CAPABILITIES))
        return finding if isinstance(finding, Finding) else await finding(deadline)
