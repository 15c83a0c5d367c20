"""How far past its deadline an answer comes, over 1,000 runs each: of a fan-out alone among providers that misbehave,
and of whole searches, as they are wired, over a store that misbehaves too.
"""

from __future__ import annotations

import io
import logging
import random
import statistics
import sys
from collections.abc import Iterator
from contextlib import ExitStack, redirect_stdout
from dataclasses import replace

import pytest

from infra.local.provision import client_environment
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
from tests.contract.degraded import a_world
from tests.contract.injected import Injected, SkippingClock, good_plans, plans
from tests.contract.worlds import Clients
from tests.support.builders import SIGNING_SECRET, a_source
from tests.support.emulator import emulator
from tests.support.fakes import FakeSealer, FakeUnsealer
from tests.support.hostile_provider import BEHAVIOURS

RUNS = 1_000
BAR_MS = 50.0
_SOURCES_A_RUN = 6
_DEADLINES_S = (0.03, 0.06, 0.12)
_SEARCH_DEADLINES_S = (0.06, 0.12, 0.24)
_SEED = 20260802


def rows(*, runs: int = RUNS) -> Iterator[Row]:
    yield _row(f"worst overrun of a deadline, {runs} runs", _measure(runs))
    yield from _searches(runs)


def _row(name: str, late_ms: list[float], *, more: str = "") -> Row:
    late_ms = sorted(late_ms)
    p99, median = late_ms[int(len(late_ms) * 0.99)], statistics.median(late_ms)
    over = sum(late > BAR_MS for late in late_ms)
    note = f"median {median:.1f} ms, p99 {p99:.1f} ms, {over} over the bar, which is the deadline + 50 ms{more}"
    return Row(name, late_ms[-1], BAR_MS, "ms", 1.0, note)


def _searches(runs: int) -> Iterator[Row]:
    """Of those searches that were late or in a hurry, and what else was wrong with any: nothing may be."""
    clock = SkippingClock()
    with (
        ExitStack() as stack,
        redirect_stdout(io.StringIO()),  # the measures of 1,000 searches
        pytest.MonkeyPatch.context() as patch,
        emulator() as endpoint,
        a_server("tests.bench.hostile_process", str(_SEED)) as base_url,
    ):
        for name, value in client_environment(endpoint).items():
            patch.setenv(name, value)
        stack.callback(logging.disable, logging.NOTSET)
        logging.disable(logging.CRITICAL)
        patch.setattr(SystemClock, "now", clock.now)
        with a_world(endpoint, Clients(), prefix="bench") as world:
            injected = Injected(world, clock, _SEED, lambda number: f"{base_url}/{number}")
            with long_lived.set_up():
                for plan in good_plans(_SEED, after=runs):
                    injected.run(plan)  # warm, as above
            injected.late_ms.clear()
            for plan in plans(_SEED, how_many=runs, deadlines_s=_SEARCH_DEADLINES_S):
                injected.run(plan)
                if plan.number % 10 == 0:
                    injected.put_back()
    print(*injected.violations[:10], sep="\n", file=sys.stderr)
    codes = sum(count for word, count in injected.seen.items() if word != "success")
    yield _row(f"the same of searches with a failing store, {runs} runs", injected.late_ms, more=f"; {codes} faults")
    yield Row("searches that came to what they may not", len(injected.violations), 1.0, "", 0.0)


def _measure(runs: int) -> list[float]:
    chance, loop = random.Random(_SEED), ProcessLoop()
    with a_server("tests.bench.hostile_process") as base_url:
        with long_lived.set_up():  # as the handlers do
            asking = _Asking(base_url, loop)
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
