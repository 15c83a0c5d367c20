"""The provider that is examined: how it is asked, and what was seen of it so far."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from knowledge_conformance import signing
from knowledge_conformance.client import Client, Reply, Sent
from knowledge_conformance.public_urls import is_loopback
from knowledge_conformance.readings import Reading

JSON = "application/json"
_PATIENCE_S = 5.0  # a pause that is asked for with Retry-After is kept, if it is no longer than this
_PATIENCE_TIMES = 2
_SLOW_S = 0.4


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


@dataclass
class Seen:
    """What the first requests showed. The checks only read it."""

    answers: list[Observation] = field(default_factory=list)
    capabilities: Reply | None = None
    declaration: Reading | None = None
    declared: frozenset[str] = frozenset()
    query: str = ""  # the one that found most; empty where none found anything

    @property
    def readable(self) -> list[tuple[Observation, Reading]]:
        return [(one, one.reading) for one in self.answers if one.reading and isinstance(one.reading.document, dict)]

    @property
    def results(self) -> list[dict[str, Any]]:
        return [result for _, reading in self.readable for result in reading.results if isinstance(result, dict)]

    def values(self, name: str) -> list[Any]:
        """What results carry under a name; null is nothing."""
        return [result[name] for result in self.results if result.get(name) is not None]


class Subject:
    """`url` has no slash at its end. `queries` are tried until one finds something."""

    def __init__(self, url: str, secrets_: Secrets, client: Client, *, queries: tuple[str, ...]) -> None:
        self.url = url
        self.secrets = secrets_
        self.client = client
        self.queries = queries
        self.seen = Seen()
        self.is_on_this_machine = is_loopback(urlsplit(url).hostname or "")

    @property
    def is_slow(self) -> bool:
        """Whether one thing after the other would take too long for a whole run."""
        return any(one.reply.took_s > _SLOW_S for one in self.seen.answers)

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
        more: tuple[tuple[str, str], ...] = (),
    ) -> Sent:
        """A genuine request over `body`, unless something else is said. `header` writes the signature header from time,
        nonce and the value that fits.
        """
        t = int(time.time()) if timestamp is None else timestamp
        n = nonce or new_nonce()
        value = signing.sign(secret or self.secrets.current, timestamp=t, nonce=n, body=body)
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

    async def send(self, build: Callable[[], Sent]) -> Reply:
        """Sends what `build` makes, and makes it anew after a short pause that the provider asks for."""
        reply = await self.client.send(build())
        for _ in range(_PATIENCE_TIMES):
            pause_s = asked_pause_s(reply)
            if pause_s is None or pause_s > _PATIENCE_S:
                break
            await asyncio.sleep(pause_s)
            reply = await self.client.send(build())
        return reply

    async def ask(self, fields: Mapping[str, object]) -> Reply:
        """A genuine request with these fields in its body."""
        body = body_of(fields)
        return await self.send(lambda: self.signed(body, more=deadline_header()))

    def plain_body(self) -> bytes:
        """A request's body that is in order, each time with the same bytes."""
        return body_of({"query": self.seen.query or self.queries[0], "limit": 3})


def body_of(fields: Mapping[str, object]) -> bytes:
    """As the gateway writes it: UTF-8, no spaces."""
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def deadline_header() -> tuple[tuple[str, str], ...]:
    return (("X-Helpthread-Deadline-Ms", "9900"),)


def new_nonce() -> str:
    return secrets.token_hex(16)


def asked_pause_s(reply: Reply) -> float | None:
    """Seconds of a Retry-After on 429 and 503; None where no pause is asked for in seconds."""
    says = reply.headers.get("retry-after", "")
    if reply.status not in (429, 503) or not (says.isascii() and says.isdigit() and len(says) < 9):
        return None
    return float(says)
