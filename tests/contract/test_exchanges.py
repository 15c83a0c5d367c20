"""What every `Exchanges` promises: one suite for the fake and for the real adapter."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Protocol

import pytest

from shared.adapters.clock import SystemClock
from shared.adapters.exchanges import PinnedExchanges
from shared.adapters.resolver import SystemResolver
from shared.domain.deadlines import Deadline
from shared.domain.registrations import Source
from shared.errors import ConnectionFailed, ExchangeTimeout, Refused, ResponseTooLarge
from shared.ports.exchange import Exchange, Exchanges, OutboundAnswer, OutboundRequest, Watch
from tests.support.builders import a_source
from tests.support.fake_exchanges import DROPPED_ONCE, HANGS, FakeExchanges, Step, json_answer
from tests.support.hostile_provider import HostileProvider, answer_of, hostile_provider, json_bytes, result

CLOCK = SystemClock()
GOOD = json_answer(answer_of(result()))
SCRIPTS: dict[str, list[Step]] = {
    "minimal": [GOOD],
    "zipped": [GOOD],
    "redirect": [OutboundAnswer(status=302, headers={"location": "http://169.254.169.254/latest/"}, body=b"")],
    "unauthorized": [json_answer({"error": "x"}, status=401)],
    "dies_when_reused": [GOOD, DROPPED_ONCE, GOOD],
    "closes_when_reused": [GOOD, DROPPED_ONCE, GOOD],
    "hang": [HANGS],
    "close": [ConnectionFailed()],
    "too_large": [ResponseTooLarge()],
    "not_http": [Refused("invalid_response")],
}


class Stage(Protocol):
    exchanges: Exchanges

    def source(self, behaviour: str) -> Source: ...

    async def close(self) -> None: ...


class RealStage:
    def __init__(self, server: HostileProvider) -> None:
        self._server = server
        self.exchanges = PinnedExchanges(
            resolver=SystemResolver(), clock=CLOCK, allow_loopback_http=True, private_network_available=False
        )

    def source(self, behaviour: str) -> Source:
        return a_source(base_url=self._server.url(behaviour))

    async def close(self) -> None:
        self.exchanges.close()
        await asyncio.sleep(0)


class FakeStage:
    def __init__(self) -> None:
        self.exchanges = FakeExchanges(clock=CLOCK)

    def source(self, behaviour: str) -> Source:
        source = a_source()
        self.exchanges.script(source.id, *SCRIPTS[behaviour])
        return source

    async def close(self) -> None:
        """Nothing is open."""


@pytest.fixture(params=["fake", "real"])
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    if request.param == "fake":
        yield FakeStage()
        return
    with hostile_provider() as server:
        yield RealStage(server)


class Builder:
    """Builds numbered requests, so that a test can tell how often one was built."""

    def __init__(self, source: Source) -> None:
        self._url = f"{source.base_url}/retrieve"
        self._numbers = count(1)
        self.built: list[OutboundRequest] = []

    def __call__(self) -> OutboundRequest:
        headers = (("Content-Type", "application/json"), ("X-Number", str(next(self._numbers))))
        self.built.append(OutboundRequest(method="POST", url=self._url, headers=headers, body=b'{"query":"pass"}'))
        return self.built[-1]


def line(stage: Stage, source: Source, *, seconds: float = 10) -> Exchange:
    return stage.exchanges.open(source, deadline=Deadline.after(seconds, now_s=CLOCK.monotonic()))


def ask(
    stage: Stage, behaviour: str, *, seconds: float = 10, times: int = 1, watch: Watch | None = None
) -> tuple[OutboundAnswer, Builder]:
    async def asked() -> tuple[OutboundAnswer, Builder]:
        source = stage.source(behaviour)
        build = Builder(source)
        try:
            for _ in range(times):
                answer = await line(stage, source, seconds=seconds).send(build, watch=watch)
        finally:
            await stage.close()
        return answer, build

    return asyncio.run(asked())


@pytest.mark.parametrize("behaviour", ["minimal", "zipped"])
def test_a_whole_answer_comes_back_decoded_with_lower_case_header_names(stage: Stage, behaviour: str) -> None:
    answer, build = ask(stage, behaviour)
    assert answer.status == 200
    assert answer.body == json_bytes(answer_of(result()))
    assert answer.headers["content-type"] == "application/json"
    assert len(build.built) == 1


def test_a_redirect_is_an_answer_and_is_not_followed(stage: Stage) -> None:
    answer, build = ask(stage, "redirect")
    assert (answer.status, answer.headers["location"]) == (302, "http://169.254.169.254/latest/")
    assert len(build.built) == 1


def test_a_refusing_status_is_an_answer(stage: Stage) -> None:
    assert ask(stage, "unauthorized")[0].status == 401


def test_one_resend_follows_a_reused_connection_that_died_unanswered_newly_built(stage: Stage) -> None:
    answer, build = ask(stage, "dies_when_reused", times=2)
    assert answer.status == 200
    assert [dict(r.headers)["X-Number"] for r in build.built] == ["1", "2", "3"]


@pytest.mark.parametrize("behaviour", ["dies_when_reused", "closes_when_reused"])
def test_a_line_for_one_operation_sends_nothing_twice(stage: Stage, behaviour: str) -> None:
    source = stage.source(behaviour)
    build = Builder(source)

    async def operation() -> None:
        deadline = Deadline.after(10, now_s=CLOCK.monotonic())
        async with stage.exchanges.open_once(source, deadline=deadline) as once:
            assert (await once.send(build)).status == 200
            with pytest.raises(ConnectionFailed) as failure:
                await once.send(build)
            assert type(failure.value) is ConnectionFailed
        await stage.close()

    asyncio.run(operation())
    assert len(build.built) == 2


@pytest.mark.parametrize(
    ("behaviour", "error"),
    [("close", ConnectionFailed), ("too_large", ResponseTooLarge), ("not_http", Refused)],
)
def test_a_failure_is_raised_without_a_second_attempt(stage: Stage, behaviour: str, error: type[Exception]) -> None:
    source = stage.source(behaviour)
    build = Builder(source)
    with pytest.raises(error) as failure:
        asyncio.run(_send(stage, source, build))
    assert type(failure.value) is error
    assert len(build.built) == 1


# --- a watch ---
class Watching:
    """Notes what it is told, and has seen enough after `pieces` of a body."""

    def __init__(self, *, pieces: int = 1_000_000) -> None:
        self.headers: list[Mapping[str, str]] = []
        self.pieces: list[bytes] = []
        self._enough = pieces

    def __call__(self, headers: Mapping[str, str], piece: bytes) -> bool:
        self.headers.append(headers)
        self.pieces.append(piece)
        return len(self.pieces) >= self._enough


@pytest.mark.parametrize("behaviour", ["minimal", "zipped"])
def test_a_watch_is_told_the_headers_and_the_decoded_body_in_order(stage: Stage, behaviour: str) -> None:
    watch = Watching()
    answer, _ = ask(stage, behaviour, watch=watch)
    assert b"".join(watch.pieces) == answer.body == json_bytes(answer_of(result()))
    assert {each["content-type"] for each in watch.headers} == {"application/json"}


def test_a_watch_that_has_seen_enough_gets_what_came_so_far(stage: Stage) -> None:
    watch = Watching(pieces=1)
    answer, build = ask(stage, "minimal", watch=watch)
    assert answer.status == 200
    assert answer.body.startswith(watch.pieces[0])
    assert (len(watch.pieces), len(build.built)) == (1, 1)


def test_a_watch_that_has_seen_enough_does_not_spoil_the_next_answer(stage: Stage) -> None:
    answer, build = ask(stage, "minimal", watch=Watching(pieces=1), times=3)
    assert (answer.status, len(build.built)) == (200, 3)


def test_a_watch_hears_the_answer_of_the_resend_alone(stage: Stage) -> None:
    watch = Watching()
    answer, build = ask(stage, "dies_when_reused", times=2, watch=watch)
    assert b"".join(watch.pieces) == answer.body * 2  # one body for each answer that came
    assert len(build.built) == 3


def test_what_a_watch_raises_ends_the_sending(stage: Stage) -> None:
    def refuse(_headers: Mapping[str, str], _piece: bytes) -> bool:
        raise Refused("invalid_response")

    with pytest.raises(Refused) as failure:
        ask(stage, "minimal", watch=refuse)
    assert failure.value.code == "invalid_response"


def test_everything_is_over_by_the_deadline(stage: Stage) -> None:
    began = CLOCK.monotonic()
    with pytest.raises(ExchangeTimeout):
        ask(stage, "hang", seconds=0.3)
    assert 0.25 < CLOCK.monotonic() - began < 3


def test_nothing_is_built_once_the_deadline_has_passed(stage: Stage) -> None:
    source = stage.source("minimal")
    build = Builder(source)
    with pytest.raises(ExchangeTimeout):
        asyncio.run(_send(stage, source, build, seconds=0))
    assert build.built == []


def test_the_time_left_is_whole_milliseconds_and_never_negative(stage: Stage) -> None:
    source = stage.source("minimal")
    assert 8_000 < line(stage, source, seconds=10).remaining_ms() <= 10_000
    assert line(stage, source, seconds=-5).remaining_ms() == 0


def test_a_cancelled_send_ends_as_cancelled(stage: Stage) -> None:
    async def cancelled() -> bool:
        source = stage.source("hang")
        sending = asyncio.create_task(_send(stage, source, Builder(source)))
        await asyncio.sleep(0.1)
        sending.cancel()
        await asyncio.wait([sending])
        return sending.cancelled()

    assert asyncio.run(cancelled())


async def _send(
    stage: Stage, source: Source, build: Callable[[], OutboundRequest], *, seconds: float = 10
) -> OutboundAnswer:
    return await line(stage, source, seconds=seconds).send(build)
