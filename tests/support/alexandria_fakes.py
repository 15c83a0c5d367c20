"""Stand-ins for what Alexandria needs, in memory: quotes, receipts, and a service that plays a script.

Like the other fakes each has `failure`. The suites in `tests/contract` hold them to the ports.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from shared.domain.alexandria import (
    Call,
    Execution,
    Found,
    Holder,
    Price,
    Quote,
    Receipt,
    ReceiptState,
    Tool,
    ToolName,
)
from shared.domain.registrations import Source
from shared.ports.clock import Clock
from shared.ports.meter import Meter
from tests.support.builders import NOW
from tests.support.fakes import Failing

TOOL = ToolName("acmestats", "series/observations")
HOLDER = Holder("aaaaaaaaaaaaaaaa")


class FakeQuotes(Failing):
    def __init__(self, *, clock: Clock) -> None:
        self.kept: dict[str, Quote] = {}
        self._clock = clock

    async def keep(self, quote: Quote) -> None:
        self._may_fail()
        self.kept[quote.id] = quote

    async def find(self, holder: Holder, quote_id: str) -> Quote | None:
        self._may_fail()
        quote = self.kept.get(quote_id)
        is_good = quote is not None and quote.holder == holder and quote.expires_at > self._clock.now()
        return quote if is_good else None


class FakeReceipts(Failing):
    """`begun` and `settled` are what was written, oldest first."""

    def __init__(self, *, clock: Clock) -> None:
        self.kept: dict[tuple[Holder, str], Receipt] = {}
        self.begun: list[Receipt] = []
        self.settled: list[Receipt] = []
        self._clock = clock

    async def find(self, holder: Holder, request_id: str) -> Receipt | None:
        self._may_fail()
        receipt = self.kept.get((holder, request_id))
        return receipt if receipt and receipt.expires_at > self._clock.now() else None

    async def begin(self, receipt: Receipt) -> Receipt | None:
        there = await self.find(receipt.holder, receipt.request_id)
        if there is not None and not _gives_way(there, receipt):
            return there
        self.kept[receipt.holder, receipt.request_id] = receipt
        self.begun.append(receipt)
        return None

    async def settle(self, receipt: Receipt) -> None:
        self._may_fail()
        there = self.kept.get((receipt.holder, receipt.request_id))
        if there and there.claim == receipt.claim and there.state is ReceiptState.STARTED:
            self.kept[receipt.holder, receipt.request_id] = receipt
            self.settled.append(receipt)


class FakeAlexandria:
    """Lists `tools` and executes by `act`, an async function of the call; `calls` holds what it executed."""

    def __init__(self, *tools: Tool, act: Callable[[Call], Awaitable[Execution]] | None = None) -> None:
        self.tools = tools
        self.calls: list[Call] = []
        self._act = act

    async def search(self, source: Source, query: str, *, limit: int, meter: Meter) -> Found:
        return Found(tools=self.tools[:limit])

    async def inspect(self, source: Source, tool: ToolName, *, meter: Meter) -> Tool:
        return next(each for each in self.tools if each.tool == tool)

    async def execute(self, source: Source, call: Call, *, meter: Meter) -> Execution:
        self.calls.append(call)
        return await self._act(call) if self._act else Execution(state=ReceiptState.DONE, credits=1)


def _gives_way(there: Receipt, receipt: Receipt) -> bool:
    return there.state is ReceiptState.REFUSED and there.fingerprint == receipt.fingerprint


def a_quote(**over: Any) -> Quote:
    values: dict[str, Any] = {
        "id": "aq_" + "01" * 16,
        "holder": HOLDER,
        "source_id": "ao_aaaaaaaaaaaaaaaa",
        "tool": TOOL,
        "price": Price(credits=3, per_record=False),
        "expires_at": NOW + 600,
    }
    return Quote(**values | over)


def a_receipt(**over: Any) -> Receipt:
    values: dict[str, Any] = {
        "holder": HOLDER,
        "request_id": "ferry-report-1",
        "fingerprint": "f1" * 32,
        "claim": "c1" * 16,
        "quote_id": "aq_" + "01" * 16,
        "tool": TOOL,
        "started_at": NOW,
    }
    return Receipt(**values | over)
