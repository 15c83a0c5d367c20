"""What a service answers never holds up the others: whatever it sends, reading it is little work."""

from __future__ import annotations

import asyncio
import gc
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import pytest

from shared.domain import source_policy
from shared.errors import ExchangeError
from tests.support.every_kind import ASKED, Asked
from tests.support.hostile_answers import HostileLine, bodies, shapes, streams

LONGEST_S: Final = 1.0  # of this thread's processor time; twenty times what any took where it was measured
MOST_ADDRESSES: Final = 101  # judged in one answer
MOST_DECODED: Final = 2 * MOST_ADDRESSES


@dataclass(slots=True)
class Work:
    """Counts what one answer makes the gateway judge."""

    addresses: int = 0
    decoded: int = 0
    seconds: float = 0.0


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Work:
    work = Work()
    judge, decode = source_policy.citation_url, source_policy.unquote

    def judging(text: str, *, allow_test_names: bool) -> str | None:
        work.addresses += 1
        return judge(text, allow_test_names=allow_test_names)

    def decoding(text: str) -> str:
        work.decoded += 1
        return decode(text)

    monkeypatch.setattr(source_policy, "citation_url", judging)
    monkeypatch.setattr(source_policy, "unquote", decoding)
    return work


def read(asked: Asked, line: HostileLine, work: Work) -> Work:
    """What it takes to read the answer; whether it is refused is another matter."""
    work.addresses = work.decoded = 0

    async def reading() -> None:
        started_s = time.thread_time()
        with suppress(ExchangeError):
            await asked.ask(line)
        work.seconds = time.thread_time() - started_s

    gc.disable()  # a whole collection looks at everything that the other tests of this process have left
    try:
        asyncio.run(reading())
    finally:
        gc.enable()
    return work


def check(asked: Asked, name: str, line: HostileLine, work: Work) -> None:
    read(asked, line, work)
    assert work.addresses <= MOST_ADDRESSES, name
    assert work.decoded <= MOST_DECODED, name
    assert work.seconds < LONGEST_S, name


SPEAKING_MCP: Final = {name: asked for name, asked in ASKED.items() if asked.is_mcp}
EACH_KIND = pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)


@EACH_KIND
def test_entries_of_any_shape_are_read_with_little_work(asked: Asked, counted: Work) -> None:
    for shape in shapes(of_blocks=asked.is_mcp):
        check(asked, shape.name, HostileLine(*asked.before, asked.body(shape)), counted)


@EACH_KIND
def test_a_body_of_any_shape_is_read_with_little_work(asked: Asked, counted: Work) -> None:
    for name, body in bodies().items():
        check(asked, name, HostileLine(*asked.before, body), counted)


@pytest.mark.parametrize("asked", SPEAKING_MCP.values(), ids=SPEAKING_MCP)
def test_a_stream_of_any_shape_is_read_with_little_work(asked: Asked, counted: Work) -> None:
    for name, body in streams().items():
        check(asked, name, HostileLine(body, content_type="text/event-stream"), counted)
