"""Recorded cases of live kinds, out of `fixtures/providers/<kind>/<topic>.json`, and the stages to play them on.

A case has a `name`, what is asked (`ask`), the service's `answers` in their order and the `outcome`. An answer has a
`status`, `headers`, and a JSON `body` or a `raw` one; or it is a text, the name of one under `named`.
"""

from __future__ import annotations

import json
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest

from shared.adapters.clock import SystemClock
from shared.adapters.exchanges import PinnedExchanges
from shared.adapters.resolver import SystemResolver
from shared.domain.deadlines import Deadline
from shared.domain.key_pools import LONGEST_REST_S
from shared.domain.passages import Retrieval
from shared.domain.pools import POOL_OF
from shared.domain.registrations import Source
from shared.errors import ExchangeError, Refused, Unclear
from shared.ports.exchange import OutboundAnswer
from shared.services.metering import Metering, PooledMeter
from tests.support.builders import NOW
from tests.support.fake_exchanges import FakeExchanges, Step
from tests.support.fakes import FakeClock
from tests.support.live_fakes import FakeAllowances, FakePoolKeys, FakePoolLedger
from tests.support.meters import ScriptedMeter
from tests.support.search_stage import RecordedLog

FIXTURES = Path(__file__).parents[2] / "fixtures" / "providers"
T = TypeVar("T")


def cases(kind: str, topic: str) -> pytest.MarkDecorator:
    """Runs a test once for each case of a topic, under the case's own name."""
    page = json.loads((FIXTURES / kind / f"{topic}.json").read_text(encoding="utf-8"))
    named = page.get("named", {})
    read = [{**case, "answers": [named.get(str(step), step) for step in case["answers"]]} for case in page["cases"]]
    return pytest.mark.parametrize("case", read, ids=[case["name"].replace(" ", "_") for case in read])


def answer_of(recorded: dict[str, Any]) -> OutboundAnswer:
    body = recorded["raw"] if "raw" in recorded else json.dumps(recorded["body"], ensure_ascii=False)
    headers = {"content-type": "application/json"} | recorded.get("headers", {})
    return OutboundAnswer(status=recorded["status"], headers=headers, body=body.encode())


def good(body: object) -> OutboundAnswer:
    return answer_of({"status": 200, "body": body})


def plain_form(retrieval: Retrieval) -> dict[str, Any]:
    """As an outcome is recorded."""
    found: dict[str, Any] = {"discoveries": [], "warnings": [str(each) for each in retrieval.warnings]}
    for each in retrieval.discoveries:
        named = {"library": each.library, "libraryVersion": each.library_version}
        found["discoveries"].append({"url": each.url, "title": each.title, **named})
    return found


def check_failure(error: ExchangeError, outcome: dict[str, Any]) -> None:
    """A failure that has the recorded code, says when to come back if that was recorded, and repeats nobody's words."""
    wait = outcome.get("retryInS")
    assert (error.code, error.retry_at) == (outcome["code"], None if wait is None else NOW + wait)
    assert isinstance(error, Unclear) is outcome.get("unclear", False)
    assert isinstance(error, Refused)
    for each in (error, error.__cause__, error.__context__):
        assert "UPSTREAM-WORDS" not in repr(each) + str(each)


class LiveStage:
    """Scripted lines to one source at a time that stands still, and two keys."""

    def __init__(self, source: Source, *steps: Step, keys: tuple[str | None, ...] = ("k-first", "k-second")) -> None:
        self.clock = FakeClock()
        self.source = source
        self.exchanges = FakeExchanges(clock=self.clock)
        self.exchanges.script(source.id, *steps)
        self.meter = ScriptedMeter(self.exchanges, source, clock=self.clock, keys=keys)

    @property
    def asked(self) -> list[str]:
        """The addresses, without the service's own part."""
        return [sent.request.url.removeprefix(self.source.base_url) for sent in self.exchanges.sent]

    def check_refusal(self, error: ExchangeError, outcome: dict[str, Any]) -> None:
        """Either both keys were tried and rest as recorded, or the first alone was."""
        if "reason" not in outcome:
            assert (self.meter.used, self.meter.refusals) == (["k-first"], [])
            check_failure(error, outcome)
            return
        assert error.code == outcome["code"]
        assert self.meter.used == ["k-first", "k-second"]
        for refusal in self.meter.refusals:
            assert (refusal.reason, refusal.scope) == (outcome["reason"], outcome["scope"])
            assert refusal.until == NOW + outcome["restsS"] <= NOW + LONGEST_REST_S
            assert "UPSTREAM-WORDS" not in repr(refusal) + str(refusal)


class MeteredStage:
    """Real connections to a server on loopback, through the real meter. Each key is named `..._API_KEY_<n>`."""

    def __init__(self, source: Source, *, keys: dict[str, object]) -> None:
        self.source = source
        self.pool = POOL_OF[source.kind]
        self.clock = SystemClock()
        self.log = RecordedLog()
        self.ledger = FakePoolLedger(clock=self.clock)
        self.allowances = FakeAllowances(clock=self.clock)
        self._exchanges = PinnedExchanges(
            resolver=SystemResolver(), clock=self.clock, allow_loopback_http=True, private_network_available=False
        )
        self._meters = Metering(
            keys=FakePoolKeys({self.pool: keys}),
            ledger=self.ledger,
            allowances=self.allowances,
            exchanges=self._exchanges,
            clock=self.clock,
            logger=self.log,  # type: ignore[arg-type]
        )

    def meter(self, *, timeout_s: float = 20.0) -> PooledMeter:
        deadline = Deadline.after(timeout_s, now_s=self.clock.monotonic())
        return self._meters.open(self.source, self.pool, deadline=deadline)

    async def ended(self, work: Coroutine[Any, Any, T]) -> T:
        """What the work gave; the connections are closed."""
        try:
            return await work
        finally:
            self._exchanges.close()

    @property
    def units(self) -> tuple[int, int, int]:
        """Confirmed, released, and still open, which will count as unknown."""
        allowances = self.allowances
        return len(allowances.confirmed), len(allowances.released), len(allowances.of(self.pool).open)
