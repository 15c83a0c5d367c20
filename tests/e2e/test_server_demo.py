"""The demo's self-hosted servers: searched together with other providers, by reading alone, and by whom they may be."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from infra.cli.demo_servers import SERVER_DEMOS
from tests.e2e.running import Gateway, call, kgw, running

pytestmark = [pytest.mark.emulator]

# Words of the Help centre, and of a text on each of the three servers.
EVERYWHERE = (
    "luggage yellow shed crane three weeks quay, season pass bicycle travels free sunday market, "
    "lifeboat drill mellvik winch lowered slowest purser"
)
LUGGAGE = "lost luggage yellow shed beside the crane"
MARKS = ("bicycle travels free", "Lifeboat drill", "there is no second pot")  # of the servers for agents
MIXED = ("Help centre", "Dify", "FastGPT", "RAGFlow")
STAND_INS = {demo.name: demo.server for demo in SERVER_DEMOS}
READINGS = {
    "dify-1.14": {"GET /v1/datasets/{id}", "POST /v1/datasets/{id}/retrieve"},
    "fastgpt-4.12": {"GET /api/core/dataset/detail", "POST /api/core/dataset/searchTest"},
    "ragflow-0.26": {"GET /api/v1/datasets", "POST /api/v1/retrieval"},
    "dify_external": {"POST /retrieval"},
}
DEADLINE_MS = 8_000


class Demo:
    """A running gateway with its stand-ins."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway

    def search(self, *names: str, query: str = EVERYWHERE, **body: Any) -> dict[str, Any]:
        local = self.gateway.local
        ids = {each["name"]: each["id"] for each in local["servers"].values()}
        ids["Help centre"] = local["providers"]["public"]["id"]
        asked = {"deadlineMs": DEADLINE_MS, "limit": 20} | body
        return self.gateway.search("agent", query=query, providers=[ids[name] for name in names], **asked).found

    def control(self, **command: object) -> dict[str, Any]:
        address = urlsplit(self.gateway.local["standIns"]["controlUrl"])
        method, body = ("POST", command) if command else ("GET", None)
        return call(f"http://{address.netloc}", method, address.path, body).found

    def searches(self) -> dict[str, int]:
        """So many have reached each server. What the probe looks at meanwhile is asked for in another way."""
        counted = self.control()["requests"]
        return {
            server: sum(counted[server].get(reading, 0) for reading in readings if reading.startswith("POST"))
            for server, readings in READINGS.items()
        }


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    with running(tmp_path_factory.mktemp("servers")) as gateway:
        yield Demo(gateway)


@pytest.fixture
def demo(started: Demo) -> Demo:
    """All servers well."""
    started.control(mode="ok")
    return started


