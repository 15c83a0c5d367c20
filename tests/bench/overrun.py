"""How far past its deadline a fan-out answers when its providers misbehave, over 1,000 runs."""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator
from dataclasses import replace

from shared.adapters import long_lived
from shared.adapters.clock import SystemClock
from shared.adapters.event_loop import ProcessLoop
from shared.adapters.exchanges import PinnedExchanges
from shared.adapters.resolver import SystemResolver
from shared.domain.deadlines import Deadline
from shared.domain.passages import Question
from shared.domain.registrations import ProviderKind
from shared.observability import logger_for
from shared.providers.contract import ContractRetriever
from shared.services.ask_signed import AskSigned
from shared.services.fan_out import FanOut, Inquiry
from tests.bench.measure import Row
from tests.bench.processes import a_server
from tests.support.builders import SIGNING_SECRET, a_source
from tests.support.fakes import FakeSealer, FakeUnsealer
from tests.support.hostile_provider import BEHAVIOURS

RUNS = 1_000
BAR_MS = 50.0
_SOURCES_A_RUN = 6
_DEADLINES_S = (0.03, 0.06, 0.12)
_SEED = 20260802


def rows(*, runs: int = RUNS) -> Iterator[Row]:
    late_ms = sorted(_measure(runs))
    worst, median = late_ms[-1], statistics.median(late_ms)
    note = f"median {median:.1f} ms, p99 {late_ms[int(len(late_ms) * 0.99)]:.1f} ms; the bar is the deadline + 50 ms"
    yield Row(f"worst overrun of a deadline, {runs} runs", worst, BAR_MS, "ms", 1.0, note)


def _measure(runs: int) -> list[float]:
    chance, loop = random.Random(_SEED), ProcessLoop()
    with a_server("tests.bench.hostile_process") as base_url:
        asking = _Asking(base_url, loop)
        long_lived.set_up()  # as the handlers do
        asking.once(chance, deadline_s=1.0)  # connections, code and caches are warm, as in a warm function
        return [asking.once(chance, deadline_s=chance.choice(_DEADLINES_S)) for _ in range(runs)]


class _Asking:
    def __init__(self, base_url: str, loop: ProcessLoop) -> None:
        self._clock, self._loop = SystemClock(), loop
        exchanges = PinnedExchanges(
            resolver=SystemResolver(), clock=self._clock, allow_loopback_http=True, private_network_available=False
        )
        retriever = ContractRetriever(clock=self._clock, allow_test_names=True)
        self._fan_out = FanOut(
            askers={ProviderKind.CONTRACT: AskSigned(retriever=retriever, exchanges=exchanges, clock=self._clock)},
            clock=self._clock,
            logger=logger_for("bench"),
        )
        unsealer, sealer = FakeUnsealer(), FakeSealer()
        self._inquiries = []
        for name in sorted(BEHAVIOURS):
            source = a_source(base_url=f"{base_url}/{name}")
            sealed = loop.run(sealer.seal(SIGNING_SECRET, owner_id=source.id, purpose="signing"))
            self._inquiries.append(
                Inquiry(
                    source=replace(source, signing=sealed), question=Question(query="ferry pass"), unsealer=unsealer
                )
            )

    def once(self, chance: random.Random, *, deadline_s: float) -> float:
        """Milliseconds past the deadline; 0 when the answer came in time."""
        inquiries = chance.sample(self._inquiries, _SOURCES_A_RUN)
        started_s = self._clock.monotonic()
        deadline = Deadline.after(deadline_s, now_s=started_s)
        self._loop.run(self._fan_out.ask(inquiries, deadline=deadline, request_id="bench"))
        return max(0.0, (self._clock.monotonic() - deadline.at_s) * 1000)
