"""The connections of one source beside each other: how many are kept, which is taken, and whose end ends which."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace

import pytest

from shared.adapters.authorities import public_authorities
from shared.adapters.clock import SystemClock
from shared.adapters.connection_pools import ConnectionPools
from shared.adapters.pinned_transport import Network, PinnedTransport, Terms
from shared.domain.addresses import AddressPolicy
from shared.domain.registrations import MAX_PROVIDERS, Link, Source
from shared.errors import Refused
from shared.ports.exchange import OutboundAnswer
from tests.contract.pinned_gateway import Gateway
from tests.support.builders import a_source
from tests.support.fake_network import FakeResolver, RecordingDial
from tests.support.hostile_provider import HostileProvider, hostile_provider

EarlyEnd = Callable[[Gateway, HostileProvider, Source], Awaitable[None]]


@pytest.fixture
def server() -> Iterator[HostileProvider]:
    with hostile_provider() as provider:
        yield provider


@pytest.fixture
def source(server: HostileProvider) -> Source:
    """All of the server: each request says how it wants to be answered."""
    return a_source(base_url=f"http://127.0.0.1:{server.port}")


async def ask_at_once(gateway: Gateway, server: HostileProvider, source: Source, *, number: int) -> None:
    await asyncio.gather(*(gateway.send(source, url=server.url("good")) for _ in range(number)))


async def a_cancelled_one(gateway: Gateway, server: HostileProvider, source: Source) -> None:
    sending = asyncio.create_task(gateway.send(source, url=server.url("hang")))
    while "hang" not in {seen.behaviour for seen in server.requests}:
        await asyncio.sleep(0.001)
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sending


async def a_refused_one(gateway: Gateway, server: HostileProvider, source: Source) -> None:
    with pytest.raises(Refused):
        await gateway.send(source, url=server.url("unknown_coding"))


@pytest.mark.parametrize("early_end", [a_cancelled_one, a_refused_one])
def test_what_ends_one_exchange_early_leaves_the_other_connections(
    gateway: Gateway, server: HostileProvider, source: Source, early_end: EarlyEnd
) -> None:
    async def asking() -> tuple[int, int]:
        await ask_at_once(gateway, server, source, number=2)
        await early_end(gateway, server, source)
        ended = server.requests[-1].connection
        await gateway.send(source, url=server.url("good"))
        return ended, server.requests[-1].connection

    ended, next_one = gateway.loop.run(asking())
    assert ended != next_one
    assert len(gateway.dial.dialled) == 2


def test_the_connection_that_was_used_last_is_taken(gateway: Gateway, server: HostileProvider, source: Source) -> None:
    async def asking() -> set[int]:
        await ask_at_once(gateway, server, source, number=2)
        for _ in range(3):
            await gateway.send(source, url=server.url("good"))
        return {seen.connection for seen in server.requests[-3:]}

    assert len(gateway.loop.run(asking())) == 1


def test_of_many_that_were_needed_at_once_four_are_kept(
    gateway: Gateway, server: HostileProvider, source: Source
) -> None:
    async def asking() -> None:
        for _ in range(2):
            await ask_at_once(gateway, server, source, number=6)

    gateway.loop.run(asking())
    assert len(gateway.dial.dialled) == 6 + 2


def test_as_many_sources_as_one_search_may_ask_keep_their_connections_and_no_more_do() -> None:
    """Fewer, and a search of all would find none: each would have made room for one of the others."""
    clock, tls = SystemClock(), public_authorities()

    def connect(terms: Terms, tls: ssl.SSLContext) -> PinnedTransport:
        network = Network(terms, resolver=FakeResolver(), clock=clock, dial=RecordingDial())
        return PinnedTransport(terms, network=network, tls=tls)

    pools = ConnectionPools(clock, connect)
    policy = AddressPolicy(allow_private_network=False, allow_loopback=False)

    def all_of(number: int) -> list[PinnedTransport]:
        return [pools.of(str(at), Terms(f"https://kb{at}.fern-desk.test", policy), tls=tls) for at in range(number)]

    assert all_of(MAX_PROVIDERS) == (kept := all_of(MAX_PROVIDERS))
    all_of(MAX_PROVIDERS + 1)
    assert [each.is_closed for each in kept].count(True) == 1


def test_what_was_under_way_when_its_source_changed_is_answered_and_then_closed(
    gateway: Gateway, server: HostileProvider, source: Source
) -> None:
    async def asking() -> OutboundAnswer:
        sending = asyncio.create_task(gateway.send(source, url=server.url("slow")))
        while "slow" not in {seen.behaviour for seen in server.requests}:
            await asyncio.sleep(0.001)
        await gateway.send(
            replace(source, link=Link(owner_id="aoi_aaaaaaaaaaaaaaaa", credential=None)), url=server.url("good")
        )
        answer = await sending
        async with asyncio.timeout(5):
            while server.open_connections > 1:
                await asyncio.sleep(0.001)
        return answer

    assert gateway.loop.run(asking()).status == 200
