"""What `ports.receipts.Receipts` promises."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from shared.adapters.service_faults import AnswerTimedOut
from shared.domain.alexandria import LEASE_S, RECEIPT_LIFE_S, Execution, Holder, Receipt, ReceiptState, Trouble
from shared.errors import Unavailable
from tests.contract.far_ahead import NOW
from tests.contract.worlds import StoreWorld, World
from tests.support.alexandria_fakes import HOLDER, a_receipt
from tests.support.search_stage import RecordedLog

AGENT = replace(HOLDER, agent_id="agent-seven")
REFUSED = Execution(state=ReceiptState.REFUSED, credits=0, trouble=Trouble.KEYS_EXHAUSTED, retry_at=NOW + 90.5)
OUTCOMES = {
    "done": Execution(state=ReceiptState.DONE, credits=3),
    "done_for_nothing": Execution(state=ReceiptState.DONE, credits=0),
    "done_at_an_unknown_cost": Execution(state=ReceiptState.DONE),
    "failed": Execution(state=ReceiptState.DONE, credits=0, trouble=Trouble.TOOL_FAILED),
    "refused": REFUSED,
    "unknown": Execution(state=ReceiptState.UNKNOWN, trouble=Trouble.TIMEOUT),
}


def begun(**over: Any) -> Receipt:
    return a_receipt(**{"started_at": NOW, **over})


def other(receipt: Receipt, **over: Any) -> Receipt:
    """Another try of the same request."""
    return replace(receipt, claim="d2" * 16, **over)


async def test_an_unknown_receipt_is_none(world: World) -> None:
    assert await world.receipts().find(HOLDER, "unknown") is None


@pytest.mark.parametrize("holder", [HOLDER, AGENT], ids=["credential", "agent"])
async def test_a_receipt_is_read_as_it_was_begun(world: World, holder: Holder) -> None:
    receipt = begun(holder=holder)
    assert await world.receipts().begin(receipt) is None
    assert await world.receipts().find(holder, receipt.request_id) == receipt


@pytest.mark.parametrize("outcome", OUTCOMES)
async def test_a_settled_receipt_is_read_as_it_was_settled(world: World, outcome: str) -> None:
    receipt = begun()
    await world.receipts().begin(receipt)
    settled = receipt.settled(OUTCOMES[outcome], now=NOW + 2.5)
    await world.receipts().settle(settled)
    assert await world.receipts().find(HOLDER, receipt.request_id) == settled


async def test_request_ids_belong_to_a_credential_and_an_agent(world: World) -> None:
    holders = [HOLDER, AGENT, replace(HOLDER, agent_id="agent-eight"), Holder("bbbbbbbbbbbbbbbb")]
    receipts = [begun(holder=holder, claim=f"{n:032x}") for n, holder in enumerate(holders)]
    assert [await world.receipts().begin(each) for each in receipts] == [None] * 4
    found = [await world.receipts().find(each.holder, each.request_id) for each in receipts]
    assert found == receipts


async def test_a_receipt_that_is_there_is_not_begun_again(world: World) -> None:
    receipt = begun()
    await world.receipts().begin(receipt)
    assert await world.receipts().begin(other(receipt)) == receipt
    assert await world.receipts().begin(other(receipt, fingerprint="f2" * 32)) == receipt


async def test_a_receipt_past_its_lease_is_not_begun_again(world: World) -> None:
    receipt = begun()
    await world.receipts().begin(receipt)
    world.clock.advance(LEASE_S * 100)
    assert await world.receipts().begin(other(receipt, started_at=world.clock.now())) == receipt
    assert await world.receipts().find(HOLDER, receipt.request_id) == receipt


@pytest.mark.parametrize("outcome", sorted(OUTCOMES.keys() - {"refused"}))
async def test_a_settled_receipt_is_not_begun_again(world: World, outcome: str) -> None:
    receipt = begun()
    await world.receipts().begin(receipt)
    settled = receipt.settled(OUTCOMES[outcome], now=NOW)
    await world.receipts().settle(settled)
    assert await world.receipts().begin(other(receipt)) == settled


async def test_a_refused_receipt_gives_way_to_the_same_request_alone(world: World) -> None:
    receipt = begun()
    await world.receipts().begin(receipt)
    refused = receipt.settled(REFUSED, now=NOW)
    await world.receipts().settle(refused)
    assert await world.receipts().begin(other(receipt, fingerprint="f2" * 32)) == refused
    again = other(receipt, started_at=NOW + 30)
    assert await world.receipts().begin(again) is None
    assert await world.receipts().find(HOLDER, receipt.request_id) == again
    assert await world.receipts().begin(replace(again, claim="e3" * 16)) == again


async def test_an_outcome_is_written_once_and_by_its_own_claim(world: World) -> None:
    receipt = begun()
    await world.receipts().begin(receipt)
    done = receipt.settled(OUTCOMES["done"], now=NOW)
    await world.receipts().settle(other(receipt).settled(OUTCOMES["unknown"], now=NOW))
    assert await world.receipts().find(HOLDER, receipt.request_id) == receipt
    await world.receipts().settle(done)
    await world.receipts().settle(receipt.settled(OUTCOMES["unknown"], now=NOW))
    assert await world.receipts().find(HOLDER, receipt.request_id) == done


async def test_nothing_is_settled_that_was_not_begun(world: World) -> None:
    await world.receipts().settle(begun().settled(OUTCOMES["done"], now=NOW))
    assert await world.receipts().find(HOLDER, begun().request_id) is None


async def test_a_receipt_ends_after_thirty_days_for_reading_and_for_beginning(world: World) -> None:
    receipt = begun()
    await world.receipts().begin(receipt)
    world.clock.advance(RECEIPT_LIFE_S - 1)
    assert await world.receipts().find(HOLDER, receipt.request_id) == receipt
    assert await world.receipts().begin(other(receipt)) == receipt
    world.clock.advance(1)
    assert await world.receipts().find(HOLDER, receipt.request_id) is None
    again = other(receipt, started_at=world.clock.now(), fingerprint="f2" * 32)
    assert await world.receipts().begin(again) is None
    assert await world.receipts().find(HOLDER, receipt.request_id) == again


# --- on the real store ----------------------------------------------------------------------------


@pytest.mark.emulator
def test_of_many_at_once_one_begins(store: StoreWorld) -> None:
    def begin(number: int) -> Receipt | None:
        return asyncio.run(store.receipts().begin(begun(claim=f"{number:032x}")))

    with ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(begin, range(64)))
    (winner,) = (number for number, answer in enumerate(answers) if answer is None)
    in_the_way = {answer.claim for answer in answers if answer is not None}
    assert in_the_way == {f"{winner:032x}"}


class _LostAnswer:
    """Lets one write through and loses its answer, as a connection does that breaks at that moment."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.writes = 0

    def put_item(self, **request: Any) -> Any:
        answer = self._client.put_item(**request)
        self.writes += 1
        if self.writes == 1:  # what the client's own second attempt then finds
            return self.put_item(**request)
        return answer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)


