"""The demo's live services: what an agent gets of them, how keys fail over and recover, and who never reaches them."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.e2e.running import SEARCH, Answer, Gateway, call, kgw, running

pytestmark = [pytest.mark.emulator]

ACQUIRE = "/api/v1/knowledge/acquire"
ALEXANDRIA = "/api/v1/knowledge/alexandria"
POOLS = "/api/v1/knowledge/pools"
KINDS = ("context7", "exa", "mintlify", "deepwiki")
BOARDING = "https://docs.harbour.test/gangway/boarding"
DEADLINE_MS = 10_000


class Demo:
    """A running gateway with its stand-ins, asked as its agent."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway

    def search(self, *kinds: str, query: str = "open a gate") -> dict[str, Any]:
        ids = [self.gateway.local["live"][kind]["id"] for kind in kinds]
        answer = self.gateway.search("agent", query=query, providers=ids, deadlineMs=DEADLINE_MS)
        return answer.found

    def outcome(self, kind: str) -> tuple[str, str | None]:
        (outcome,) = self.search(kind)["providers"]
        return outcome["status"], outcome["errorCode"]

    def post(self, path: str, caller: str = "agent", **body: object) -> Answer:
        return call(self.gateway.url, "POST", path, body, token=self.gateway.local[caller])

    def control(self, **command: object) -> dict[str, Any]:
        address = urlsplit(self.gateway.local["standIns"]["controlUrl"])
        method, body = ("POST", command) if command else ("GET", None)
        return call(f"http://{address.netloc}", method, address.path, body).found

    def calls(self, service: str) -> int:
        return int(self.control()["services"][service]["calls"])

    def every_call(self) -> dict[str, Any]:
        """At every hosted service."""
        counted = self.control()["services"]
        return {kind: counted[kind] for kind in (*KINDS, "firecrawl")}

    def calls_with(self, service: str, key: str) -> int:
        fingerprint = hashlib.sha256(f"{service}\0{key}".encode()).hexdigest()
        counted = self.control()["services"][service]["keys"].get(fingerprint, {"calls": 0})
        return int(counted["calls"])

    def pool(self, name: str) -> dict[str, Any]:
        pools = self.gateway.as_admin("GET", POOLS).found["pools"]
        (found,) = [pool for pool in pools if pool["pool"] == name]
        return dict(found)

    def states(self, name: str) -> dict[str, str]:
        return {key["name"]: key["state"] for key in self.pool(name)["keys"]}

    def active(self, name: str) -> str:
        (key,) = [key for key, state in self.states(name).items() if state == "active"]
        return key

    def recover(self) -> None:
        self.control(mode="ok")
        for pool in ("context7", "exa", "firecrawl", "mintlify", "deepwiki"):
            assert self.gateway.as_admin("POST", f"{POOLS}/{pool}/wake").status == 200


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    with running(tmp_path_factory.mktemp("live")) as gateway:
        until = time.monotonic() + 60
        while "Harbour handbook  failed" not in (gateway.directory / "stdout").read_text():
            assert time.monotonic() < until, "the demo's own question is not answered"
            time.sleep(0.1)
        yield Demo(gateway)


@pytest.fixture
def demo(started: Demo) -> Demo:
    """All services well, no key resting; which key is in use depends on the tests before."""
    started.recover()
    return started


def test_an_agents_search_shows_passages_and_discoveries_of_live_services(demo: Demo) -> None:
    found = demo.search(*KINDS)
    assert found["status"] == "complete"
    evidence = {(result["provider"]["kind"], result["evidence"]) for result in found["results"]}
    assert evidence == {
        ("exa", "source_excerpt"),
        ("mintlify", "derived_context"),
        ("deepwiki", "derived_context"),
    }
    assert {result["audience"] for result in found["results"]} == {"internal"}
    assert {result["freshness"] for result in found["results"]} == {"unknown"}
    kinds = {discovery["provider"]["kind"] for discovery in found["discoveries"]}
    assert {"context7", "mintlify"} <= kinds
    assert BOARDING in {discovery["url"] for discovery in found["discoveries"]}
    assert not [each for each in found["discoveries"] if "elsewhere.test" in each["url"]]


