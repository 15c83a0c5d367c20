"""The system's name resolution."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator

import pytest

from shared.adapters.resolver import MOST_UNDER_WAY, SystemResolver
from shared.domain.registrations import MAX_PROVIDERS
from shared.errors import ConnectionFailed, ExchangeTimeout


def resolve(host: str) -> tuple[str, ...]:
    return asyncio.run(SystemResolver().resolve(host, 443))


def answers(*addresses: str) -> list[tuple[object, ...]]:
    return [(socket.AF_INET6 if ":" in a else socket.AF_INET, socket.SOCK_STREAM, 6, "", (a, 443)) for a in addresses]


def test_this_machines_own_name_resolves_for_real() -> None:
    assert set(resolve("localhost")) <= {"127.0.0.1", "::1"}


def test_every_answer_is_returned_once_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    found = answers("2606:4700::1", "8.8.8.8", "10.0.0.7", "8.8.8.8")
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    assert resolve("kb.fern-desk.com") == ("2606:4700::1", "8.8.8.8", "10.0.0.7")


@pytest.mark.parametrize(
    "error", [socket.gaierror(-3, "temporary"), socket.gaierror(-2, "unknown"), OSError(), UnicodeError("x")]
)
def test_a_name_that_does_not_resolve_is_a_failed_connection(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(socket, "getaddrinfo", fails)
    with pytest.raises(ConnectionFailed):
        resolve("kb.fern-desk.com")


@pytest.fixture
def stuck(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """A name service that answers only once the event is set."""
    release = threading.Event()

    def waits(*_: object, **__: object) -> list[tuple[object, ...]]:
        release.wait(20)
        return answers("8.8.8.8")

    monkeypatch.setattr(socket, "getaddrinfo", waits)
    yield release
    release.set()


def test_all_that_one_search_may_ask_are_looked_up_also_while_others_are_stuck(stuck: threading.Event) -> None:
    async def ask_all() -> list[tuple[str, ...]]:
        resolver = SystemResolver()
        for _ in range(15):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(resolver.resolve("kb.fern-desk.com", 443), 0.01)
        waiting = [asyncio.create_task(resolver.resolve("kb.fern-desk.com", 443)) for _ in range(MAX_PROVIDERS)]
        await asyncio.sleep(0)
        stuck.set()
        return await asyncio.gather(*waiting)

    assert set(asyncio.run(ask_all())) == {("8.8.8.8",)}


def test_a_full_pool_refuses_at_once_and_recovers(stuck: threading.Event) -> None:
    async def crowd() -> None:
        resolver = SystemResolver()
        waiting = [asyncio.create_task(resolver.resolve("kb.fern-desk.com", 443)) for _ in range(MOST_UNDER_WAY)]
        await asyncio.sleep(0)
        with pytest.raises(ExchangeTimeout):
            await resolver.resolve("kb.fern-desk.com", 443)
        stuck.set()
        assert await asyncio.gather(*waiting) == [("8.8.8.8",)] * MOST_UNDER_WAY
        assert await resolver.resolve("kb.fern-desk.com", 443) == ("8.8.8.8",)

    asyncio.run(crowd())


def test_a_look_up_that_nobody_waits_for_keeps_its_place_until_it_ends(stuck: threading.Event) -> None:
    async def abandoned() -> None:
        resolver = SystemResolver()
        for _ in range(16):  # as many as there are threads: each of these is really under way
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(resolver.resolve("kb.fern-desk.com", 443), 0.01)
        queued = [asyncio.create_task(resolver.resolve("kb.fern-desk.com", 443)) for _ in range(MOST_UNDER_WAY - 16)]
        await asyncio.sleep(0)
        with pytest.raises(ExchangeTimeout):
            await resolver.resolve("kb.fern-desk.com", 443)
        stuck.set()
        await asyncio.gather(*queued)

    asyncio.run(abandoned())
