"""Stands between the gateway and the embedded AWS backend, and has it behave as a backend does on a bad day.

    with fault_proxy(endpoint_url) as proxy:
        environment = proxy.before(environment)              # clients that are made with it speak to the proxy
        with proxy.doing(Rule(THROTTLES, operation="BatchGetItem", table="cards", times=1)) as rule:
            ...
        rule.count                                           # how often it was applied
        with proxy.refusing(): ...                           # nobody listens: connections are refused

What no rule is about goes on to the backend and comes back byte by byte. When a rule ends, whoever it still held is cut
off. `proxy.calls` are all that arrived.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
import threading
from collections.abc import Coroutine, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from tests.support import fault_wire
from tests.support.fault_wire import Engine, Request

WORDS: Final = "UPSTREAM-WORDS about arn:aws:dynamodb"  # what no caller may ever read


@dataclass(frozen=True, slots=True)
class Says:
    """Answers with an error of the service's. `reasons` are those of a cancelled transaction, one for each part."""

    code: str
    status: int = 400
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Late:
    """Does what it was asked, after a while."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Hangs:
    """Never answers, whether it did the work or not."""

    is_done: bool = False


@dataclass(frozen=True, slots=True)
class Breaks:
    """Resets the connection: without an answer or within it, whether it did the work or not."""

    is_done: bool = False
    in_answer: bool = False


@dataclass(frozen=True, slots=True)
class Garbles:
    """Answers 200 with what is no answer."""

    body: bytes = b"<html>It works</html>"


@dataclass(frozen=True, slots=True)
class LeavesForLater:
    """Of a batch, the keys of one table, or of one kind of partition, come back unprocessed; the others are read."""

    table: str = ""
    partition: str = ""

    def leaves(self, table: str, key: dict[str, Any]) -> bool:
        return (not self.table or table == self.table) and key["pk"]["S"].startswith(self.partition)


Fault: TypeAlias = "Says | Late | Hangs | Breaks | Garbles | LeavesForLater"

THROTTLES: Final = Says("ProvisionedThroughputExceededException")
FAILS: Final = Says("InternalServerError", status=500)
DENIES: Final = Says("AccessDeniedException")
CONFLICTS: Final = Says("TransactionConflictException")


@dataclass(eq=False, kw_only=True)
class Rule:
    """Empty fields fit everything; `partition` is how the partition key begins. Applies to the first `times` calls that
    fit, to all where it is None.
    """

    fault: Fault
    service: str = ""
    operation: str = ""
    table: str = ""
    partition: str = ""
    sort: str = ""
    times: int | None = None
    count: int = 0
    _applied: threading.Condition = field(default_factory=threading.Condition)

    def fits(self, request: Request) -> bool:
        """Whether it applies to this call."""
        if self.times is not None and self.count >= self.times:
            return False
        if (self.service and self.service != request.service) or (
            self.operation and self.operation != request.operation
        ):
            return False
        return any(
            (not self.table or table == self.table)
            and partition.startswith(self.partition)
            and (not self.sort or sort == self.sort)
            for table, partition, sort in request.places or (("", "", ""),)
        )

    def applied(self) -> None:
        with self._applied:
            self.count += 1
            self._applied.notify_all()

    def wait(self, times: int = 1, *, timeout_s: float = 20.0) -> None:
        """Until it has been applied so often; what it does with the work is done by then."""
        with self._applied:
            assert self._applied.wait_for(lambda: self.count >= times, timeout_s), "it was never applied"


@dataclass(slots=True, eq=False)
class _Held:
    """A connection, and the rule that keeps it waiting."""

    rule: Rule
    writer: asyncio.StreamWriter


class FaultProxy:
    def __init__(self, engine_url: str) -> None:
        self._engine_url = engine_url
        self._rules: list[Rule] = []
        self._held: set[_Held] = set()
        self._open: set[asyncio.StreamWriter] = set()
        self._lock = threading.Lock()
        self._loop = asyncio.new_event_loop()
        self._server: asyncio.Server | None = None
        self._place = _bound(0)  # keeps the port while nobody listens on it
        self.port: int = self._place.getsockname()[1]
        self.calls: list[Request] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def is_holding(self, rule: Rule) -> bool:
        """Whether somebody still waits for what the rule keeps back."""
        return any(held.rule is rule for held in list(self._held))

    def before(self, environment: Mapping[str, str]) -> dict[str, str]:
        return {**environment, "AWS_ENDPOINT_URL": self.url}

    @contextlib.contextmanager
    def doing(self, *rules: Rule) -> Iterator[Rule]:
        """The first rule that fits counts. Gives the first."""
        with self._lock:
            self._rules.extend(rules)
        try:
            yield rules[0]
        finally:
            with self._lock:
                self._rules = [rule for rule in self._rules if rule not in rules]
            self._do(self._cut_off(rules))

    @contextlib.contextmanager
    def refusing(self) -> Iterator[None]:
        """Nobody is there; who was connected is cut off."""
        self._do(self._leave())
        try:
            yield
        finally:
            self._do(self._listen())

    @contextlib.contextmanager
    def running(self) -> Iterator[FaultProxy]:
        thread = threading.Thread(target=self._loop.run_forever, name="fault-proxy")
        thread.start()
        try:
            self._do(self._listen())
            yield self
        finally:
            self._do(self._leave())
            self._loop.call_soon_threadsafe(self._loop.stop)
            thread.join(20)
            self._loop.close()
            self._place.close()

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(20)

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, sock=_bound(self.port), backlog=256)

    async def _leave(self) -> None:
        assert self._server is not None
        self._server.close()
        for writer in list(self._open):
            _reset(writer)
        await asyncio.sleep(0)
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _cut_off(self, rules: tuple[Rule, ...]) -> None:
        for held in [held for held in self._held if held.rule in rules]:
            self._held.discard(held)  # before the other side can know
            _reset(held.writer)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        engine = Engine(self._engine_url)
        try:
            while (request := await fault_wire.read_request(reader)) is not None:
                if not await self._answer(request, reader, writer, engine):
                    return
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            return
        finally:
            engine.close()
            self._open.discard(writer)
            writer.close()

    async def _answer(
        self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, engine: Engine
    ) -> bool:
        """Whether the connection can be used again."""
        with self._lock:
            self.calls.append(request)
            rule = next((rule for rule in self._rules if rule.fits(request)), None)
            if rule is not None and not _is_told_later(rule.fault):
                rule.applied()
        if rule is None:
            writer.write(await engine.ask(request))
        elif isinstance(rule.fault, (Hangs, Breaks)):
            await self._leave_alone(rule, rule.fault, request, reader, writer, engine)
            return False
        else:
            writer.write(await _answered(rule.fault, request, engine))
        await writer.drain()
        return True

    async def _leave_alone(
        self,
        rule: Rule,
        fault: Hangs | Breaks,
        request: Request,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        engine: Engine,
    ) -> None:
        answer = await engine.ask(request) if _is_work_first(fault) else b""
        if isinstance(fault, Breaks):
            if fault.in_answer:
                writer.write(answer[: len(answer) - 10])
                await writer.drain()
                await asyncio.sleep(0.01)  # a reset throws away what was not read yet
            _reset(writer)
            if _is_work_first(fault):
                rule.applied()
            return
        held = _Held(rule, writer)
        self._held.add(held)
        rule.applied()
        try:
            await reader.read()  # until the other side gives up, or is cut off
        finally:
            self._held.discard(held)


def _is_told_later(fault: Fault) -> bool:
    """Whether more than its choice has to have happened before a rule counts as applied."""
    return isinstance(fault, Hangs) or _is_work_first(fault)


def _is_work_first(fault: Fault) -> bool:
    return (isinstance(fault, Hangs) and fault.is_done) or (
        isinstance(fault, Breaks) and (fault.is_done or fault.in_answer)
    )


async def _answered(fault: Fault, request: Request, engine: Engine) -> bytes:
    if isinstance(fault, Says):
        return fault_wire.error(fault.code, status=fault.status, reasons=fault.reasons, words=WORDS)
    if isinstance(fault, Garbles):
        return fault_wire.answer(fault.body)
    if isinstance(fault, LeavesForLater):
        return await _left_for_later(fault, request, engine)
    assert isinstance(fault, Late)
    await asyncio.sleep(fault.seconds)
    return await engine.ask(request)


async def _left_for_later(fault: LeavesForLater, request: Request, engine: Engine) -> bytes:
    wanted: dict[str, dict[str, Any]] = request.json["RequestItems"]
    left, others = {}, {}
    for table, of_table in wanted.items():
        for part, is_left in ((left, True), (others, False)):
            keys = [key for key in of_table["Keys"] if fault.leaves(table, key) is is_left]
            if keys:
                part[table] = {**of_table, "Keys": keys}
    found: dict[str, Any] = {"Responses": {}, "UnprocessedKeys": {}}
    if others:
        found = fault_wire.body_of(await engine.ask(request.with_json({**request.json, "RequestItems": others})))
    found["UnprocessedKeys"] |= left
    return fault_wire.answer(json.dumps(found).encode())


def _reset(writer: asyncio.StreamWriter) -> None:
    """Closes with RST instead of FIN."""
    with contextlib.suppress(OSError):
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def _bound(port: int) -> socket.socket:
    """Two sockets share the port; only one that listens takes connections."""
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    bound.bind(("127.0.0.1", port))
    return bound


@contextlib.contextmanager
def fault_proxy(engine_url: str) -> Iterator[FaultProxy]:
    """On a free port of 127.0.0.1, on a thread of its own."""
    assert urlsplit(engine_url).hostname == "127.0.0.1"
    with FaultProxy(engine_url).running() as proxy:
        yield proxy
