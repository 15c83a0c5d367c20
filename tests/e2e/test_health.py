"""Providers that are killed, throttle or are misconfigured, and recover: what searches and health show of it, within
one request or one run of the probe.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import boto3
import pytest

from infra.cli.demo_providers import Demo, DemoProvider
from infra.local.provision import client_environment
from tests.e2e.running import PROVIDERS, Gateway, call, kgw

pytestmark = [pytest.mark.emulator]

HEALTH = "/api/v1/knowledge/health"
RETRY_AFTER_S = 2
_PROBE_TIMEOUT_S = 40.0
_WORDS = ("--audience", "internal", "--only", "desk-")


class Patient:
    """A registered provider: `ask` searches it alone and gives its outcome, `health` is what is told of it."""

    def __init__(self, gateway: Gateway, name: str, base_url: str, keep_secret: Callable[[str], None]) -> None:
        self.gateway = gateway
        wanted = {"name": name, "exposureProfile": "agent_only", "baseUrl": base_url}
        made = gateway.as_admin("POST", PROVIDERS, wanted).found
        self.id, self.path = made["id"], f"{PROVIDERS}/{made['id']}"
        keep_secret(made["secret"])
        report = gateway.as_admin("POST", f"{self.path}/test", {"query": "refund", "activate": True})
        assert report.found["activated"], report.data

    def ask(self) -> dict[str, Any]:
        answer = self.gateway.search("agent", query="refund", providers=[self.id], deadlineMs=5000)
        assert answer.status == 200, answer.data
        (outcome,) = answer.json["providers"]
        return outcome

    def told(self) -> dict[str, Any]:
        return self.gateway.as_admin("GET", f"{HEALTH}/{self.id}").found

    @property
    def health(self) -> dict[str, Any]:
        return self.told()["provider"]

    def happened(self) -> list[str]:
        return [each["happening"] for each in self.told()["history"]]


@pytest.fixture
def admit(gateway: Gateway) -> Iterator[Callable[..., Patient]]:
    """Registers a provider that answers; it is removed afterwards."""
    admitted: list[Patient] = []

    def admitting(name: str, base_url: str, keep_secret: Callable[[str], None] = lambda _secret: None) -> Patient:
        admitted.append(Patient(gateway, name, base_url, keep_secret))
        return admitted[-1]

    yield admitting
    for each in admitted:
        gateway.remove_provider(each.id)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., DemoProvider]]:
    """Starts a provider of the reference kind, on a port that it had before if one is named."""
    started: list[DemoProvider] = []

    def starting(name: str, port: int | None = None) -> DemoProvider:
        demo = Demo(name, name, "agent_only", 100, "refund", _WORDS)
        started.append(DemoProvider(demo, directory=tmp_path, port=port))
        started[-1].await_start()
        return started[-1]

    for directory in ("secrets", "log"):
        (tmp_path / directory).mkdir()
    yield starting
    for each in started:
        with suppress(ProcessLookupError):
            each.stop()


class _Throttle(BaseHTTPRequestHandler):
    """Answers searches, unless `is_busy`; counts them."""

    protocol_version = "HTTP/1.1"
    is_busy = False
    searches = 0

    def do_GET(self) -> None:
        self._answer(200, {"contractVersion": 1, "capabilities": {}})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        type(self).searches += 1
        if self.is_busy:
            self._answer(429, {}, retry_after_s=RETRY_AFTER_S)
        else:
            self._answer(200, {"contractVersion": 1, "results": []})

    def _answer(self, status: int, body: dict[str, Any], *, retry_after_s: int | None = None) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if retry_after_s is not None:
            self.send_header("Retry-After", str(retry_after_s))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_args: Any) -> None:
        """Says nothing."""


@pytest.fixture
def throttle() -> Iterator[tuple[type[_Throttle], str]]:
    """How it behaves, and where it is."""
    manner = type("Manner", (_Throttle,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), manner)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield manner, f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def probed(gateway: Gateway) -> None:
    """Once a run of the probe that has begun after now is over. The last one is moved into the past: one is due."""
    environment = client_environment(gateway.local["aws"]["endpointUrl"])
    dynamodb = boto3.client(
        "dynamodb",
        endpoint_url=gateway.local["aws"]["endpointUrl"],
        region_name=environment["AWS_DEFAULT_REGION"],
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
    )
    asked_at = time.time()
    dynamodb.update_item(
        TableName="kg-ledger-internal",
        Key={"pk": {"S": "HEALTH"}, "sk": {"S": "-"}},
        UpdateExpression="SET started_at = :once",
        ConditionExpression="attribute_exists(pk)",
        ExpressionAttributeValues={":once": {"N": "1"}},
    )
    until = time.monotonic() + _PROBE_TIMEOUT_S
    while not _has_run_since(gateway, asked_at):
        assert time.monotonic() < until, "the probe has not run"
        time.sleep(0.1)


def _has_run_since(gateway: Gateway, moment: float) -> bool:
    run = gateway.as_admin("GET", HEALTH).found["run"]
    return bool(run and run["finishedAt"] and datetime.fromisoformat(run["startedAt"]).timestamp() > moment)


def ever_probed(gateway: Gateway) -> None:
    until = time.monotonic() + _PROBE_TIMEOUT_S
    while gateway.as_admin("GET", HEALTH).found["checkedAt"] is None:
        assert time.monotonic() < until, "the probe has never run"
        time.sleep(0.1)


def test_one_that_is_killed_is_left_alone_and_comes_back_by_itself(
    gateway: Gateway, admit: Callable[..., Patient], start: Callable[..., DemoProvider]
) -> None:
    ever_probed(gateway)
    process = start("killed")
    patient = admit("Killed", process.url, process.keep_secret)
    assert patient.ask()["status"] == "success"

    process.stop()
    assert patient.ask()["errorCode"] == "connection_failed"
    assert (patient.health["state"], patient.health["code"]) == ("failing", "connection_failed")
    for _ in range(2):
        patient.ask()
    outcome, health = patient.ask(), patient.health
    assert (outcome["status"], outcome["errorCode"]) == ("skipped", "circuit_open")
    assert (health["state"], health["circuits"]["agent"]["state"]) == ("down", "open")
    assert health["retryAt"] == health["circuits"]["agent"]["openUntil"] is not None
    whole = gateway.as_admin("GET", HEALTH)
    assert (whole.status, whole.json["status"]) == (200, "degraded")
    assert {each["state"] for each in whole.json["providers"]} > {"down"}
    assert call(gateway.url, "GET", "/livez").status == 200

    start("killed", process.port)
    probed(gateway)
    health = patient.health
    assert (health["state"], health["circuits"]["agent"]["state"]) == ("healthy", "half_open")
    assert patient.ask()["status"] == "success"
    assert patient.health["circuits"]["agent"]["state"] == "closed"
    happened = [each for each in patient.happened() if each != "state_changed"]
    assert happened == ["circuit_closed", "circuit_half_opened", "circuit_opened"]


def test_one_that_throttles_is_left_alone_for_as_long_as_it_asked_for(
    admit: Callable[..., Patient], throttle: tuple[type[_Throttle], str]
) -> None:
    manner, base_url = throttle
    patient = admit("Throttling", base_url)
    assert patient.ask()["status"] == "empty"

    manner.is_busy = True
    first, health = patient.ask(), patient.health
    assert (first["errorCode"], health["state"], health["code"]) == ("rate_limited", "limited", "rate_limited")
    assert first["retryAt"] is not None
    asked = manner.searches
    assert patient.ask()["errorCode"] == "circuit_open"
    assert manner.searches == asked

    manner.is_busy = False
    time.sleep(RETRY_AFTER_S)
    assert patient.ask()["status"] == "empty"
    health = patient.health
    assert (health["circuits"]["agent"]["state"], health["circuits"]["agent"]["failures"]) == ("closed", 0)
    assert health["state"] in ("healthy", "unchecked")


def test_one_that_refuses_us_is_seen_before_anybody_searches_and_comes_back_when_an_operator_says_so(
    gateway: Gateway, admit: Callable[..., Patient], start: Callable[..., DemoProvider]
) -> None:
    process = start("misconfigured")
    patient = admit("Misconfigured", process.url, process.keep_secret)
    secret = process.secret_file.read_text().strip()

    process.keep_secret("kgs_" + "0" * 64)
    probed(gateway)
    assert (patient.health["state"], patient.health["code"]) == ("refused", "unauthorized")
    for _ in range(3):
        assert patient.ask()["errorCode"] == "unauthorized"
    assert patient.ask()["errorCode"] == "disabled"
    shown = gateway.as_admin("GET", patient.path).found
    assert (shown["status"], shown["statusReason"]["code"]) == ("auto_disabled", "unauthorized")
    assert patient.health["state"] == "auto_disabled"
    status = kgw(gateway.directory, "status", patient.id)
    assert (status.returncode, "auto disabled" in status.stdout) == (3, True), status.stderr

    process.keep_secret(secret)
    assert patient.ask()["errorCode"] == "disabled"
    etag = gateway.as_admin("GET", patient.path).headers["etag"]
    assert gateway.as_admin("PATCH", patient.path, {"status": "active"}, If_Match=etag).found["status"] == "active"
    assert patient.ask()["status"] == "success"
    assert patient.health["state"] in ("healthy", "unchecked")
    assert [each for each in patient.happened() if each != "state_changed"] == ["put_back", "auto_disabled"]


def test_the_command_tells_of_all_of_them(gateway: Gateway) -> None:
    told = kgw(gateway.directory, "status")

    whole = gateway.as_admin("GET", HEALTH).found
    assert told.returncode == (0 if whole["status"] == "healthy" else 3)
    assert told.stdout.count("\n") > len(whole["providers"]) + len(whole["pools"])
    assert all(each["name"][:20] in told.stdout for each in whole["providers"])
    assert "\x1b" not in told.stdout