def test_an_ordinary_search_asks_every_searching_service_and_never_firecrawl(demo: Demo) -> None:
    before = demo.calls("firecrawl")
    outcomes = demo.gateway.outcomes(query="refund override code", deadlineMs=4000)
    assert {
        name: outcomes[name]["status"] for name in ("Context7", "Exa", "Mintlify Index", "DeepWiki")
    } == dict.fromkeys(("Context7", "Exa", "Mintlify Index", "DeepWiki"), "success")
    assert "Firecrawl" not in outcomes
    assert demo.calls("firecrawl") == before


def test_sources_in_other_languages_are_found(demo: Demo) -> None:
    found = demo.search("exa", query="渡轮卡遗失")
    assert [result["url"] for result in found["results"]] == ["https://docs.harbour.test/zh/gangway/passes"]


def test_a_refused_key_is_left_alone_and_the_next_one_is_used(demo: Demo) -> None:
    name = demo.active("exa")
    key = f"exa-demo-000{name[-1]}"
    demo.control(service="exa", mode="refuse_rate", key=key[-4:], retry_after_s=600)
    before = demo.calls_with("exa", key)

    assert [demo.outcome("exa") for _ in range(4)] == [("success", None)] * 4

    assert demo.calls_with("exa", key) == before + 1
    states = demo.states("exa")
    assert states.pop(name) == "resting"
    assert sorted(states.values()) == ["active", "ready"]
    (rest,) = [each for each in demo.pool("exa")["keys"] if each["name"] == name]
    assert rest["reason"] == "rate"
    assert 500 < datetime.fromisoformat(rest["restingUntil"]).timestamp() - time.time() <= 601


def test_the_key_in_use_stays_in_use_when_an_earlier_one_recovers(demo: Demo) -> None:
    name = demo.active("exa")
    demo.control(service="exa", mode="refuse_quota", key=f"000{name[-1]}")
    assert demo.outcome("exa") == ("success", None)
    other = demo.active("exa")
    demo.recover()
    assert demo.outcome("exa") == ("success", None)
    assert demo.active("exa") == other != name


def test_when_every_key_is_spent_nothing_is_sent_until_an_operator_wakes_them(demo: Demo) -> None:
    demo.control(service="context7", mode="exhaust")
    assert demo.outcome("context7") == ("skipped", "keys_exhausted")
    before = demo.calls("context7")

    found = demo.search(*KINDS)
    outcomes = {each["name"]: each for each in found["providers"]}
    spent = outcomes.pop("Context7")
    assert (spent["status"], spent["errorCode"]) == ("skipped", "keys_exhausted")
    assert datetime.fromisoformat(spent["retryAt"]).timestamp() > time.time() + 3_600
    assert {each["status"] for each in outcomes.values()} == {"success"}
    assert demo.calls("context7") == before
    assert set(demo.states("context7").values()) == {"resting"}

    demo.control(mode="ok", service="context7")
    assert demo.outcome("context7") == ("skipped", "keys_exhausted")  # nobody told the gateway
    assert demo.gateway.as_admin("POST", f"{POOLS}/context7/wake").status == 200
    assert demo.outcome("context7") == ("success", None)


def test_an_exhausted_pool_recovers_by_itself(demo: Demo) -> None:
    demo.control(service="exa", mode="refuse_rate", retry_after_s=2)
    answer = demo.gateway.search(
        "agent", query="open a gate", providers=[demo.gateway.local["live"]["exa"]["id"]], deadlineMs=DEADLINE_MS
    )
    (outcome,) = answer.found["providers"]
    assert (outcome["status"], outcome["errorCode"]) == ("skipped", "keys_exhausted")
    assert int(answer.headers["retry-after"]) >= 1
    until = datetime.fromisoformat(outcome["retryAt"]).timestamp()
    assert until - time.time() < 60
    time.sleep(max(0.0, until - time.time()) + 0.1)
    assert demo.outcome("exa") == ("success", None)


