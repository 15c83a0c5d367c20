"""The provider that is examined: how it is asked, and what was seen of it so far."""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlsplit

from knowledge_conformance import signing
from knowledge_conformance.client import Client, Line, Reply, Sent
from knowledge_conformance.public_urls import is_loopback
from knowledge_conformance.readings import Reading, read
from knowledge_conformance.shapes import Fault, faults_of_answer

JSON = "application/json"
T = TypeVar("T")
_PATIENCE_S = 5.0  # a pause that is asked for with Retry-After is kept, if it is no longer than this
_PATIENCE_TIMES = 3
_SLOW_S = 0.4
_VERY_SLOW_S = 2.0
_AT_ONCE, _AT_ONCE_WHERE_VERY_SLOW = 16, 20
_DEADLINE = (("X-Helpthread-Deadline-Ms", "9900"),)


@dataclass(frozen=True, slots=True)
class Secrets:
    """`previous` is the other one that the provider accepts, during a rotation."""

    current: str = field(repr=False)
    previous: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Observation:
    """A genuine request for `limit` results, and what came. `reading` is None where no whole 200 did."""

    query: str = field(repr=False)
    limit: int
    reply: Reply
    reading: Reading | None

    @property
    def document_ids(self) -> list[str]:
        results = self.reading.results if self.reading else []
        return [str(one.get("documentId")) for one in results if isinstance(one, dict)]


@dataclass(frozen=True, slots=True)
class Kept:
    """A genuine request that is to be repeated later: what came, when, and how many had been answered by then."""

    sent: Sent
    reply: Reply
    at_s: float
    answered_before: int


@dataclass
class Seen:
    """`answers` are those to the first requests, by which the provider is got to know; `later` the others to genuine
    ones, of equal answers to equal limits the first. The checks only read it.
    """

    answers: list[Observation] = field(default_factory=list)
    nothing: Observation | None = None  # the one of the answers to a question of which nothing should be found
    later: dict[tuple[object, ...], Observation] = field(default_factory=dict)
    capabilities: Reply | None = None
    declaration: Reading | None = None
    declared: frozenset[str] = frozenset()
    kept: dict[str, Kept] = field(default_factory=dict)
    burst: list[tuple[Observation, Reply]] = field(default_factory=list)  # those that were asked at once
    _faults: dict[int, list[Fault]] = field(default_factory=dict)
    query: str = ""  # the one that found most; empty where none found anything

    @property
    def all_answers(self) -> list[Observation]:
        return [*self.answers, *self.later.values()]

    @property
    def readable(self) -> list[tuple[Observation, Reading]]:
        return _readable(self.answers)

    @property
    def all_readable(self) -> list[tuple[Observation, Reading]]:
        return _readable(self.all_answers)

    @property
    def results(self) -> list[dict[str, Any]]:
        return _results(self.readable)

    @property
    def all_results(self) -> list[dict[str, Any]]:
        return _results(self.all_readable)

    def values(self, name: str) -> list[Any]:
        """What results of all answers carry under a name; null is nothing."""
        return [result[name] for result in self.all_results if result.get(name) is not None]

    @property
    def refuses_nothing_found_with(self) -> int:
        """The status with which a question that finds nothing is refused; 0 where it is answered, as it should be."""
        reply = self.nothing.reply if self.nothing else None
        return reply.status if reply and not reply.fault and not reply.is_whole else 0

    def faults_of(self, reading: Reading) -> list[Fault]:
        """Where a reading is not in shape; looked for once."""
        if id(reading) not in self._faults:
            self._faults[id(reading)] = faults_of_answer(reading.document)
        return self._faults[id(reading)]

    def of(self, query: str, limit: int) -> Observation | None:
        """Among the first answers."""
        return next((one for one in self.answers if (one.query, one.limit) == (query, limit)), None)


def _readable(answers: list[Observation]) -> list[tuple[Observation, Reading]]:
    return [(one, one.reading) for one in answers if one.reading and isinstance(one.reading.document, dict)]


def _results(readable: list[tuple[Observation, Reading]]) -> list[dict[str, Any]]:
    return [result for _, reading in readable for result in reading.results if isinstance(result, dict)]


