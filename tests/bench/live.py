"""What an operation at a hosted live service costs: calls of the store, and time beside the same calls without us.

Real adapters under the real meter, on the embedded backend; the service is a process that answers after 20 ms.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import boto3
import httpx
import pytest

from shared.adapters import aws
from shared.adapters.allowances import DynamoAllowances
from shared.adapters.clock import SystemClock
from shared.adapters.event_loop import ProcessLoop
from shared.adapters.exchanges import PinnedExchanges
from shared.adapters.pool_ledger import DynamoPoolLedger, place_of_keys
from shared.adapters.resolver import SystemResolver
from shared.domain.deadlines import Deadline
from shared.domain.live_configs import ExaConfig
from shared.domain.passages import Question
from shared.domain.pools import Pool
from shared.domain.registrations import ProviderKind
from shared.errors import Refused
from shared.providers.exa import ExaRetriever
from shared.providers.mcp_client import McpClient
from shared.services.metering import Metering
from tests.bench.measure import Row, interleaved, wall_ms
from tests.bench.processes import a_server
from tests.support import emulator as backend
from tests.support.builders import a_source
from tests.support.live_fakes import FakePoolKeys
from tests.support.search_stage import RecordedLog
from tests.support.service_calls import asked_of, heard

SERVICE_ANSWERS_AFTER_MS = 20
INSTANCES = 8
_GOOD = {"EXA_API_KEY": "good-0"}
_ONE_SPENT = {"EXA_API_KEY": "spent-0", "EXA_API_KEY_1": "good-1"}
_ALL_SPENT = {"EXA_API_KEY": "spent-0", "EXA_API_KEY_1": "spent-1"}
_READS = frozenset({"BatchGetItem", "GetItem", "Query"})
_QUESTION = Question(query="how do I change a booking")


def rows() -> Iterator[Row]:
    with (
        backend.emulator() as endpoint,
        a_server("tests.bench.live_process", str(SERVICE_ANSWERS_AFTER_MS)) as url,
        pytest.MonkeyPatch.context() as patch,
    ):
        environment = backend.provisioned(endpoint, prefix="live")
        for name, value in environment.items():
            patch.setenv(name, value)
        bench = Bench(url, table=environment["KG_TABLE_LEDGER_INTERNAL"])
        try:
            yield from _store_calls(bench)
            yield _refusals(bench)
            yield from _times(bench)
            yield _mcp(bench)
        finally:
            bench.loop.close()


class Gateway:
    """One instance: adapters and a connection pool of its own, over the shared table."""

    def __init__(self, bench: Bench, keys: dict[str, str]) -> None:
        clock = SystemClock()
        self.calls: list[str] = []
        with heard(asked_of(self.calls)):
            self._client = aws.dynamodb()
        self._source = a_source(
            kind=ProviderKind.EXA,
            base_url=bench.url,
            signing=None,
            config=ExaConfig(approved_hosts=("docs.example.com",)),
        )
        self._retriever = ExaRetriever(clock=clock, allow_test_names=False)
        self._clock = clock
        self._meters = Metering(
            keys=FakePoolKeys({Pool.EXA: keys}),
            ledger=DynamoPoolLedger(self._client, table=bench.table, clock=clock),
            allowances=DynamoAllowances(self._client, table=bench.table, clock=clock),
            exchanges=exchanges(clock),
            clock=clock,
            logger=RecordedLog(),  # type: ignore[arg-type]
        )

    async def operate(self) -> None:
        deadline = Deadline.after(25.0, now_s=self._clock.monotonic())
        meter = self._meters.open(self._source, Pool.EXA, deadline=deadline)
        found = await self._retriever.retrieve(self._source, _QUESTION, meter=meter)
        assert len(found.passages) == 1


class Bench:
    """`fresh` forgets which keys rest, for everybody. The bare calls are what nobody can do without."""

    def __init__(self, url: str, *, table: str) -> None:
        self.url = url
        self.table = table
        self.loop = ProcessLoop()
        self._http = httpx.AsyncClient(timeout=10, trust_env=False)
        self._dynamodb = boto3.client("dynamodb")
        self._place = {"pk": {"S": "POOL#bench"}, "sk": {"S": "-"}}

    def fresh(self) -> None:
        self._dynamodb.delete_item(TableName=self.table, Key=place_of_keys(Pool.EXA))

    def refusals(self) -> int:
        return int(self.loop.run(self._http.post(f"{self.url}/refusals")).text)

    async def post(self, path: str, body: object, *, key: str = "good") -> Any:
        answer = await self._http.post(f"{self.url}{path}", content=json.dumps(body), headers={"x-api-key": key})
        return answer.json()

    async def ask(self, *, key: str = "good") -> None:
        await self.post("/search", {"query": _QUESTION.query, "numResults": 5}, key=key)

    def read(self) -> None:
        self._dynamodb.get_item(TableName=self.table, Key=self._place, ConsistentRead=True)

    def write(self) -> None:
        self._dynamodb.update_item(
            TableName=self.table,
            Key=self._place,
            UpdateExpression="SET held = :one",
            ExpressionAttributeValues={":one": {"N": "1"}},
        )


def exchanges(clock: SystemClock) -> PinnedExchanges:
    return PinnedExchanges(
        resolver=SystemResolver(), clock=clock, allow_loopback_http=True, private_network_available=False
    )


def _store_calls(bench: Bench) -> Iterator[Row]:
    """Counted, not timed: the baseline is what was promised."""
    bench.fresh()
    yield _counted("live: store calls of an operation", _calls_of(bench, Gateway(bench, _GOOD)), reads=1, writes=2)
    bench.fresh()
    yield _counted(
        "live: store calls, its first key refused", _calls_of(bench, Gateway(bench, _ONE_SPENT)), reads=1, writes=3
    )
    bench.fresh()
    spent = Gateway(bench, _ALL_SPENT)
    _calls_of(bench, spent)
    yield _counted("live: store calls, all keys resting", _calls_of(bench, spent), reads=1, writes=0)


def _calls_of(bench: Bench, gateway: Gateway) -> Sequence[str]:
    gateway.calls.clear()
    with contextlib.suppress(Refused):  # with all keys spent
        bench.loop.run(gateway.operate())
    return list(gateway.calls)


def _counted(name: str, calls: Sequence[str], *, reads: int, writes: int) -> Row:
    read = sum(call in _READS for call in calls)
    return Row(name, len(calls), reads + writes, "calls", 1.0, f"reads: {read}, writes: {len(calls) - read}")


def _refusals(bench: Bench) -> Row:
    """One instance meets the refusal and records it; then all of them search at once, again and again."""
    bench.fresh()
    instances = [Gateway(bench, _ONE_SPENT) for _ in range(INSTANCES)]
    before = bench.refusals()
    bench.loop.run(instances[0].operate())

    async def all_at_once() -> None:
        await asyncio.gather(*(instance.operate() for instance in instances for _ in range(3)))

    bench.loop.run(all_at_once())
    note = f"{3 * INSTANCES + 1} searches by {INSTANCES} instances while the key rests"
    return Row("live: refusals of a spent key", bench.refusals() - before, 1, "", 1.0, note)


def _times(bench: Bench) -> Iterator[Row]:
    plain, failing = Gateway(bench, _GOOD), Gateway(bench, _ONE_SPENT)

    def operation(gateway: Gateway) -> float:
        bench.fresh()
        return wall_ms(lambda: bench.loop.run(gateway.operate()))

    def bare() -> float:
        def work() -> None:
            bench.read()
            bench.write()
            bench.loop.run(bench.ask())
            bench.write()

        return wall_ms(work)

    def one_refusal_more() -> float:
        def refused() -> None:
            bench.loop.run(bench.ask(key="spent"))
            bench.write()

        return operation(plain) + wall_ms(refused)

    yield Row("live: an operation / bare calls", *interleaved(partial(operation, plain), bare), "ms", 1.25)
    yield Row(
        "live: failover / operation, refused call and a write",
        *interleaved(partial(operation, failing), one_refusal_more),
        "ms",
        1.15,
    )


def _mcp(bench: Bench) -> Row:
    clock = SystemClock()
    client, exchanges_, source = McpClient(clock=clock), exchanges(clock), a_source(base_url=bench.url, signing=None)
    arguments = {"repoName": "acme/widgets", "question": _QUESTION.query}

    async def ours() -> None:
        exchange = exchanges_.open(source, deadline=Deadline.after(10.0, now_s=clock.monotonic()))
        result = await client.open(exchange, f"{bench.url}/mcp").call("ask_question", arguments)
        assert result.text

    async def bare() -> None:
        params = {"name": "ask_question", "arguments": arguments}
        answer = await bench.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        assert answer["result"]["content"][0]["text"]

    figures = interleaved(
        lambda: wall_ms(lambda: bench.loop.run(ours())), lambda: wall_ms(lambda: bench.loop.run(bare()))
    )
    return Row("live: a tool of an MCP server / bare POST", *figures, "ms", 1.15, "the service takes 20 ms in both")
