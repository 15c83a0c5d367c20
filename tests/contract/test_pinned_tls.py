"""TLS over pinned addresses: the certificate must fit the name, whatever address is dialled."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from shared.adapters.authorities import Authorities, public_authorities, shared_public_authorities
from shared.adapters.clock import SystemClock
from shared.adapters.event_loop import ProcessLoop
from shared.adapters.exchanges import PinnedExchanges
from shared.domain.deadlines import Deadline
from shared.domain.registrations import Link, Source
from shared.errors import ConnectionFailed, ExchangeTimeout, NeverConnected, Refused
from shared.ports.exchange import OutboundAnswer, OutboundRequest
from tests.support.builders import a_source
from tests.support.fake_network import FakeResolver, RecordingDial
from tests.support.hostile_provider import HostileProvider, hostile_provider
from tests.support.tls import TestAuthority

CLOCK = SystemClock()
PUBLIC_ADDRESS = "8.8.8.8"  # never reached: the connection is made to the server of the test


@pytest.fixture(scope="module")
def authority() -> TestAuthority:
    return TestAuthority()


@pytest.fixture
def names_asked_for() -> list[str | None]:
    return []


@pytest.fixture
def server(authority: TestAuthority, names_asked_for: list[str | None]) -> Iterator[HostileProvider]:
    context = authority.server("kb.fern-desk.test", "10.0.0.7")
    context.sni_callback = lambda _connection, name, _context: names_asked_for.append(name)
    with hostile_provider(tls=context) as provider:
        yield provider


def ask(
    server: HostileProvider,
    *,
    host: str,
    tls: ssl.SSLContext,
    times: int = 1,
    seconds: float = 10,
    private: bool = False,
    behaviour: str = "good",
    private_authority: str | None = None,
) -> tuple[OutboundAnswer, RecordingDial]:
    dial = RecordingDial(reroute_to_port=server.port)
    exchanges = PinnedExchanges(
        resolver=FakeResolver({host: [PUBLIC_ADDRESS]}),
        clock=CLOCK,
        allow_loopback_http=False,
        private_network_available=private,
        tls=tls,
        dial=dial,
    )
    link = Link(owner_id="aoi_aaaaaaaaaaaaaaaa", private_authority=private_authority)
    source = a_source(base_url=f"https://{host}/{behaviour}", allow_private_network=private, link=link)

    def request() -> OutboundRequest:
        return OutboundRequest(method="POST", url=f"{source.base_url}/retrieve", body=b"{}")

    async def asked() -> OutboundAnswer:
        for _ in range(times):
            line = exchanges.open(source, deadline=Deadline.after(seconds, now_s=CLOCK.monotonic()))
            answer = await line.send(request)
        exchanges.close()
        return answer

    loop = ProcessLoop()
    try:
        return loop.run(asked()), dial
    finally:
        loop.close()


def test_the_pinned_address_is_dialled_under_the_hosts_own_name(
    authority: TestAuthority, server: HostileProvider, names_asked_for: list[str | None]
) -> None:
    answer, dial = ask(server, host="kb.fern-desk.test", tls=authority.client(), times=3)
    assert answer.status == 200
    assert dial.dialled == [PUBLIC_ADDRESS]
    assert names_asked_for == ["kb.fern-desk.test"]
    assert {seen.headers["host"] for seen in server.requests} == {"kb.fern-desk.test"}


def test_a_certificate_for_another_name_is_refused(authority: TestAuthority, server: HostileProvider) -> None:
    with pytest.raises(ConnectionFailed):
        ask(server, host="other.fern-desk.test", tls=authority.client())
    assert server.requests == []


def test_a_certificate_of_an_unknown_authority_is_refused(server: HostileProvider) -> None:
    for tls in (public_authorities(), TestAuthority().client()):
        with pytest.raises(ConnectionFailed):
            ask(server, host="kb.fern-desk.test", tls=tls)
    assert server.requests == []


def test_an_address_literal_must_be_in_the_certificate(authority: TestAuthority, server: HostileProvider) -> None:
    assert ask(server, host="10.0.0.7", tls=authority.client(), private=True)[0].status == 200
    with pytest.raises(ConnectionFailed):
        ask(server, host="10.0.0.8", tls=authority.client(), private=True)


def test_a_server_without_tls_is_a_failed_connection(authority: TestAuthority) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_answer_in_plain_text, args=(listener,)).start()
        with pytest.raises(ConnectionFailed):
            ask(HostileProvider(port=listener.getsockname()[1]), host="kb.fern-desk.test", tls=authority.client())


def _answer_in_plain_text(listener: socket.socket) -> None:
    connection, _ = listener.accept()
    with connection:
        connection.recv(4096)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


@pytest.mark.parametrize("behaviour", ["hang", "drip"])
def test_the_deadline_holds_over_tls(authority: TestAuthority, server: HostileProvider, behaviour: str) -> None:
    began = CLOCK.monotonic()
    with pytest.raises(ExchangeTimeout):
        ask(server, host="kb.fern-desk.test", tls=authority.client(), seconds=0.5, behaviour=behaviour)
    assert CLOCK.monotonic() - began < 3


def test_a_resend_over_tls_follows_a_reset_on_reuse(authority: TestAuthority, server: HostileProvider) -> None:
    answer, dial = ask(server, host="kb.fern-desk.test", tls=authority.client(), times=2, behaviour="dies_when_reused")
    assert answer.status == 200
    assert len(dial.dialled) == 2


def test_the_public_authorities_always_verify_and_no_variable_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nonexistent")
    monkeypatch.setenv("SSLKEYLOGFILE", "/nonexistent/keys")
    context = public_authorities()
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    assert context.minimum_version >= ssl.TLSVersion.TLSv1_2
    assert context.keylog_filename is None
    assert context.cert_store_stats()["x509_ca"] > 50


# --- an authority of one source's own ---
def test_a_private_authority_is_trusted_for_its_source(authority: TestAuthority, server: HostileProvider) -> None:
    answer, dial = ask(
        server, host="kb.fern-desk.test", tls=TestAuthority().client(), times=2, private_authority=authority.pem()
    )
    assert answer.status == 200
    assert dial.dialled == [PUBLIC_ADDRESS]


def test_a_private_authority_is_trusted_beside_the_public_ones(
    authority: TestAuthority, server: HostileProvider
) -> None:
    answer, _ = ask(server, host="kb.fern-desk.test", tls=authority.client(), private_authority=TestAuthority().pem())
    assert answer.status == 200
    context = asyncio.run(Authorities(None).trusting(TestAuthority().pem()))
    assert context.cert_store_stats()["x509_ca"] == public_authorities().cert_store_stats()["x509_ca"] + 1
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    assert context.minimum_version >= ssl.TLSVersion.TLSv1_2


def test_the_public_authorities_are_read_once_for_providers_and_for_the_services_of_aws() -> None:
    contexts = [asyncio.run(Authorities(None).trusting(None)) for _ in range(2)]
    assert contexts == [shared_public_authorities()] * 2


def test_a_servers_own_certificate_is_enough(authority: TestAuthority) -> None:
    context, certificate = authority.certificate("kb.fern-desk.test")
    with hostile_provider(tls=context) as server:
        tls = TestAuthority().client()
        assert ask(server, host="kb.fern-desk.test", tls=tls, private_authority=certificate)[0].status == 200


@pytest.mark.parametrize("host", ["other.fern-desk.test", "kb.fern-desk.test.evil.test"])
def test_a_private_authority_makes_no_certificate_fit_another_name(
    authority: TestAuthority, server: HostileProvider, host: str
) -> None:
    with pytest.raises(ConnectionFailed):
        ask(server, host=host, tls=TestAuthority().client(), private_authority=authority.pem())
    assert server.requests == []


def test_another_private_authority_does_not_help(server: HostileProvider) -> None:
    with pytest.raises(ConnectionFailed):
        ask(server, host="kb.fern-desk.test", tls=TestAuthority().client(), private_authority=TestAuthority().pem())
    assert server.requests == []


def test_what_one_source_trusts_no_other_source_does(authority: TestAuthority, server: HostileProvider) -> None:
    """Asked by one process, one after the other and again, in both orders."""
    dial = RecordingDial(reroute_to_port=server.port)
    exchanges = PinnedExchanges(
        resolver=FakeResolver({"kb.fern-desk.test": [PUBLIC_ADDRESS]}),
        clock=CLOCK,
        allow_loopback_http=False,
        private_network_available=False,
        tls=TestAuthority().client(),
        dial=dial,
    )
    base_url = "https://kb.fern-desk.test/good"
    trusting = a_source(base_url=base_url, link=Link(owner_id="a", private_authority=authority.pem()))
    others = [a_source(base_url=base_url), a_source(base_url=base_url, link=Link(owner_id="a"))]

    async def send(source: Source) -> int:
        line = exchanges.open(source, deadline=Deadline.after(10, now_s=CLOCK.monotonic()))
        return (await line.send(lambda: OutboundRequest(method="POST", url=f"{base_url}/retrieve", body=b"{}"))).status

    async def all_of_them() -> None:
        for source in (*others, trusting, *others, trusting, replace(others[0], id=trusting.id)):
            if source is trusting:
                assert await send(source) == 200
            else:
                with pytest.raises(ConnectionFailed):
                    await send(source)
        exchanges.close()

    asyncio.run(all_of_them())
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "pem", ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n"]
)
def test_a_stored_authority_that_is_none_lets_nothing_be_sent(server: HostileProvider, pem: str) -> None:
    for _ in range(2):
        with pytest.raises(Refused) as refusal:
            ask(server, host="kb.fern-desk.test", tls=public_authorities(), private_authority=pem)
        assert refusal.value.code == "not_configured"
    assert server.requests == []


async def test_the_certificates_of_one_authority_are_read_once_however_many_ask_and_not_for_ever() -> None:
    made: list[int] = []
    authorities = Authorities(TestAuthority().client())
    copy = authorities._anew
    authorities._anew = lambda: made.append(1) or copy()
    first = TestAuthority().pem()
    contexts = await asyncio.gather(*(authorities.trusting(first) for _ in range(20)))
    assert (len(set(map(id, contexts))), len(made)) == (1, 1)
    for _ in range(32):
        await authorities.trusting(first + "\n" * (len(made) + 1))
    assert await authorities.trusting(first) is not contexts[0]
    assert len(authorities._private) == 32


async def test_certificates_that_could_not_be_read_are_read_by_whoever_asks_next() -> None:
    authorities = Authorities(TestAuthority().client())
    private = TestAuthority().pem()
    works = authorities._anew

    def has_no_file_left() -> ssl.SSLContext:
        raise OSError(errno.EMFILE, "/a/path")

    authorities._anew = has_no_file_left
    with pytest.raises(NeverConnected):
        await authorities.trusting(private)
    authorities._anew = works
    assert (await authorities.trusting(private)).check_hostname
