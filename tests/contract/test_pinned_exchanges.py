"""The real adapter against a real, hostile server: deadlines, sizes, reuse, and what is left behind."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import time
from collections.abc import Coroutine, Iterator
from dataclasses import replace

import pytest

from shared.adapters.event_loop import ProcessLoop
from shared.domain.deadlines import Deadline
from shared.domain.registrations import MAX_PROVIDERS, Link, Source
from shared.errors import (
    BlockedAddress,
    ConnectionFailed,
    ExchangeError,
    ExchangeTimeout,
    Refused,
    ResponseTooLarge,
)
from shared.ports.exchange import OutboundAnswer, OutboundRequest
from tests.contract.pinned_gateway import Gateway
from tests.support.builders import a_sealed_secret, a_source
from tests.support.fake_network import FakeResolver, RecordingDial
from tests.support.hostile_provider import (
    BEHAVIOURS,
    MIB,
    HostileProvider,
    answer_of,
    hostile_provider,
    json_bytes,
    result,
)
from tests.support.memory import extra_memory_bytes
from tests.support.tls import TestAuthority

REFUSED = {
    "reset": ConnectionFailed,
    "close": ConnectionFailed,
    "close_in_headers": ConnectionFailed,
    "close_in_body": ConnectionFailed,
    "announces_too_much": ResponseTooLarge,
    "too_large": ResponseTooLarge,
    "too_large_until_closed": ResponseTooLarge,
    "gzip_bomb": ResponseTooLarge,
    "deflate_bomb": ResponseTooLarge,
    "tiny_chunks": ResponseTooLarge,
    "lie_about_size": Refused,
    "huge_headers": Refused,
    "unknown_coding": Refused,
    "cut_gzip": Refused,
    "not_gzip": Refused,
    "two_gzips": Refused,
    "not_http": Refused,
    "two_lengths": Refused,
    "switches_protocols": Refused,
}


@pytest.fixture(scope="module")
def server() -> Iterator[HostileProvider]:
    with hostile_provider() as provider:
        yield provider


# --- what is refused ---
@pytest.mark.parametrize(("behaviour", "error"), REFUSED.items(), ids=REFUSED)
def test_a_bad_answer_is_refused_and_its_connection_is_never_used_again(
    gateway: Gateway, server: HostileProvider, behaviour: str, error: type[ExchangeError]
) -> None:
    source = a_source(base_url=server.url(behaviour))
    for _ in range(2):
        with pytest.raises(error) as failure:
            gateway.ask(source)
        assert type(failure.value) is error
        assert failure.value.code == {"Refused": "invalid_response"}.get(error.__name__, error.code)
    connections = [seen.connection for seen in server.requests if seen.behaviour == behaviour][-2:]
    assert len(set(connections)) == 2


@pytest.mark.parametrize("behaviour", ["hang", "drip", "drip_headers", "endless_early_hints"])
def test_whoever_takes_their_time_is_cut_off_at_the_deadline(
    gateway: Gateway, server: HostileProvider, behaviour: str
) -> None:
    began = time.monotonic()
    with pytest.raises(ExchangeTimeout):
        gateway.ask(a_source(base_url=server.url(behaviour)), seconds=0.5)
    assert 0.45 < time.monotonic() - began < 3


def test_an_answer_that_could_only_be_taken_up_after_the_deadline_is_late(server: HostileProvider) -> None:
    """The event loop was held up by something else, so its own timer came no earlier."""
    clock = SteppingClock()
    gateway = Gateway(clock=clock)
    source = a_source(base_url=server.url("good"))
    line = gateway.exchanges.open(source, deadline=Deadline.after(20, now_s=clock.monotonic()))

    def build() -> OutboundRequest:
        clock.step("monotonic", 21)
        return OutboundRequest(method="POST", url=f"{source.base_url}/retrieve")

    with pytest.raises(ExchangeTimeout):
        gateway.loop.run(line.send(build))
    gateway.close()


def test_a_slow_name_service_is_part_of_the_deadline() -> None:
    gateway = Gateway(resolver=FakeResolver({"kb.fern-desk.com": ["8.8.8.8"]}, delay_s=30))
    with pytest.raises(ExchangeTimeout):
        gateway.ask(a_source(base_url="https://kb.fern-desk.com"), seconds=0.2)
    assert gateway.dial.dialled == []
    gateway.close()


def test_exactly_one_mebibyte_is_accepted(gateway: Gateway, server: HostileProvider) -> None:
    assert len(gateway.ask(a_source(base_url=server.url("exactly_one_mib"))).body) == MIB


@pytest.mark.parametrize("behaviour", ["zipped", "deflated", "deflated_raw", "old_http"])
def test_each_honest_coding_is_read(gateway: Gateway, server: HostileProvider, behaviour: str) -> None:
    assert gateway.ask(a_source(base_url=server.url(behaviour))).body == json_bytes(answer_of(result()))


def test_a_bomb_on_the_wire_costs_little_memory(gateway: Gateway, server: HostileProvider) -> None:
    source = a_source(base_url=server.url("gzip_bomb"))
    with pytest.raises(ResponseTooLarge):
        gateway.ask(source)  # the server has made its bomb, and every module is loaded

    def ask_again() -> None:
        with pytest.raises(ResponseTooLarge):
            gateway.ask(source)

    assert extra_memory_bytes(ask_again) < 8 * MIB


def test_a_flood_does_not_hold_up_another_providers_answer(gateway: Gateway, server: HostileProvider) -> None:
    flood = [a_source(base_url=server.url(name)) for name in ("tiny_chunks", "too_large_until_closed", "gzip_bomb")]

    async def together() -> OutboundAnswer:
        others = [asyncio.create_task(gateway.send(source)) for source in flood]
        answer = await gateway.send(a_source(base_url=server.url("minimal")), seconds=5)
        await asyncio.gather(*others, return_exceptions=True)
        return answer

    assert gateway.loop.run(together()).status == 200


@pytest.mark.parametrize("behaviour", ["redirect", "redirect_private", "redirect_to_itself"])
def test_a_redirect_is_not_followed(gateway: Gateway, server: HostileProvider, behaviour: str) -> None:
    before = len(server.requests)
    assert gateway.ask(a_source(base_url=server.url(behaviour))).status in (302, 307)
    assert len(server.requests) == before + 1
    assert set(gateway.dial.dialled) == {"127.0.0.1"}


# --- what is sent ---
def test_what_was_built_is_what_arrives(gateway: Gateway, server: HostileProvider) -> None:
    gateway.ask(a_source(base_url=server.url("good")))
    seen = server.requests[-1]
    assert (seen.method, seen.path, seen.body) == ("POST", "/good/retrieve", b'{"query":"ferry","limit":3}')
    assert seen.headers == {
        "host": f"127.0.0.1:{server.port}",
        "accept-encoding": "gzip, deflate",
        "content-type": "application/json",
        "content-length": "27",
    }


def test_a_logger_at_its_loudest_is_told_nothing_of_a_request(
    gateway: Gateway, server: HostileProvider, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    gateway.ask(a_source(base_url=server.url("good")))
    assert [record.name for record in caplog.records if record.name.startswith(("http", "h11"))] == []


def test_proxy_variables_have_no_effect(server: HostileProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with hostile_provider() as proxy:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
            monkeypatch.setenv(name.lower(), f"http://127.0.0.1:{proxy.port}")
        gateway = Gateway()
        assert gateway.ask(a_source(base_url=server.url("good"))).status == 200
        gateway.close()
        assert proxy.connections == 0


def test_a_line_leads_to_its_own_source_alone(gateway: Gateway, server: HostileProvider) -> None:
    source = a_source(base_url=server.url("good"))
    for url in (server.url("minimal"), source.base_url + "x/retrieve", "https://evil.fern-desk.com/", "//evil/"):
        with pytest.raises(BlockedAddress):
            gateway.ask(source, url=url)


# --- which address is dialled ---
def test_the_next_checked_address_is_tried_inside_the_same_deadline(server: HostileProvider) -> None:
    resolver = FakeResolver({"kb.localhost": ["::1", "127.0.0.2", "127.0.0.1"]})
    dial = RecordingDial(unreachable=frozenset({"::1"}), silent=frozenset({"127.0.0.2"}))
    gateway = Gateway(resolver=resolver, dial=dial)
    assert gateway.ask(a_source(base_url=server.url("good", host="kb.localhost")), seconds=10).status == 200
    assert dial.dialled == ["::1", "127.0.0.2", "127.0.0.1"]
    assert server.requests[-1].headers["host"] == f"kb.localhost:{server.port}"
    gateway.close()


def test_a_source_whose_every_address_is_dead_is_a_failed_connection() -> None:
    dial = RecordingDial(unreachable=frozenset({"8.8.8.8", "1.1.1.1"}))
    gateway = Gateway(resolver=FakeResolver({"kb.fern-desk.com": ["8.8.8.8", "1.1.1.1"]}), dial=dial)
    with pytest.raises(ConnectionFailed):
        gateway.ask(a_source(base_url="https://kb.fern-desk.com"))
    assert dial.dialled == ["8.8.8.8", "1.1.1.1"]
    gateway.close()


# --- connections that are kept ---
def test_a_connection_is_used_again(gateway: Gateway, server: HostileProvider) -> None:
    source = a_source(base_url=server.url("good"))
    for _ in range(5):
        gateway.ask(source)
    assert len(gateway.dial.dialled) == 1


def test_sources_do_not_share_connections(gateway: Gateway, server: HostileProvider) -> None:
    for _ in range(2):
        gateway.ask(a_source(base_url=server.url("good")))
    assert len(gateway.dial.dialled) == 2


LINK = Link(owner_id="aoi_aaaaaaaaaaaaaaaa", credential=a_sealed_secret("first", ciphertext=b"1"))
CHANGES = {
    "another address": {"base_url": "/moved"},
    "a private network": {"allow_private_network": True},
    "another credential": {"link": replace(LINK, credential=a_sealed_secret("second", ciphertext=b"2"))},
    "no credential": {"link": replace(LINK, credential=None)},
    "plain http": {"link": replace(LINK, allow_plain_http=True)},
    "a private authority": {"link": replace(LINK, private_authority=TestAuthority().pem())},
    "another owner": {"link": replace(LINK, owner_id="aoi_bbbbbbbbbbbbbbbb")},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_source_starts_on_a_connection_of_its_own(server: HostileProvider, change: dict) -> None:
    gateway = Gateway(private_network_available=True)
    source = a_source(base_url=server.url("good"), link=LINK)
    moved = {"base_url": source.base_url + change["base_url"]} if "base_url" in change else {}
    gateway.ask(source)
    gateway.ask(replace(source, link=replace(LINK)))
    gateway.ask(replace(source, **change | moved))
    assert len(gateway.dial.dialled) == 2
    gateway.close()


@pytest.mark.parametrize("clock_that_moved", ["monotonic", "wall"])
def test_an_idle_connection_is_given_up_after_five_seconds(server: HostileProvider, clock_that_moved: str) -> None:
    """By either clock: while a process is frozen, one of them may stand still."""
    clock = SteppingClock()
    gateway = Gateway(clock=clock)
    source = a_source(base_url=server.url("good"))
    gateway.ask(source)
    clock.step(clock_that_moved, 4)
    gateway.ask(source)
    assert len(gateway.dial.dialled) == 1
    clock.step(clock_that_moved, 6)
    gateway.ask(source)
    assert len(gateway.dial.dialled) == 2
    gateway.close()


@pytest.mark.parametrize("clock_that_moved", ["monotonic", "wall"])
def test_a_busy_connection_is_given_up_after_a_minute(server: HostileProvider, clock_that_moved: str) -> None:
    """By either clock, as above: many short pauses in which one stands still are a long time too."""
    clock = SteppingClock()
    gateway = Gateway(clock=clock)
    source = a_source(base_url=server.url("good"))
    for _ in range(20):
        gateway.ask(source)
        clock.step(clock_that_moved, 4)
    assert len(gateway.dial.dialled) == 2
    gateway.close()


def test_connections_of_sources_nobody_asks_any_more_are_closed(server: HostileProvider) -> None:
    clock = SteppingClock()
    gateway = Gateway(clock=clock)
    before = open_sockets()
    for _ in range(10):
        gateway.ask(a_source(base_url=server.url("good")))
    clock.step("monotonic", 6)
    for _ in range(2):
        gateway.ask(a_source(base_url=server.url("good")))
    assert open_sockets() - before <= 6  # two connections, each seen from both ends, and one that is closing
    gateway.close()


def test_pools_are_bounded_and_the_longest_unused_makes_room(server: HostileProvider) -> None:
    gateway = Gateway()
    before = open_sockets()
    first = a_source(base_url=server.url("good"))
    gateway.ask(first)
    gateway.loop.run(_ask_many(gateway, MAX_PROVIDERS))
    gateway.ask(first)
    assert len(gateway.dial.dialled) == 2
    assert open_sockets() - before <= 2
    gateway.close()


async def _ask_many(gateway: Gateway, number: int) -> None:
    for _ in range(number):
        with contextlib.suppress(ConnectionFailed):
            await gateway.send(a_source())
    await asyncio.sleep(0.01)


def test_a_connection_that_died_while_frozen_is_not_even_tried(gateway: Gateway, server: HostileProvider) -> None:
    """The server closes right after its answer; the frozen loop has not heard of it when the next request comes."""
    source = a_source(base_url=server.url("old_http"))
    gateway.ask(source)
    time.sleep(0.1)
    gateway.ask(source)
    assert len(gateway.dial.dialled) == 2


def test_one_resend_follows_a_reset_on_reuse_and_no_more(gateway: Gateway, server: HostileProvider) -> None:
    source = a_source(base_url=server.url("dies_when_reused"))
    before = len(server.requests)
    for _ in range(3):
        assert gateway.ask(source).status == 200
    seen = [(r.connection, r.nth_on_connection) for r in server.requests[before:]]
    assert [nth for _, nth in seen] == [1, 2, 1, 2, 1]
    assert len(gateway.dial.dialled) == 3


# --- lines for one operation ---
async def operation(gateway: Gateway, source: Source, *, sendings: int = 1, seconds: float = 20) -> list[int]:
    """The states that came back."""
    deadline = Deadline.after(seconds, now_s=gateway.clock.monotonic())
    request = OutboundRequest(method="POST", url=f"{source.base_url}/retrieve", body=b"{}")
    async with gateway.exchanges.open_once(source, deadline=deadline) as line:
        return [(await line.send(lambda: request)).status for _ in range(sendings)]


@pytest.mark.parametrize("behaviour", ["dies_when_reused", "closes_when_reused", "minimal"])
def test_no_connection_that_lay_idle_can_cost_an_operation(
    gateway: Gateway, server: HostileProvider, behaviour: str
) -> None:
    source = a_source(base_url=server.url(behaviour))
    gateway.ask(source)  # whose connection is kept, and no operation's
    before = len(server.requests)
    for _ in range(3):
        assert gateway.loop.run(operation(gateway, source)) == [200]
    assert [seen.nth_on_connection for seen in server.requests[before:]] == [1, 1, 1]


def test_the_sendings_of_one_operation_share_a_connection(gateway: Gateway, server: HostileProvider) -> None:
    before = len(server.requests)
    source = a_source(base_url=server.url("minimal"))
    assert gateway.loop.run(operation(gateway, source, sendings=3)) == [200] * 3
    assert [seen.nth_on_connection for seen in server.requests[before:]] == [1, 2, 3]
    assert len(gateway.dial.dialled) == 1


@pytest.mark.parametrize("behaviour", ["minimal", "hang", "close_in_body", "closes_when_reused"])
def test_an_operation_leaves_no_connection_behind(gateway: Gateway, server: HostileProvider, behaviour: str) -> None:
    source = a_source(base_url=server.url(behaviour))

    async def operations() -> None:
        for _ in range(5):
            with contextlib.suppress(ExchangeError):
                await operation(gateway, source, sendings=2, seconds=0.1 if behaviour == "hang" else 20)
        cancelled = asyncio.create_task(operation(gateway, a_source(base_url=server.url("hang"))))
        await asyncio.sleep(0.05)
        cancelled.cancel()
        await asyncio.gather(cancelled, return_exceptions=True)
        until = time.monotonic() + 5
        while server.open_connections and time.monotonic() < until:
            await asyncio.sleep(0.01)

    gateway.loop.run(operations())
    assert server.open_connections == 0
    assert len(gateway.dial.dialled) == 6


# --- warm processes ---
def open_sockets() -> int:
    """As of one moment: what another thread closes while they are counted is not open."""
    count = 0
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):
            count += os.readlink(f"/proc/self/fd/{number}").startswith("socket:")
    return count


def test_fifty_warm_invocations_leave_no_sockets_and_no_tasks_behind(server: HostileProvider) -> None:
    gateway = Gateway()
    names = ["good", "hang", "drip", "reset", "dies_when_reused", "too_large", "close_in_body", "not_http"]
    sources = [a_source(base_url=server.url(name)) for name in names]
    sockets: list[int] = []

    async def invocation() -> list[object]:
        seconds = [0.15 if name in ("hang", "drip") else 20 for name in names]
        sends = (gateway.send(source, seconds=s) for source, s in zip(sources, seconds, strict=True))
        answers = await asyncio.gather(*sends, return_exceptions=True)
        await asyncio.sleep(0)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return answers

    for _ in range(50):
        good, *_, dying, _, _, _ = gateway.loop.run(invocation())
        assert isinstance(good, OutboundAnswer)
        assert isinstance(dying, OutboundAnswer)
        sockets.append(open_sockets())
    assert max(sockets[25:]) <= max(sockets[:25]) + 2
    gateway.close()


def test_a_cancelled_invocation_leaves_the_next_one_whole(server: HostileProvider) -> None:
    gateway = Gateway()
    sources = [a_source(base_url=server.url(name)) for name in ("good", "hang", "drip", "slow")]

    async def cut_short() -> None:
        tasks = [asyncio.create_task(gateway.send(source)) for source in sources]
        await asyncio.sleep(0.1)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)

    before = open_sockets()
    for _ in range(10):
        gateway.loop.run(cut_short())
        assert gateway.ask(sources[0]).status == 200
        assert gateway.ask(sources[3]).status == 200
    gateway.close()
    gc.collect()
    assert open_sockets() <= before + 2


@pytest.mark.parametrize("behaviour", ["good", "unknown_coding"])
@pytest.mark.parametrize("cancellations", [1, 2])
def test_a_send_cancelled_at_any_step_leaves_nothing_behind(
    server: HostileProvider, behaviour: str, cancellations: int
) -> None:
    gateway = Gateway()
    source = a_source(base_url=server.url(behaviour))

    async def cut_short(*, after_steps: int) -> None:
        sending = asyncio.create_task(gateway.send(source))
        for step in range(after_steps):
            await asyncio.sleep(0 if step < 10 else 0.0001)
        for _ in range(cancellations):
            sending.cancel()
            await asyncio.sleep(0)
        await asyncio.wait([sending])

    async def soon_at_most(sockets: int) -> bool:
        deadline = time.monotonic() + 5
        while open_sockets() > sockets and time.monotonic() < deadline:  # the server's ends follow
            await asyncio.sleep(0.01)
        return open_sockets() <= sockets

    before = open_sockets()
    for after_steps in range(60):
        gateway.loop.run(cut_short(after_steps=after_steps))
    assert isinstance(gateway.loop.run(outcome_of(gateway.send(source))), OutboundAnswer | ExchangeError)
    assert gateway.loop.run(soon_at_most(before + 2))  # both ends of the one connection that may be kept
    gateway.exchanges.close()
    assert gateway.loop.run(soon_at_most(before))
    gateway.close()


async def outcome_of(sending: Coroutine[object, object, OutboundAnswer]) -> object:
    return (await asyncio.gather(sending, return_exceptions=True))[0]


def test_another_event_loop_gets_connections_of_its_own(server: HostileProvider) -> None:
    gateway = Gateway()
    source = a_source(base_url=server.url("good"))
    gateway.ask(source)
    first, gateway.loop = gateway.loop, ProcessLoop()
    assert gateway.ask(source).status == 200
    assert len(gateway.dial.dialled) == 2
    gateway.close()
    first.run(asyncio.sleep(0.01))
    first.close()


def test_no_behaviour_of_a_provider_raises_anything_but_an_exchange_error(
    gateway: Gateway, server: HostileProvider
) -> None:
    async def all_of_them() -> list[object]:
        sends = (gateway.send(a_source(base_url=server.url(name)), seconds=5) for name in BEHAVIOURS)
        return await asyncio.gather(*sends, return_exceptions=True)

    for name, outcome in zip(BEHAVIOURS, gateway.loop.run(all_of_them()), strict=True):
        assert isinstance(outcome, OutboundAnswer | ExchangeError), name


def test_an_upstreams_words_are_in_no_error(gateway: Gateway, server: HostileProvider) -> None:
    for name in ("not_http", "two_lengths", "not_gzip", "lie_about_size"):
        with pytest.raises(ExchangeError) as failure:
            gateway.ask(a_source(base_url=server.url(name)))
        assert str(failure.value) == "invalid_response"
        assert failure.value.__cause__ is None


class SteppingClock:
    """Real time, plus what a test adds to either clock."""

    def __init__(self) -> None:
        self._added = {"monotonic": 0.0, "wall": 0.0}

    def step(self, clock: str, seconds: float) -> None:
        self._added[clock] += seconds

    def now(self) -> float:
        return time.time() + self._added["wall"]

    def monotonic(self) -> float:
        return time.monotonic() + self._added["monotonic"]