@pytest.mark.parametrize(
    ("kind", "wait_s", "told"), [("mintlify", 600, 1), ("deepwiki", 60, 2)], ids=["says when", "does not"]
)
def test_a_service_without_keys_is_left_alone_for_a_while(demo: Demo, kind: str, wait_s: int, told: int) -> None:
    """`told`: how many searches hear what it is before its circuit, which learns how long from the pool, answers."""
    demo.control(service=kind, mode="refuse_rate", retry_after_s=600)
    before = demo.calls(kind)
    outcomes = [demo.outcome(kind) for _ in range(4)]
    assert outcomes == [("failed", "rate_limited")] * told + [("skipped", "circuit_open")] * (4 - told)
    demo.control(mode="ok")
    (left_alone,) = demo.search(kind)["providers"]
    assert (left_alone["status"], left_alone["errorCode"]) == ("skipped", "circuit_open")
    assert demo.calls(kind) == before + 1
    until = datetime.fromisoformat(demo.pool(kind)["readyAgainAt"]).timestamp()
    assert wait_s - 40 < until - time.time() <= wait_s + 1
    assert abs(datetime.fromisoformat(left_alone["retryAt"]).timestamp() - until) <= 1

    assert demo.gateway.as_admin("POST", f"{POOLS}/{kind}/wake").status == 200
    assert demo.pool(kind)["readyAgainAt"] is None
    assert demo.outcome(kind) == ("success", None)


def test_a_broken_service_changes_no_key(demo: Demo) -> None:
    name = demo.active("exa")
    demo.control(service="exa", mode="fail")
    assert demo.outcome("exa")[0] == "failed"
    demo.control(mode="ok")
    assert demo.active("exa") == name
    assert demo.outcome("exa") == ("success", None)


def test_an_agent_fetches_an_approved_source_anew(demo: Demo) -> None:
    fetched = demo.post(ACQUIRE, url=BOARDING, freshness="force").found
    assert (fetched["provider"]["kind"], fetched["acquisition"]) == ("firecrawl", "live")
    assert (fetched["finalUrl"], fetched["evidence"]) == (BOARDING, "source_excerpt")
    assert fetched["text"].startswith("# Open a gate\n")
    assert demo.post(ACQUIRE, url=BOARDING).found["acquisition"] == "cached_or_unknown"


def test_a_kept_text_is_no_answer_to_a_forced_fetch(demo: Demo) -> None:
    kept = "https://handbook.harbour.test/refunds"
    for kind in ("firecrawl", "exa"):
        provider = demo.gateway.local["live"][kind]["id"]
        forced = demo.post(ACQUIRE, url=kept, freshness="force", provider=provider)
        assert (forced.status, forced.json["code"]) == (502, "source_not_fresh")
        assert demo.post(ACQUIRE, url=kept, provider=provider).status == 200


@pytest.mark.parametrize(
    "url",
    ["https://docs.harbour.test/notes", "https://docs.harbour.test/nowhere", "https://docs.harbour.test/gangway/v1"],
)
def test_a_source_that_leads_away_or_is_not_there_yields_nothing(demo: Demo, url: str) -> None:
    answer = demo.post(ACQUIRE, url=url)
    assert answer.status >= 400
    assert "text" not in answer.json


def test_a_source_that_moved_keeps_its_new_address(demo: Demo) -> None:
    fetched = demo.post(ACQUIRE, url="https://docs.harbour.test/gangway/start").found
    assert (fetched["finalUrl"], fetched["warnings"]) == (BOARDING, ["source_redirected"])


def test_a_source_that_nobody_approved_is_not_asked_for(demo: Demo) -> None:
    before = demo.calls("firecrawl"), demo.calls("exa")
    for url in ("https://mirror.elsewhere.test/gangway-notes", "https://127.0.0.1/", "https://docs.harbour.test:8443/"):
        assert demo.post(ACQUIRE, url=url).status in (404, 422)
    assert (demo.calls("firecrawl"), demo.calls("exa")) == before


