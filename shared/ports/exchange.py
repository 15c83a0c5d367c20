"""Sending one request to one provider, safely."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from shared.domain.deadlines import Deadline
from shared.domain.registrations import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundRequest:
    """`body` is exactly what is sent: it was serialised, and signed, once."""

    method: Literal["GET", "POST"]
    url: str
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    body: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundAnswer:
    """A complete answer within all size limits. Header names are lower-case; `body` is decoded."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


# Told an answer's headers and each piece of its body, decoded and in order; True once it has seen enough.
Watch: TypeAlias = Callable[[Mapping[str, str], bytes], bool]


class Exchange(Protocol):
    """A line to one provider, under one deadline. Knows nothing of contracts, signatures or secrets.

    `send` calls `build` for the request, resolves the host, refuses forbidden addresses, connects to a checked one,
    sends, and reads the whole answer; everything, DNS included, is over by the deadline. It follows no redirect,
    obeys no proxy variable and does not retry; only when a *reused* connection died before any answer byte does it
    call `build` again and send once more on a fresh connection, unless the line was opened with `open_once`.
    Raises the `ExchangeError` family: `ExchangeTimeout`, `ConnectionFailed`, `BlockedAddress`, `ResponseTooLarge`,
    `Refused` (`invalid_response`) for an answer that is not HTTP or is coded in an unknown way.
    """

    def remaining_ms(self) -> int:
        """Milliseconds until the deadline, never negative."""
        ...

    async def send(self, build: Callable[[], OutboundRequest], *, watch: Watch | None = None) -> OutboundAnswer:
        """With a `watch` the answer is asked for uncoded, and reading ends as soon as the watch has seen enough: the
        connection is then closed and what came so far is the body. A body that is coded all the same is handed to
        the watch whole, at its end. What the watch raises is raised, and closes the connection too.
        """
        ...


class Exchanges(Protocol):
    """Opens lines. One object a process; keeps connections of each source apart from every other's."""

    def open(self, source: Source, *, deadline: Deadline) -> Exchange: ...

    def open_once(self, source: Source, *, deadline: Deadline) -> AbstractAsyncContextManager[Exchange]:
        """A line for what must not be sent twice: `build` is called once a sending, whatever happens. Its connections
        are its own and end with it, so none that died while it lay idle can cost the first sending.
        """
        ...