class Subject:
    """`url` has no slash at its end. `queries` are tried until one finds something."""

    def __init__(self, url: str, secrets_: Secrets, client: Client, *, queries: tuple[str, ...]) -> None:
        self.url = url
        self.secrets = secrets_
        self.client = client
        self.queries = queries
        self.seen = Seen()
        self._turns: asyncio.Semaphore | None = None
        self.pauses_s: list[float] = []  # those that were asked for, and kept
        self.is_on_this_machine = is_loopback(urlsplit(url).hostname or "")

    @property
    def is_slow(self) -> bool:
        """Whether one thing after the other would take too long for a whole run."""
        return any(one.reply.took_s > _SLOW_S for one in self.seen.answers)

    async def each(self, turns: Iterator[Awaitable[T]]) -> list[T]:
        """One after the other, or all at once where that would take too long; in their order. Made as they are needed:
        a run that is interrupted leaves none that was never begun.
        """
        return await asyncio.gather(*turns) if self.is_slow else [await one for one in turns]

    def signed(
        self,
        body: bytes,
        *,
        method: str = "POST",
        path: str = "/retrieve",
        secret: str | None = None,
        timestamp: int | None = None,
        nonce: str | None = None,
        header: Callable[[int, str, str], str] | None = None,
        more: tuple[tuple[str, str], ...] = _DEADLINE,
    ) -> Sent:
        """A genuine request over `body`, unless something else is said. `header` writes the signature header from time,
        nonce and the value that fits.
        """
        t = int(time.time()) if timestamp is None else timestamp
        n = nonce or new_nonce()
        value = signing.sign(self.secrets.current if secret is None else secret, timestamp=t, nonce=n, body=body)
        text = header(t, n, value) if header else signing.header([value], timestamp=t, nonce=n)
        headers = [
            ("X-Helpthread-Knowledge-Version", "1"),
            ("X-Helpthread-Request", n),
            ("X-Helpthread-Signature", text),
            *more,
        ]
        if method == "POST":
            headers.append(("Content-Type", JSON))
        return Sent(method, path, body, tuple(headers))

    async def send(self, build: Callable[[], Sent], *, line: Line | None = None) -> Reply:
        """Sends what `build` makes, and makes it anew after a short pause that the provider asks for. Each time on a
        connection of its own, unless a line is named.
        """
        way = line or self.client
        reply = await self._sent(build, way)
        for _ in range(_PATIENCE_TIMES):
            pause_s = asked_pause_s(reply)
            if pause_s is None or pause_s > _PATIENCE_S:
                break
            self.pauses_s.append(pause_s)
            await asyncio.sleep(pause_s)
            reply = await self._sent(build, way)
        return reply

    async def _sent(self, build: Callable[[], Sent], way: Client | Line) -> Reply:
        if not self.is_slow:
            return await way.send(build())
        if self._turns is None:
            is_very_slow = any(one.reply.took_s > _VERY_SLOW_S for one in self.seen.answers)
            self._turns = asyncio.Semaphore(_AT_ONCE_WHERE_VERY_SLOW if is_very_slow else _AT_ONCE)
        async with self._turns:
            return await way.send(build())

    async def ask(self, fields: Mapping[str, object]) -> Reply:
        """A genuine request with these fields in its body."""
        body = body_of(fields)
        return self.noted(body, await self.send(lambda: self.signed(body)))

    def noted(self, body: bytes, reply: Reply) -> Reply:
        """Keeps the answer to a genuine request over `body` for those who judge every answer."""
        if reply.is_whole:
            limit = json.loads(body)["limit"]
            key = (limit, reply.headers.get("content-type"), hashlib.sha256(reply.body).digest())
            if key not in self.seen.later:
                self.seen.later[key] = Observation("", limit, reply, read(reply.body))
        return reply

    def plain_body(self) -> bytes:
        """A request's body that is in order, each time with the same bytes."""
        return body_of({"query": self.seen.query or self.queries[0], "limit": 3})


def body_of(fields: Mapping[str, object]) -> bytes:
    """As the gateway writes it: UTF-8, no spaces."""
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def deadline_header() -> tuple[tuple[str, str], ...]:
    return _DEADLINE


def new_nonce() -> str:
    return secrets.token_hex(16)


def asked_pause_s(reply: Reply) -> float | None:
    """Seconds of a Retry-After on 429 and 503; None where no pause is asked for in seconds."""
    says = reply.headers.get("retry-after", "")
    if reply.status not in (429, 503) or not (says.isascii() and says.isdigit() and len(says) < 9):
        return None
    return float(says)