def test_a_tool_is_found_priced_and_executed_once(demo: Demo) -> None:
    (tool,) = demo.post(f"{ALEXANDRIA}/search", query="ships that arrived", limit=1).found["tools"]
    assert (tool["credits"], tool["perRecord"]) == (2, True)
    quote = demo.post(f"{ALEXANDRIA}/inspect", tool=tool["tool"]).found
    order = {"quoteId": quote["quoteId"], "requestId": "arrivals-1", "options": {"harbour": "Ostrand", "limit": 4}}

    done = demo.post(f"{ALEXANDRIA}/execute", **order).found
    before = demo.calls("firecrawl")
    again = demo.post(f"{ALEXANDRIA}/execute", **order).found
    receipt = demo.post(f"{ALEXANDRIA}/receipt", requestId="arrivals-1").found

    assert demo.calls("firecrawl") == before
    assert [_cost(each) for each in (done, again, receipt)] == [{"status": "confirmed", "credits": 8}] * 3
    assert "Mellvik Star" in json.dumps(done, ensure_ascii=False)


def _cost(answer: dict[str, Any]) -> dict[str, Any]:
    receipt = answer.get("receipt", answer)
    return dict(receipt["cost"])


def test_a_tool_with_terms_waits_for_a_person(demo: Demo) -> None:
    tool = {"provider": "customs", "capability": "declarations"}
    quote = demo.post(f"{ALEXANDRIA}/inspect", tool=tool).found
    order = {"quoteId": quote["quoteId"], "requestId": "cargo-1", "options": {"ship": "Mellvik Star"}}
    answer = demo.post(f"{ALEXANDRIA}/execute", **order)
    assert "terms_required" in answer.data.decode()


@pytest.mark.parametrize("caller", ["assistant", "widget"])
def test_no_customer_ever_causes_a_call_or_sees_a_word_of_one(demo: Demo, caller: str) -> None:
    before = demo.every_call()
    for query in ("open a gate", "ferry pass", "渡轮卡遗失", "storm warnings"):
        answer = demo.gateway.search(caller, query=query, limit=10)
        assert answer.status == 200
        text = answer.data.decode() + str(answer.headers)
        assert not [word for word in ("harbour.test", *(f'"{kind}"' for kind in KINDS)) if word in text]
    for path in (ACQUIRE, f"{ALEXANDRIA}/search"):
        body = {"url": BOARDING} if path == ACQUIRE else {"query": "tides"}
        assert demo.post(path, caller, **body).status in (401, 403)
    assert demo.every_call() == before


def test_an_assistant_cannot_name_a_live_provider(demo: Demo) -> None:
    exa = demo.gateway.local["live"]["exa"]["id"]
    answer = demo.post(SEARCH, "assistant", query="open a gate", providers=[exa])
    assert answer.status == 422


def test_keys_are_imported_into_the_running_gateway_and_read_at_a_glance(demo: Demo) -> None:
    directory = demo.gateway.directory
    (directory / ".env").write_text("FIRECRAWL_API_KEY_9='fc-imported-0009'\nFIRECRAWL_API_KEY_9_ACCOUNT=second\n")
    imported = kgw(directory, "keys", "import", ".env")
    assert (imported.returncode, imported.stderr) == (0, "")
    assert "FIRECRAWL_API_KEY_9        added" in imported.stdout
    status = kgw(directory, "keys", "status")
    assert (status.returncode, status.stderr) == (0, "")
    for pool in ("context7", "exa", "firecrawl", "mintlify", "deepwiki"):
        assert f"\n{pool} " in "\n" + status.stdout
    assert "EXA_API_KEY_1" in status.stdout
    assert json.loads(kgw(directory, "keys", "status", "--json").stdout)["pools"]
    told = imported.stdout + status.stdout
    assert not [key for key in ("fc-imported", "exa-demo", "second") if key in told]


def test_no_key_and_no_query_reaches_a_log_or_the_file_for_callers(demo: Demo) -> None:
    demo.control(service="exa", mode="refuse_rate", for_calls=1)
    demo.search(*KINDS, query="gates of zanzibar")
    demo.post(ACQUIRE, url="https://docs.harbour.test/zanzibar")
    files = [*(demo.gateway.directory / ".kgw").glob("run-*/log/*.log"), demo.gateway.directory / ".kgw" / "local.json"]
    assert len(files) > 5
    everything = "".join(path.read_text() for path in files)
    assert "EXA_API_KEY_" in everything  # which key rests is told by its name
    assert not [word for word in ("zanzibar", "demo-000", "fc-imported") if word in everything]