def shown(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [(result["provider"]["name"], result["snippet"]) for result in found["results"]]


def outcomes(found: dict[str, Any]) -> dict[str, tuple[str, str | None]]:
    return {each["name"]: (each["status"], each["errorCode"]) for each in found["providers"]}


def test_three_products_and_a_contract_provider_answer_one_search(demo: Demo) -> None:
    found = demo.search(*MIXED)
    assert outcomes(found) == dict.fromkeys(MIXED, ("success", None))
    assert {name for name, _ in shown(found)} == set(MIXED)
    audiences = {(result["provider"]["name"], result["audience"]) for result in found["results"]}
    assert audiences == {
        ("Help centre", "public"),
        ("Dify", "public"),
        ("FastGPT", "internal"),
        ("RAGFlow", "internal"),
    }


@pytest.mark.parametrize("slow", ["Dify", "FastGPT", "RAGFlow"])
def test_the_order_does_not_depend_on_who_is_fast(demo: Demo, slow: str) -> None:
    expected = shown(demo.search(*MIXED))
    demo.control(service=STAND_INS[slow], mode="slow", delay_s=0.4)
    started = time.monotonic()
    found = demo.search(*MIXED)
    assert time.monotonic() - started >= 0.4
    assert shown(found) == expected


def test_a_limit_is_shared_in_the_same_order(demo: Demo) -> None:
    everything = shown(demo.search(*MIXED))
    assert shown(demo.search(*MIXED, limit=3)) == everything[:3]
    assert len(everything) > 3


@pytest.mark.parametrize(
    ("mode", "code"), [("fail", "upstream_error"), ("html", "invalid_response"), ("refuse", "unauthorized")]
)
@pytest.mark.parametrize("broken", ["Dify", "FastGPT", "RAGFlow"])
def test_one_that_fails_costs_nobody_else_anything(demo: Demo, broken: str, mode: str, code: str) -> None:
    whole = shown(demo.search(*MIXED))
    demo.control(service=STAND_INS[broken], mode=mode)
    found = demo.search(*MIXED)
    assert found["status"] == "partial"
    assert outcomes(found) == dict.fromkeys(MIXED, ("success", None)) | {broken: ("failed", code)}
    assert shown(found) == [each for each in whole if each[0] != broken]


def test_one_that_hangs_is_waited_for_no_longer_than_the_budget(demo: Demo) -> None:
    demo.control(service=STAND_INS["RAGFlow"], mode="hang", for_calls=1)
    answer = demo.search(*MIXED, deadlineMs=1_500)
    expected = dict.fromkeys(MIXED, ("success", None)) | {"RAGFlow": ("failed", "timeout")}
    assert outcomes(answer) == expected


def test_a_server_that_says_too_many_is_told_so(demo: Demo) -> None:
    demo.control(service=STAND_INS["Dify"], mode="refuse_rate", retry_after_s=30, for_calls=1)
    assert outcomes(demo.search("Dify")) == {"Dify": ("failed", "rate_limited")}


@pytest.mark.parametrize("caller", ["assistant", "widget"])
def test_customers_see_the_server_that_is_safe_for_them_and_reach_no_other(demo: Demo, caller: str) -> None:
    before = demo.searches()
    results = demo.gateway.search(caller, query=LUGGAGE, limit=10).found["results"]
    assert [result for result in results if "yellow shed" in result["snippet"]]
    for query in (EVERYWHERE, "season pass bicycles", "lifeboat drill", "fish soup", "季票转让"):
        answer = demo.gateway.search(caller, query=query, limit=10)
        text = answer.data.decode() + str(answer.headers)
        assert answer.status == 200
        assert not [mark for mark in (*MARKS, "FastGPT", "RAGFlow", "Dify", "Galley") if mark in text]
    after = demo.searches()
    reached = {server for server, count in after.items() if count != before[server]}
    assert reached == {"dify-1.14"}


def test_an_agent_finds_what_customers_do_not(demo: Demo) -> None:
    snippets = " ".join(snippet for _, snippet in shown(demo.search("FastGPT", "RAGFlow", query=EVERYWHERE)))
    assert [mark for mark in MARKS if mark in snippets] == list(MARKS[:2])
    assert "no second pot" in shown(demo.search("Galley", query="fish soup until the pot is empty"))[0][1]


def test_nothing_but_readings_was_ever_sent(demo: Demo) -> None:
    demo.search(*MIXED, "Galley")
    counted = demo.control()["requests"]
    assert {server: set(counted[server]) for server in READINGS} == READINGS
    assert not [
        server for server in demo.gateway.local["standIns"]["servers"] if server not in READINGS and counted[server]
    ]


def test_a_stand_in_is_accepted_with_a_report_that_names_nothing(demo: Demo) -> None:
    (fastgpt,) = [each for each in SERVER_DEMOS if each.kind == "fastgpt"]
    url = demo.gateway.local["standIns"]["servers"][fastgpt.server]
    options = ["--base-url", url, "--key-env", "DEMO_KEY", "--allow-loopback", "--json"]
    ran = kgw(demo.gateway.directory, "accept", "fastgpt", *options, DEMO_KEY=fastgpt.key)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads(ran.stdout)["accepted"] is True
    assert not [word for word in (fastgpt.key, "127.0.0.1", "Quays", "season") if word in ran.stdout]


def test_no_key_and_no_query_reaches_a_log_or_the_file_for_callers(demo: Demo) -> None:
    demo.search(*MIXED, "Galley", query="boats of zanzibar")
    files = [*(demo.gateway.directory / ".kgw").glob("run-*/log/*.log"), demo.gateway.directory / ".kgw" / "local.json"]
    assert len(files) > 5
    everything = "".join(path.read_text() for path in files)
    assert not [word for word in ("zanzibar", *(each.key for each in SERVER_DEMOS)) if word in everything]
