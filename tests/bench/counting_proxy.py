"""Stands between the functions and the embedded AWS backend, and counts what goes through.

    with counting_proxy(endpoint_url) as proxy:
        environment = proxy.before(environment)     # clients that are made with it speak to the proxy
        ...
        calls = proxy.taken()                       # what arrived since the last time

A call's capacity is reckoned from its rows: those that were read are in the answer, and those that are written are read
at the backend before and after. `proxy.pause_s` holds every call up, so that calls of one moment overlap for certain.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tests.bench import capacity
from tests.support import fault_wire
from tests.support.fault_wire import Engine, Request

_TRANSACTION: Final = "TransactWriteItems"
_WRITES: Final = frozenset({"BatchWriteItem", "DeleteItem", "PutItem", "UpdateItem", _TRANSACTION})


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """`began_s` and `ended_s` are of `time.monotonic`; bytes are those of the bodies."""

    service: str
    operation: str
    began_s: float
    ended_s: float
    sent_bytes: int
    answered_bytes: int
    reads: int = 0
    writes: int = 0


@dataclass(frozen=True, slots=True)
class Spent:
    """What several calls came to."""

    calls: tuple[Call, ...]

    @property
    def reads(self) -> int:
        return sum(call.reads for call in self.calls)

    @property
    def writes(self) -> int:
        return sum(call.writes for call in self.calls)

    @property
    def sent_bytes(self) -> int:
        return sum(call.sent_bytes for call in self.calls)

    @property
    def answered_bytes(self) -> int:
        return sum(call.answered_bytes for call in self.calls)

    def of(self, service: str) -> int:
        return sum(call.service == service for call in self.calls)

    def before(self, moment_s: float) -> Spent:
        return Spent(tuple(call for call in self.calls if call.began_s < moment_s))

    def told(self) -> str:
        return ", ".join(f"{count} {name}" for name, count in sorted(Counter(c.operation for c in self.calls).items()))

    def trips(self) -> int:
        """How many of these calls followed each other, the longest way: what begins together is one trip."""
        count, until_s = 0, float("-inf")
        for call in sorted(self.calls, key=lambda each: each.ended_s):
            if call.began_s >= until_s:
                count, until_s = count + 1, call.ended_s
        return count


@dataclass
class CountingProxy:
    engine_url: str
    pause_s: float = 0.0
    port: int = 0
    _calls: list[Call] = field(default_factory=list)

    def before(self, environment: Mapping[str, str]) -> dict[str, str]:
        return {**environment, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}"}

    @contextlib.contextmanager
    def held(self, pause_s: float) -> Iterator[None]:
        """Meanwhile every call waits, so that calls of one moment overlap for certain."""
        self.pause_s = pause_s
        try:
            yield
        finally:
            self.pause_s = 0.0

    def taken(self) -> Spent:
        calls, self._calls = self._calls, []
        return Spent(tuple(calls))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        engine = Engine(self.engine_url)
        try:
            while (request := await fault_wire.read_request(reader)) is not None:
                writer.write(await self._answer(request, engine))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            engine.close()
            writer.close()

    async def _answer(self, request: Request, engine: Engine) -> bytes:
        began_s = time.monotonic()
        if self.pause_s:
            await asyncio.sleep(self.pause_s)
        reads = writes = 0
        if request.operation in _WRITES:
            before = await _sizes_at(request, engine)
            answered = await engine.ask(request)
            writes = _write_units(request, before, await _sizes_at(request, engine))
        else:
            answered = await engine.ask(request)
            reads = _read_units(request, answered)
        self._calls.append(
            Call(
                service=request.service,
                operation=request.operation,
                began_s=began_s,
                ended_s=time.monotonic(),
                sent_bytes=len(request.body),
                answered_bytes=len(_body(answered)),
                reads=reads,
                writes=writes,
            )
        )
        return answered


def _read_units(request: Request, answered: bytes) -> int:
    if request.service != "dynamodb":
        return 0
    answer = fault_wire.body_of(answered)
    if request.operation == "Query":
        return capacity.query_units(map(capacity.row_bytes, answer.get("Items", ())))
    if request.operation == "BatchGetItem":
        left = sum(len(of_table["Keys"]) for of_table in answer.get("UnprocessedKeys", {}).values())
        found = [capacity.row_bytes(row) for rows in answer["Responses"].values() for row in rows]
        missing = len(request.places) - left - len(found)
        return capacity.rows_read_units([*found, *[0] * missing])
    assert request.operation == "GetItem", request.operation
    return capacity.rows_read_units([capacity.row_bytes(answer.get("Item", {}))])


def _write_units(request: Request, before: Sequence[int], after: Sequence[int]) -> int:
    units = capacity.rows_written_units(zip(before, after, strict=True))
    return units * capacity.TRANSACTION if request.operation == _TRANSACTION else units


async def _sizes_at(request: Request, engine: Engine) -> list[int]:
    """Of the rows that it writes or asks about, 0 where there is none."""
    return [await _size_at(request, engine, place) for place in request.places]


async def _size_at(request: Request, engine: Engine, place: fault_wire.Place) -> int:
    table, partition, sort = place
    key = {"pk": {"S": partition}, "sk": {"S": sort}}
    wanted: dict[str, Any] = {"TableName": table, "Key": key, "ConsistentRead": True}
    head = request.head.replace(f".{request.operation}\r".encode(), b".GetItem\r")
    answered = await engine.ask(replace(request, head=head).with_json(wanted))
    return capacity.row_bytes(fault_wire.body_of(answered).get("Item", {}))


def _body(answered: bytes) -> bytes:
    return answered.partition(b"\r\n\r\n")[2]


@contextlib.contextmanager
def served(serve: Any) -> Iterator[int]:
    """Serves connections on a free port of 127.0.0.1, on a thread of its own; gives the port."""
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(serve, "127.0.0.1", 0, backlog=256, limit=2**24))
    thread = threading.Thread(target=loop.run_forever, name="served")
    thread.start()
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(20)
        server.close()
        loop.run_until_complete(_ended())
        loop.close()


async def _ended() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


@contextlib.contextmanager
def counting_proxy(engine_url: str) -> Iterator[CountingProxy]:
    proxy = CountingProxy(engine_url)
    with served(proxy.serve) as proxy.port:
        yield proxy
