"""Whatever one provider does, it costs its own outcome, and the answer comes by the deadline."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.e2e.running import Gateway
from tests.support.hostile_provider import HostileProvider, _bomb, hostile_provider

pytestmark = [pytest.mark.emulator]

DEADLINE_MS = 900
# The promise is 50 ms; a busy machine with two cores and a client of its own gets more here, and the figure is printed.
SLACK_MS = 1500

FAILS: dict[str, set[str]] = {
    "hang": {"timeout"},
    "drip": {"timeout"},
    "drip_headers": {"timeout"},
    "endless_early_hints": {"timeout", "invalid_response"},
    "reset": {"connection_failed"},
    "close": {"connection_failed", "invalid_response"},
    "close_in_headers": {"connection_failed", "invalid_response"},
    "close_in_body": {"connection_failed", "invalid_response"},
    "redirect": {"upstream_error", "invalid_response"},
    "redirect_private": {"upstream_error", "invalid_response"},
    "redirect_to_itself": {"upstream_error", "invalid_response"},
    "announces_too_much": {"response_too_large"},
    "too_large": {"response_too_large"},
    "too_large_until_closed": {"response_too_large"},
    "lie_about_size": {"invalid_response", "response_too_large", "connection_failed"},
    "tiny_chunks": {"response_too_large", "timeout", "invalid_response"},
    "gzip_bomb": {"response_too_large"},
    "deflate_bomb": {"response_too_large"},
    "huge_headers": {"invalid_response", "response_too_large"},
    "not_gzip": {"invalid_response"},
    "not_http": {"invalid_response"},
    "nan": {"invalid_response"},
    "infinity": {"invalid_response"},
    "duplicate_keys": {"invalid_response"},
    "deep": {"invalid_response"},
    "not_json": {"invalid_response"},
    "not_utf8": {"invalid_response"},
    "html": {"invalid_response"},
    "wrong_version": {"unsupported_version"},
    "wrong_type": {"invalid_response"},
    "missing_field": {"invalid_response"},
    "unauthorized": {"unauthorized"},
    "forbidden": {"forbidden"},
    "not_found": {"not_found"},
    "rate_limited": {"rate_limited"},
    "unavailable": {"upstream_error", "rate_limited"},
    "error": {"upstream_error"},
}


@pytest.fixture(scope="module")
def hostile() -> Iterator[HostileProvider]:
    _bomb(31), _bomb(15)  # made once and beforehand: that takes a second
    with hostile_provider() as server:
        yield server


def admitted(gateway: Gateway, hostile: HostileProvider, behaviour: str, *, exposure: str = "agent_only") -> str:
    """The id of a provider that passed its first test, and has shown its true nature since."""
    with hostile.best_behaviour():
        return gateway.provider(f"hostile {behaviour}", hostile.url(behaviour), exposure=exposure)


@pytest.mark.parametrize("behaviour", FAILS)
def test_a_hostile_provider_costs_only_its_own_outcome(
    gateway: Gateway, hostile: HostileProvider, behaviour: str
) -> None:
    good = gateway.local["providers"]["public"]["id"]
    bad = admitted(gateway, hostile, behaviour)
    before = len(hostile.requests)
    try:
        answer = gateway.search("agent", query="ferry pass", providers=[good, bad], deadlineMs=DEADLINE_MS)
    finally:
        gateway.remove_provider(bad)
    over_ms = answer.took_s * 1000 - DEADLINE_MS
    print(f"\n{behaviour}: {answer.took_s * 1000:.0f} ms, {max(0.0, over_ms):.0f} ms over the deadline")
    assert answer.status == 200
    outcomes = {each["id"]: each for each in answer.json["providers"]}
    assert outcomes[good]["status"] == "success"
    assert outcomes[bad]["status"] == "failed"
    assert outcomes[bad]["errorCode"] in FAILS[behaviour]
    assert {result["provider"]["id"] for result in answer.json["results"]} == {good}
    assert len(hostile.requests) - before <= 1
    assert over_ms < SLACK_MS
    assert "UPSTREAM-WORDS" not in answer.data.decode()


@pytest.mark.parametrize("behaviour", ["hang", "drip", "redirect", "lie_about_size", "nan", "gzip_bomb", "error"])
def test_on_a_customer_path_nobody_even_hears_of_it(gateway: Gateway, hostile: HostileProvider, behaviour: str) -> None:
    before = gateway.search("assistant", query="ferry pass", deadlineMs=DEADLINE_MS).json
    bad = admitted(gateway, hostile, behaviour, exposure="customer_safe")
    try:
        answer = gateway.search("assistant", query="ferry pass", deadlineMs=DEADLINE_MS)
    finally:
        gateway.remove_provider(bad)
    assert before["results"]
    assert answer.json == before
    assert answer.took_s * 1000 - DEADLINE_MS < SLACK_MS


@pytest.mark.parametrize("behaviour", ["internal", "mislabel", "no_audience"])
def test_what_is_not_plainly_public_is_dropped_from_a_customer_safe_provider(
    gateway: Gateway, hostile: HostileProvider, behaviour: str
) -> None:
    bad = admitted(gateway, hostile, behaviour, exposure="customer_safe")
    try:
        agent = gateway.search("agent", query="ferry", providers=[bad]).json
        customer = gateway.search("assistant", query="ferry", deadlineMs=DEADLINE_MS).data.decode()
    finally:
        gateway.remove_provider(bad)
    assert {result["audience"] for result in agent["results"]} <= {"public"}
    assert agent["providers"][0]["warnings"]
    assert "Ferry passes, part 1" not in customer


def test_what_stands_beside_the_contract_reaches_nobody(gateway: Gateway, hostile: HostileProvider) -> None:
    bad = admitted(gateway, hostile, "secrets_beside", exposure="customer_safe")
    try:
        for caller in ("agent", "assistant"):
            text = gateway.search(caller, query="ferry", deadlineMs=DEADLINE_MS).data.decode()
            assert "Ferry passes" in text
            assert "/srv/kb" not in text
            assert "internal_note" not in text
    finally:
        gateway.remove_provider(bad)


def test_links_that_may_not_be_shown_are_dropped_and_their_passages_kept(
    gateway: Gateway, hostile: HostileProvider
) -> None:
    bad = admitted(gateway, hostile, "dangerous_links")
    try:
        results = gateway.search("agent", query="ferry", providers=[bad]).json["results"]
    finally:
        gateway.remove_provider(bad)
    assert [result["url"] for result in results] == [None, None, None, "https://help.fern-desk.com/a"]


def test_markup_is_passed_on_as_the_text_that_it_is(gateway: Gateway, hostile: HostileProvider) -> None:
    bad = admitted(gateway, hostile, "markup")
    try:
        answer = gateway.search("agent", query="ferry", providers=[bad])
    finally:
        gateway.remove_provider(bad)
    assert answer.headers["content-type"] == "application/json"
    assert json.loads(answer.data)["results"][0]["title"] == "Fern <img src=x onerror=alert(1)>"