@pytest.mark.emulator
async def test_a_write_that_was_repeated_because_its_answer_was_lost_still_begins(store: StoreWorld) -> None:
    receipts = store.receipts()
    receipts._client = _LostAnswer(store.clients.dynamodb)
    receipt = begun()
    assert await receipts.begin(receipt) is None
    settling = store.receipts()
    settling._client = _LostAnswer(store.clients.dynamodb)
    done = receipt.settled(OUTCOMES["done"], now=NOW)
    await settling.settle(done)
    assert await store.receipts().find(HOLDER, receipt.request_id) == done


@pytest.mark.emulator
async def test_a_store_that_does_not_answer_is_unavailable(store: StoreWorld) -> None:
    class _Silent:
        def put_item(self, **request: Any) -> Any:
            raise AnswerTimedOut("timed out")

    receipts = store.receipts()
    receipts._client = _Silent()  # type: ignore[assignment]
    for work in (receipts.begin(begun()), receipts.settle(begun())):
        with pytest.raises(Unavailable):
            await work


@pytest.mark.emulator
async def test_a_row_that_cannot_be_read_is_unavailable_and_not_absent(
    store: StoreWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.adapters.unreadable._logger", RecordedLog())
    receipt = begun()
    await store.receipts().begin(receipt)
    key = {"pk": {"S": "RECEIPT#" + HOLDER.credential_id}, "sk": {"S": receipt.request_id}}
    store.clients.dynamodb.update_item(TableName=store.internal_ledger, Key=key, UpdateExpression="REMOVE claim")
    for work in (store.receipts().find(HOLDER, receipt.request_id), store.receipts().begin(other(receipt))):
        with pytest.raises(Unavailable):
            await work


@pytest.mark.emulator
async def test_rows_lie_where_operators_expect_them(store: StoreWorld) -> None:
    for holder, sort in ((HOLDER, "ferry-report-1"), (AGENT, "ferry-report-1 agent-seven")):
        await store.receipts().begin(begun(holder=holder))
        key = {"pk": {"S": "RECEIPT#" + HOLDER.credential_id}, "sk": {"S": sort}}
        item = store.clients.dynamodb.get_item(TableName=store.internal_ledger, Key=key)["Item"]
        assert item["expires_at"] == {"N": str(int(NOW + RECEIPT_LIFE_S))}
