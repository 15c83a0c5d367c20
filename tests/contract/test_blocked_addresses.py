"""The corpus of forbidden places: nothing is dialled, and a server that listens on this machine sees nothing."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shared.adapters.address_check import ResolvingAddressCheck
from shared.adapters.authorities import public_authorities
from shared.adapters.clock import SystemClock
from shared.adapters.exchanges import PinnedExchanges
from shared.domain.deadlines import Deadline
from shared.domain.registrations import Link
from shared.domain.urls import checked_base_url
from shared.errors import BlockedAddress, ConnectionFailed, ExchangeError, ExchangeTimeout, Invalid
from shared.ports.exchange import OutboundRequest
from tests.support.builders import a_source
from tests.support.fake_network import FakeResolver, RecordingDial
from tests.support.hostile_provider import HostileProvider, hostile_provider
from tests.support.tls import TestAuthority

FIXTURES = Path(__file__).parents[2] / "fixtures" / "addresses"
URLS = json.loads((FIXTURES / "refused_urls.json").read_text())
ANSWERS = json.loads((FIXTURES / "refused_answers.json").read_text())
CLOCK = SystemClock()
TLS = public_authorities()  # read once: it takes a while
HOST = "kb.fern-desk.com"


@pytest.fixture(scope="module")
def server() -> Iterator[HostileProvider]:
    """Listens where every loopback URL of the corpus points to; it must never hear anything."""
    with hostile_provider(tls=TestAuthority().server("localhost", "127.0.0.1")) as provider:
        yield provider
        assert provider.connections == 0


class Attempt:
    """One process without any allowance, whose every connection and look-up would be noted, and then really made."""

    def __init__(self, *, names: dict[str, list[str] | Exception] | None = None, private: bool = False) -> None:
        self.dial = RecordingDial()
        self.resolver = FakeResolver({} if names is None else names)
        self.check = ResolvingAddressCheck(
            resolver=self.resolver, allow_loopback_http=False, private_network_available=private
        )
        self._exchanges = PinnedExchanges(
            resolver=self.resolver,
            clock=CLOCK,
            allow_loopback_http=False,
            private_network_available=private,
            dial=self.dial,
            tls=TLS,
        )

    async def send(
        self,
        base_url: str,
        *,
        allow_private_network: bool = False,
        allow_plain_http: bool = False,
        seconds: float = 10,
    ) -> None:
        link = Link(owner_id="aoi_aaaaaaaaaaaaaaaa", allow_plain_http=allow_plain_http)
        source = a_source(base_url=base_url, allow_private_network=allow_private_network, link=link)
        line = self._exchanges.open(source, deadline=Deadline.after(seconds, now_s=CLOCK.monotonic()))
        await line.send(lambda: OutboundRequest(method="POST", url=f"{base_url}/retrieve", body=b"{}"))


@pytest.mark.parametrize("case", URLS, ids=lambda case: ascii(case["url"])[:60])
def test_a_refused_url_dials_nothing_even_where_it_had_been_stored(
    case: dict[str, str], server: HostileProvider
) -> None:
    url = case["url"].replace("{port}", str(server.port))
    with pytest.raises(Invalid):
        checked_base_url(url, allow_loopback_http=False)
    # Every name resolves to a forbidden place, so that whatever gets past the reading of the URL is still refused.
    attempt = Attempt(names=_Everything(["127.0.0.1"]))
    with pytest.raises(ExchangeError):
        asyncio.run(attempt.send(url))
    assert attempt.dial.dialled == []


@pytest.mark.parametrize("case", ANSWERS, ids=lambda case: ",".join(case["answers"]))
def test_a_forbidden_answer_refuses_the_whole_name_before_anything_is_dialled(
    case: dict[str, Any], server: HostileProvider
) -> None:
    attempt = Attempt(names={HOST: case["answers"]}, private=case["allowPrivateNetwork"])
    base_url = f"https://{HOST}:{server.port}/v1"
    for call in (
        attempt.send(base_url, allow_private_network=case["allowPrivateNetwork"]),
        attempt.check.check(base_url, allow_private_network=case["allowPrivateNetwork"]),
    ):
        with pytest.raises(BlockedAddress):
            asyncio.run(call)
    assert attempt.resolver.lookups == [HOST, HOST]
    assert attempt.dial.dialled == []


def test_the_corpus_holds_at_least_150_cases() -> None:
    assert len(URLS) + len(ANSWERS) >= 150


@pytest.mark.parametrize(
    ("answer", "error"),
    [([], ConnectionFailed), (ConnectionFailed(), ConnectionFailed), (ExchangeTimeout(), ExchangeTimeout)],
)
def test_a_name_without_an_answer_is_refused_and_not_looked_up_by_anybody_else(
    answer: list[str] | Exception, error: type[Exception]
) -> None:
    attempt = Attempt(names={HOST: answer})
    for call in (
        attempt.send(f"https://{HOST}/v1"),
        attempt.check.check(f"https://{HOST}/v1", allow_private_network=False),
    ):
        with pytest.raises(error):
            asyncio.run(call)
    assert attempt.dial.dialled == []


def test_no_socket_is_opened_for_a_forbidden_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    async def attempts() -> None:
        made: list[tuple[object, ...]] = []
        real = socket.socket
        monkeypatch.setattr(socket, "socket", lambda *a, **k: made.append(a) or real(*a, **k))
        for case in ANSWERS:
            attempt = Attempt(names={HOST: case["answers"]}, private=case["allowPrivateNetwork"])
            with pytest.raises(BlockedAddress):
                await attempt.send(f"https://{HOST}/v1", allow_private_network=case["allowPrivateNetwork"])
        assert made == []

    asyncio.run(attempts())


def test_a_permitted_private_address_passes_where_a_private_network_is_attached() -> None:
    names: dict[str, list[str] | Exception] = {HOST: ["10.0.0.7", "fd12::7"]}
    asyncio.run(Attempt(names=names, private=True).check.check(f"https://{HOST}/v1", allow_private_network=True))
    for attempt, permitted in ((Attempt(names=names, private=True), False), (Attempt(names=names), True)):
        with pytest.raises(BlockedAddress):
            asyncio.run(attempt.check.check(f"https://{HOST}/v1", allow_private_network=permitted))


def test_wrapped_public_addresses_pass_the_check() -> None:
    attempt = Attempt(names={HOST: ["64:ff9b::808:808", "8.8.8.8", "2606:4700:4700::1111"]})
    asyncio.run(attempt.check.check(f"https://{HOST}/v1", allow_private_network=False))


@pytest.mark.parametrize("answers", [["8.8.8.8"], ["127.0.0.1", "8.8.8.8"], ["10.0.0.7"]])
def test_plain_http_goes_to_loopback_addresses_alone_even_in_the_embedded_default(answers: list[str]) -> None:
    dial = RecordingDial()
    exchanges = PinnedExchanges(
        resolver=FakeResolver({"kb.localhost": answers}),
        clock=CLOCK,
        allow_loopback_http=True,
        private_network_available=True,
        dial=dial,
    )
    source = a_source(base_url="http://kb.localhost:8080", allow_private_network=True)

    async def send() -> None:
        line = exchanges.open(source, deadline=Deadline.after(5, now_s=CLOCK.monotonic()))
        await line.send(lambda: OutboundRequest(method="GET", url=f"{source.base_url}/capabilities"))

    with pytest.raises(BlockedAddress):
        asyncio.run(send())
    assert dial.dialled == []


# --- plain http, where an operator has acknowledged it ---
@pytest.mark.parametrize(
    ("answers", "private", "reached"),
    [
        (["8.8.8.8"], False, True),
        (["2606:4700:4700::1111"], False, True),
        (["10.0.0.7"], True, True),
        (["fd12::7"], True, True),
        (["10.0.0.7"], False, False),
        (["8.8.8.8", "10.0.0.7"], False, False),
        (["127.0.0.1"], True, False),
        (["::1"], True, False),
        (["::ffff:127.0.0.1"], True, False),
        (["8.8.8.8", "127.0.0.1"], True, False),
        (["169.254.169.254"], True, False),
        (["fd00:ec2::254"], True, False),
        (["100.64.0.1"], True, False),
        (["168.63.129.16"], True, False),
        (["192.0.0.1"], True, False),
        (["fe80::1"], True, False),
        (["224.0.0.1"], True, False),
        (["0.0.0.0"], True, False),
        (["64:ff9b::7f00:1"], True, False),
        (["2002:7f00:1::"], True, False),
    ],
    ids=str,
)
def test_acknowledged_plain_http_changes_nothing_about_addresses(
    server: HostileProvider, answers: list[str], private: bool, reached: bool
) -> None:
    with hostile_provider() as plain:
        attempt = Attempt(names={HOST: answers}, private=True)
        attempt.dial.reroute_to_port = plain.port
        asking = attempt.send(f"http://{HOST}/good", allow_private_network=private, allow_plain_http=True)
        check = attempt.check.check(f"http://{HOST}", allow_private_network=private, allow_plain_http=True)
        for call in (asking, check):
            if reached:
                asyncio.run(call)
            else:
                with pytest.raises(BlockedAddress):
                    asyncio.run(call)
        assert attempt.dial.dialled == (answers if reached else [])
        assert len(plain.requests) == (1 if reached else 0)


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "169.254.169.254", "10.0.0.7", "localhost"])
def test_a_stored_plain_http_url_of_a_forbidden_place_dials_nothing(host: str) -> None:
    """`10.0.0.7` because nobody has acknowledged the private network."""
    attempt = Attempt(names=_Everything(["127.0.0.1"]), private=True)
    with pytest.raises(BlockedAddress):
        asyncio.run(attempt.send(f"http://{host}/v1", allow_plain_http=True))
    assert attempt.dial.dialled == []


@pytest.mark.parametrize("answers", [["8.8.8.8"], ["10.0.0.7"]])
def test_plain_http_that_nobody_acknowledged_is_refused(answers: list[str]) -> None:
    attempt = Attempt(names={HOST: answers}, private=True)
    for call in (
        attempt.send(f"http://{HOST}/v1", allow_private_network=True),
        attempt.check.check(f"http://{HOST}/v1", allow_private_network=True),
    ):
        with pytest.raises(BlockedAddress):
            asyncio.run(call)
    assert attempt.dial.dialled == []


class _Everything(dict[str, "list[str] | Exception"]):
    """Every name has these addresses."""

    def __init__(self, addresses: list[str]) -> None:
        super().__init__()
        self._addresses = addresses

    def get(self, _name: str, _default: object = None) -> list[str]:  # type: ignore[override]
        return self._addresses
