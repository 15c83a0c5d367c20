"""Whatever one provider does, it costs its own outcome, and the answer comes by the deadline.

`pytest -s` prints the table of what each got; `python -m tests.hostile` prints it without pytest.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from tests.e2e.running import PROVIDERS, Gateway
from tests.hostile.catalogue import CASES
from tests.hostile.fields import LABELS
from tests.hostile.judgement import faults, faults_of_search, words_in_logs
from tests.hostile.table import table
from tests.hostile.trial import GOOD, QUERY, Finding, Search, ask, batches, misbehaving, registered
from tests.support.hostile_provider import HostileProvider, hostile_provider, serving
from tests.support.tls import TestAuthority

pytestmark = [pytest.mark.emulator]


@pytest.fixture(scope="module")
def hostile() -> Iterator[HostileProvider]:
    with misbehaving() as server:
        yield server


@pytest.fixture(scope="module")
def processes(gateway: Gateway) -> list[int]:
    """Those that answer searches, before anybody misbehaves."""
    assert gateway.search("agent", query=QUERY, providers=[]).status == 200
    return gateway.workers("search")


@pytest.fixture(scope="module")
def findings(gateway: Gateway, hostile: HostileProvider, processes: list[int]) -> dict[str, Finding]:
    """What came of each behaviour: all of them are asked, up to twenty in a search, before the first is judged."""
    found = [finding for batch in batches(CASES.values()) for finding in ask(gateway, hostile, batch)]
    print(f"\n{table(found)}")
    return {finding.case.id: finding for finding in found}


@pytest.fixture(scope="module")
def searches(findings: dict[str, Finding]) -> list[Search]:
    return list({id(finding.search): finding.search for finding in findings.values()}.values())


@pytest.mark.parametrize("id_", CASES)
def test_a_hostile_provider_costs_exactly_its_own_outcome(findings: dict[str, Finding], id_: str) -> None:
    assert faults(findings[id_]) == []


def test_beside_each_of_them_the_answer_is_whole_in_time_and_tells_nothing(searches: list[Search]) -> None:
    assert {fault for search in searches for fault in faults_of_search(search)} == set()
    assert sum(len(search.ids) - 1 for search in searches) == len(CASES)


def test_neither_what_was_asked_nor_what_was_answered_is_in_the_logs(gateway: Gateway, searches: list[Search]) -> None:
    assert searches
    assert words_in_logs(gateway) == set()


def test_after_all_of_them_the_same_processes_answer(
    gateway: Gateway, hostile: HostileProvider, searches: list[Search], processes: list[int]
) -> None:
    assert searches
    with registered(gateway, hostile, []) as ids:
        answer = gateway.search("agent", query=QUERY, providers=[ids[GOOD]])
    assert answer.json["status"] == "complete"
    assert len(answer.json["results"]) == 3
    assert processes
    assert set(processes) <= set(gateway.workers("search"))


def test_a_widget_sees_what_is_plainly_public_and_nothing_of_the_rest(
    gateway: Gateway, hostile: HostileProvider
) -> None:
    cases = [case for case in LABELS if case.shown + case.found < 4][:7] + [
        c for c in LABELS if c.exposure == "agent_only"
    ]
    with registered(gateway, hostile, cases):
        answer = gateway.search("widget", query=QUERY, limit=10)
    wanted = [f"{GOOD} {n}" for n in (1, 2, 3)] + [f"{case.id} 2" for case in cases if case.shown]
    assert len(wanted) <= 10
    assert sorted(result["title"] for result in answer.found["results"]) == sorted(wanted)


# --- on a line with TLS, where no first test can pass: nobody vouches for 127.0.0.1 -------------------
def code_of_first_test(gateway: Gateway, base_url: str) -> str | None:
    """The outcome code of a provider's first test."""
    wanted = {"name": "Hostile line", "exposureProfile": "agent_only", "baseUrl": base_url}
    made = gateway.as_admin("POST", PROVIDERS, wanted)
    try:
        report = gateway.as_admin("POST", f"{PROVIDERS}/{made.found['id']}/test", {"query": QUERY, "activate": True})
        assert not report.found["activated"]
        return report.json["errorCode"]
    finally:
        gateway.remove_provider(made.found["id"])


async def complains(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """As web servers do where somebody begins with a handshake."""
    await reader.read(1)
    writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    writer.close()


@pytest.mark.parametrize("name", ["127.0.0.1", "help.fern-desk.test"])
def test_a_certificate_that_nobody_vouches_for_is_no_connection(gateway: Gateway, name: str) -> None:
    with hostile_provider(tls=TestAuthority().server(name)) as server:
        assert code_of_first_test(gateway, server.url("good")) == "connection_failed"
        assert server.requests == []


def test_plain_http_behind_https_is_no_connection(gateway: Gateway) -> None:
    with serving(complains) as port:
        assert code_of_first_test(gateway, f"https://127.0.0.1:{port}/kb") == "connection_failed"


def test_tls_behind_plain_http_is_no_answer(gateway: Gateway) -> None:
    with hostile_provider(tls=TestAuthority().server("127.0.0.1")) as server:
        code = code_of_first_test(gateway, server.url("good").replace("https:", "http:"))
    assert code in ("connection_failed", "invalid_response")  # it may end the connection before it complains
