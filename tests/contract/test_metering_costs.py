"""What one operation at a live service costs in calls to the store, with the real adapters under the real meter."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from shared.domain.deadlines import Deadline
from shared.domain.pools import Pool
from shared.errors import KeyRefused, Refused
from shared.ports.meter import Attempt
from shared.services.metering import Metering
from tests.contract.worlds import StoreWorld
from tests.support.builders import a_source
from tests.support.fake_exchanges import FakeExchanges
from tests.support.live_fakes import FakePoolKeys
from tests.support.search_stage import RecordedLog

pytestmark = pytest.mark.emulator
KEYS = {"EXA_API_KEY": "k-demo-zero", "EXA_API_KEY_1": "k-demo-one", "EXA_API_KEY_2": "k-demo-two"}
READ, WRITE = "GetItem", "UpdateItem"
STATE, RESERVE, CONFIRM, RELEASE, REST = READ, WRITE, WRITE, WRITE, WRITE


class Gateway:
    def __init__(self, store: StoreWorld) -> None:
        self.store = store
        self.calls: list[str] = []
        self.exchanges = FakeExchanges(clock=store.clock)
        self.metering = Metering(
            keys=FakePoolKeys({Pool.EXA: KEYS}),
            ledger=store.pool_ledger(),
            allowances=store.allowances(),
            exchanges=self.exchanges,
            clock=store.clock,
            logger=RecordedLog(),
        )

    def note(self, _service: str, operation: str, _asked: object) -> None:
        self.calls.append(operation)

    async def operate(self, *, refusals: int, pool: Pool = Pool.EXA) -> list[str]:
        """The calls of one operation whose first keys are refused."""
        self.calls.clear()
        left = [KeyRefused("quota", until=self.store.clock.now() + 600) for _ in range(refusals)]

        async def work(attempt: Attempt) -> None:
            if left:
                raise left.pop()

        deadline = Deadline.after(25, now_s=self.store.clock.monotonic())
        await self.metering.open(a_source(), pool, deadline=deadline).perform(work)
        return list(self.calls)


@pytest.fixture
def gateway(store: StoreWorld) -> Iterator[Gateway]:
    gateway = Gateway(store)
    with store.clients.heard.by(gateway.note):
        yield gateway


async def test_the_happy_path_writes_nothing_for_keys(gateway: Gateway) -> None:
    for _ in range(3):
        assert await gateway.operate(refusals=0) == [STATE, RESERVE, CONFIRM]


async def test_each_failover_costs_one_more_write(gateway: Gateway) -> None:
    assert await gateway.operate(refusals=1) == [STATE, RESERVE, REST, CONFIRM]
    assert await gateway.operate(refusals=0) == [STATE, RESERVE, CONFIRM]
    assert await gateway.operate(refusals=1) == [STATE, RESERVE, REST, CONFIRM]


async def test_a_pool_that_exhausts_itself_and_one_that_is_exhausted(gateway: Gateway) -> None:
    with pytest.raises(Refused, match="keys_exhausted"):
        await gateway.operate(refusals=3)
    assert gateway.calls == [STATE, RESERVE, REST, REST, REST, RELEASE]
    with pytest.raises(Refused, match="keys_exhausted"):
        await gateway.operate(refusals=0)
    assert gateway.calls == [STATE]


async def test_a_service_without_keys_costs_the_same_as_one_with_a_single_key(gateway: Gateway) -> None:
    assert await gateway.operate(refusals=0, pool=Pool.DEEPWIKI) == [STATE, RESERVE, CONFIRM]
    with pytest.raises(Refused, match="rate_limited"):
        await gateway.operate(refusals=1, pool=Pool.DEEPWIKI)
    assert gateway.calls == [STATE, RESERVE, REST, RELEASE]
    with pytest.raises(Refused, match="rate_limited"):
        await gateway.operate(refusals=0, pool=Pool.DEEPWIKI)
    assert gateway.calls == [STATE]
