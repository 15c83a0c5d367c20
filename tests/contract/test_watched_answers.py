"""The real adapter while somebody watches the answer come: what ends early, what does not, and what is left behind."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterator, Mapping

import pytest

from shared.errors import ExchangeError, ExchangeTimeout, Refused
from shared.ports.exchange import OutboundAnswer
from tests.contract.pinned_gateway import Gateway
from tests.contract.test_pinned_exchanges import REFUSED, open_sockets
from tests.support.builders import a_source
from tests.support.hostile_provider import HostileProvider, answer_of, hostile_provider, json_bytes, result
from tests.support.mcp_servers import BadMcpServer, Framing, bad_mcp_server

OPEN = {"stream": ["data: one", "", "data: two", ""], "keepOpen": True}


@pytest.fixture(scope="module")
def hostile() -> Iterator[HostileProvider]:
    with hostile_provider() as server:
        yield server


@pytest.fixture(scope="module")
def streaming() -> Iterator[BadMcpServer]:
    with bad_mcp_server() as server:
        yield server


class Until:
    """Has seen enough once `mark` has come; with None, never."""

    def __init__(self, mark: bytes | None) -> None:
        self.pieces: list[bytes] = []
        self._mark = mark

    @property
    def seen(self) -> bytes:
        return b"".join(self.pieces)

    def __call__(self, _headers: Mapping[str, str], piece: bytes) -> bool:
        self.pieces.append(piece)
        return self._mark is not None and self._mark in self.seen


@pytest.mark.parametrize("framing", [Framing.WHOLE, Framing.BYTE_BY_BYTE], ids=["whole", "byte_by_byte"])
def test_reading_ends_when_enough_was_seen_though_the_stream_stays_open(
    gateway: Gateway, streaming: BadMcpServer, framing: Framing
) -> None:
    streaming.play([OPEN], framing=framing)
    watch = Until(b"two")
    began = time.monotonic()
    answer = gateway.ask(a_source(base_url=streaming.url), watch=watch, seconds=20)
    assert time.monotonic() - began < 5
    assert answer.body == watch.seen
    assert answer.headers["content-type"] == "text/event-stream"


def test_a_connection_whose_answer_was_not_read_to_its_end_is_closed_and_not_used_again(
    gateway: Gateway, streaming: BadMcpServer
) -> None:
    source = a_source(base_url=streaming.url)
    for _ in range(2):
        streaming.play([OPEN])
        gateway.ask(source, watch=Until(b"one"))
        assert gateway.loop.run(_in_a_moment(streaming.is_left))
    assert len(gateway.dial.dialled) == 2


def test_a_connection_whose_answer_was_read_to_its_end_is_used_again(gateway: Gateway, streaming: BadMcpServer) -> None:
    source = a_source(base_url=streaming.url)
    streaming.play([{"json": {"n": 1}}])
    for _ in range(3):
        assert gateway.ask(source, watch=Until(None)).body == b'{"n": 1}'
    assert len(gateway.dial.dialled) == 1


def test_a_watched_answer_is_asked_for_uncoded(gateway: Gateway, streaming: BadMcpServer) -> None:
    streaming.play([{"json": {}}])
    gateway.ask(a_source(base_url=streaming.url), watch=Until(None))
    assert streaming.seen[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("behaviour", ["zipped", "deflated", "deflated_raw"])
def test_an_answer_that_is_coded_all_the_same_is_handed_over_whole(
    gateway: Gateway, hostile: HostileProvider, behaviour: str
) -> None:
    watch = Until(b"pass")
    answer = gateway.ask(a_source(base_url=hostile.url(behaviour)), watch=watch)
    assert watch.pieces == [answer.body] == [json_bytes(answer_of(result()))]


@pytest.mark.parametrize(("behaviour", "error"), REFUSED.items(), ids=REFUSED)
def test_watching_changes_nothing_about_what_is_refused(
    gateway: Gateway, hostile: HostileProvider, behaviour: str, error: type[ExchangeError]
) -> None:
    with pytest.raises(error) as failure:
        gateway.ask(a_source(base_url=hostile.url(behaviour)), watch=Until(None))
    assert type(failure.value) is error


def test_a_flood_costs_nothing_once_enough_was_seen(gateway: Gateway, hostile: HostileProvider) -> None:
    answer = gateway.ask(a_source(base_url=hostile.url("too_large_until_closed")), watch=Until(b" "))
    assert 0 < len(answer.body) <= 4_096


def test_drops_are_seen_as_they_fall(gateway: Gateway, streaming: BadMcpServer) -> None:
    streaming.play([{**OPEN, "pauseS": 0.01}], framing=Framing.BYTE_BY_BYTE)
    watch = Until(b"one")
    answer = gateway.ask(a_source(base_url=streaming.url), watch=watch)
    assert answer.body == b"data: one"


@pytest.mark.parametrize("behaviour", ["drip", "hang", "drip_headers"])
def test_whoever_takes_their_time_is_cut_off_at_the_deadline_while_watched(
    gateway: Gateway, hostile: HostileProvider, behaviour: str
) -> None:
    began = time.monotonic()
    with pytest.raises(ExchangeTimeout):
        gateway.ask(a_source(base_url=hostile.url(behaviour)), watch=Until(b"never"), seconds=0.4)
    assert 0.35 < time.monotonic() - began < 3


def test_an_answer_that_ends_too_soon_is_a_failed_connection(gateway: Gateway, hostile: HostileProvider) -> None:
    with pytest.raises(ExchangeError) as failure:
        gateway.ask(a_source(base_url=hostile.url("close_in_body")), watch=Until(b"never"))
    assert failure.value.code == "connection_failed"


def test_what_a_watch_raises_closes_the_connection(gateway: Gateway, streaming: BadMcpServer) -> None:
    streaming.play([OPEN])
    with pytest.raises(Refused):
        gateway.ask(a_source(base_url=streaming.url), watch=refuse)
    assert gateway.loop.run(_in_a_moment(streaming.is_left))


def refuse(_headers: Mapping[str, str], _piece: bytes) -> bool:
    raise Refused("invalid_response")


@pytest.mark.parametrize("framing", [Framing.WHOLE, Framing.BYTE_BY_BYTE], ids=["whole", "byte_by_byte"])
@pytest.mark.parametrize("raises", [False, True], ids=["seen_enough", "raising"])
def test_fifty_answers_that_ended_early_leave_no_sockets_and_no_tasks_behind(
    gateway: Gateway, streaming: BadMcpServer, framing: Framing, raises: bool
) -> None:
    streaming.play([OPEN], framing=framing)
    source = a_source(base_url=streaming.url)

    abandoned: list[object] = []

    async def invocation() -> None:
        sys.set_asyncgen_hooks(finalizer=abandoned.append)  # as the loop has its own again afterwards
        sends = (gateway.send(source, watch=refuse if raises else Until(b"two")) for _ in range(2))
        answers = await asyncio.gather(*sends, return_exceptions=True)
        assert {type(answer) for answer in answers} == {Refused if raises else OutboundAnswer}
        await asyncio.sleep(0)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    before = open_sockets()
    for _ in range(50):
        gateway.loop.run(invocation())
    assert abandoned == []  # no generator was left half-way, for the loop to close some time later
    assert gateway.loop.run(_in_a_moment(streaming.is_left))
    assert open_sockets() <= before + 2


@pytest.mark.parametrize("cancellations", [1, 2])
def test_a_watched_send_cancelled_at_any_step_leaves_nothing_behind(
    gateway: Gateway, streaming: BadMcpServer, cancellations: int
) -> None:
    streaming.play([OPEN])
    source = a_source(base_url=streaming.url)
    outcomes: list[bool] = []

    async def cut_short(*, after_steps: int) -> None:
        sending = asyncio.create_task(gateway.send(source, watch=Until(b"two")))
        for step in range(after_steps):
            await asyncio.sleep(0 if step < 10 else 0.0001)
        for _ in range(cancellations):
            sending.cancel()
            await asyncio.sleep(0)
        await asyncio.wait([sending])
        outcomes.append(sending.cancelled())

    before = open_sockets()
    for after_steps in range(60):
        gateway.loop.run(cut_short(after_steps=after_steps))
    assert set(outcomes) == {True, False}  # some were cut short, and some were through
    assert gateway.loop.run(_in_a_moment(streaming.is_left))
    assert open_sockets() <= before
    assert isinstance(gateway.ask(source, watch=Until(b"two")), OutboundAnswer)


async def _in_a_moment(is_left) -> bool:
    """Asked beside the running loop, so that it can close what it has to close."""
    return await asyncio.get_running_loop().run_in_executor(None, is_left)
