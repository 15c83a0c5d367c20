"""The probe's service in memory: fakes around it, looks that play a script, and a clock that stands still.

stage = ProbeStage(providers)
stage.finds(provider, OutcomeCode.TIMEOUT)
probed = stage.run()                # the next run, once it is due
stage.circuits[Lane.AGENT].circuits[provider.id] = an_open_circuit(provider)
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, cast

from aws_lambda_powertools import Logger

from shared.domain.circuits import Circuit, Lane, revision_of
from shared.domain.health import Finding, HealthState, ProviderHealth, look_of
from shared.domain.outcomes import OutcomeCode
from shared.domain.registrations import Provider, ProviderKind
from shared.services.probe_looks import LookAtAll
from shared.services.probe_providers import Probed, ProbeProviders
from shared.services.tend_circuits import TendCircuits
from tests.support.fakes import FakeCatalog, FakeClock
from tests.support.health_fakes import FakeCircuitStore, FakeHealthBook, FakeJournal, ScriptedCheck
from tests.support.search_stage import RecordedLog

EVERY_S = 240.0


class ProbeStage:
    def __init__(self, providers: Iterable[Provider] = (), **looking: Any) -> None:
        self.clock = FakeClock()
        self.providers = list(providers)
        self.catalog = FakeCatalog(self.providers)
        self.book = FakeHealthBook(self.clock)
        self.journal = FakeJournal(self.clock)
        self.circuits = {lane: FakeCircuitStore() for lane in Lane}
        self.check = ScriptedCheck()
        self.log = RecordedLog()
        self._looking = looking
        self.probe = self.another()

    def another(self) -> ProbeProviders:
        """The same in another process."""
        logger = cast("Logger", self.log)
        looks = {"checks": dict.fromkeys(ProviderKind, self.check), "clock": self.clock, "logger": logger}
        return ProbeProviders(
            catalog=self.catalog,
            book=self.book,
            journal=self.journal,
            circuits=TendCircuits(
                agent=self.circuits[Lane.AGENT],
                customer=self.circuits[Lane.CUSTOMER],
                clock=self.clock,
                logger=logger,
            ),
            look_at_all=LookAtAll(**looks | self._looking),
            clock=self.clock,
            logger=logger,
            every_s=EVERY_S,
        )

    def finds(self, provider: Provider, code: OutcomeCode | None = None, **over: Any) -> None:
        self.check.findings[provider.id] = Finding(look=look_of(provider.source.kind), code=code, **over)

    def run(self, *, budget_s: float = 45.0) -> Probed:
        """A run that is due: five minutes have passed since the last one."""
        self.clock.advance(300)
        probed = asyncio.run(self.probe(budget_s=budget_s))
        assert probed is not None
        return probed

    def health(self, provider: Provider) -> ProviderHealth:
        return self.book.healths[provider.id]

    def states(self, provider: Provider, codes: Iterable[OutcomeCode | None]) -> list[HealthState]:
        """What a row of looks, one a run, makes of a provider."""
        found = []
        for code in codes:
            self.finds(provider, code)
            self.run()
            found.append(self.health(provider).state)
        return found

    def said(self, event: str) -> list[tuple[str, dict[str, Any]]]:
        """Level and fields of each line of this event."""
        return [(level, fields) for level, said, fields in self.log.lines if said == event]


def a_circuit(provider: Provider, **over: Any) -> Circuit:
    """Of the registration as it is."""
    values: dict[str, Any] = {"revision": revision_of(provider.source), "last_code": OutcomeCode.TIMEOUT}
    return Circuit(**values | over)
