"""The admin function as it is deployed, with live services behind real sockets: stand-ins that refuse on command."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest

from fixtures.stand_ins.control import Control, fingerprint
from fixtures.stand_ins.server import StandIns
from fixtures.stand_ins.services import services
from tests.contract.admin_process import Process
from tests.support.admin_stage import AUDIT, PROVIDERS, Answered

pytestmark = [pytest.mark.emulator]

POOLS = "/api/v1/knowledge/pools"
ALLOWANCES = "/api/v1/knowledge/allowances"
HOSTS = ["docs.harbour.test", "handbook.harbour.test"]
KEYS = {
    "KG_POOL_CONTEXT7": {"CONTEXT7_API_KEY": "ctx7sk-demo-0001"},
    "KG_POOL_EXA": {"EXA_API_KEY": "exa-demo-0001", "EXA_API_KEY_1": "exa-demo-0002"},
    "KG_POOL_FIRECRAWL": {"FIRECRAWL_API_KEY": {"key": "fc-demo-0001", "account": "harbour"}},
}
# kind -> its config, and what it is tested with
KINDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "context7": ({"approvedHosts": HOSTS}, {"query": "open a gate", "repository": "harbour/gangway"}),
    "deepwiki": ({"repositories": ["harbour/gangway"]}, {"query": "How is a gate opened?"}),
    "exa": ({"approvedHosts": HOSTS}, {"query": "open a gate"}),
    "firecrawl": ({"approvedHosts": HOSTS}, {"url": "https://docs.harbour.test/gangway/boarding"}),
    "mintlify": ({"approvedHosts": HOSTS}, {"query": "open a gate", "product": "Gangway"}),
}


@pytest.fixture(scope="module")
def control() -> Control:
    return Control()


@pytest.fixture(scope="module")
def origins(control: Control) -> Iterator[dict[str, str]]:
    stand_ins = StandIns(services(), control)
    with stand_ins.running():
        yield stand_ins.origins


@pytest.fixture
def process(aws_environment: dict[str, str], origins: dict[str, str]) -> Iterator[Process]:
    secrets_manager = boto3.client("secretsmanager")
    for variable, keys in KEYS.items():
        secrets_manager.put_secret_value(SecretId=aws_environment[variable], SecretString=json.dumps(keys))
    process = Process(aws_environment | {"KG_LOCAL_ORIGINS": json.dumps(origins)})
    yield process
    process.close()


@pytest.fixture
def exa(control: Control) -> Iterator[Callable[..., None]]:
    """Tells the stand-in of Exa what to do with its calls; it recovers after the test."""
    yield lambda mode, **how: control.command({"service": "exa", "mode": mode, **how})
    control.command({"service": "exa", "mode": "ok"})


def register(process: Process, kind: str) -> str:
    body = {"name": kind, "kind": kind, "exposureProfile": "agent_only", "config": KINDS[kind][0]}
    created = process.call("POST", PROVIDERS, body)
    assert created.status == 201, created.text
    return created.headers["Location"]


def try_out(process: Process, where: str, kind: str, **more: Any) -> Answered:
    return process.call("POST", f"{where}/test", KINDS[kind][1] | more)


def used(process: Process, pool: str) -> int:
    units: int = process.call("GET", f"{ALLOWANCES}/{pool}").json["used"]
    return units


@pytest.mark.parametrize(
    ("kind", "operations"), [("context7", 2), ("deepwiki", 1), ("exa", 1), ("firecrawl", 1), ("mintlify", 1)]
)
def test_a_live_service_lives_its_whole_life(process: Process, kind: str, operations: int) -> None:
    where = register(process, kind)
    tested = try_out(process, where, kind, activate=True)

    assert (tested.json["status"], tested.json["activated"]) == ("success", True), tested.text
    assert used(process, kind) == operations
    changed = process.call("PATCH", where, {"priority": 5, "config": KINDS[kind][0]}, if_match=tested.etag)
    assert (changed.json["priority"], changed.json["status"]) == (5, "active")
    assert process.call("GET", where).json == changed.json
    assert process.call("DELETE", where, if_match=changed.etag).status == 204
    actions = [entry["action"] for entry in process.call("GET", AUDIT).json["entries"]]
    assert actions == ["provider.deleted", "provider.updated", "provider.activated", "provider.created"]


def exa_pool(process: Process) -> dict[str, Any]:
    shown: dict[str, Any] = process.call("GET", POOLS).json["pools"][1]
    return shown


def states(shown: dict[str, Any]) -> list[tuple[str, str, str | None]]:
    return [(each["name"], each["state"], each["reason"]) for each in shown["keys"]]


def test_a_spent_key_rests_for_everybody_until_an_operator_wakes_it(process: Process, exa: Callable[..., None]) -> None:
    where = register(process, "exa")
    exa("refuse_quota", key="0001")
    report = try_out(process, where, "exa")

    assert report.json["status"] == "success"
    assert used(process, "exa") == 1
    assert states(exa_pool(process)) == [("EXA_API_KEY", "resting", "quota"), ("EXA_API_KEY_1", "active", None)]
    woken = process.call("POST", f"{POOLS}/exa/wake", {"key": "EXA_API_KEY"})
    assert states(woken.json) == [("EXA_API_KEY", "ready", None), ("EXA_API_KEY_1", "active", None)]


def test_a_key_that_an_operator_rests_is_not_sent(process: Process, control: Control) -> None:
    where = register(process, "exa")
    rested = process.call("POST", f"{POOLS}/exa/rest", {"key": "EXA_API_KEY", "seconds": 3_600})
    before = control.shown()["services"]["exa"]["keys"].get(fingerprint("exa", "exa-demo-0001"), {"calls": 0})["calls"]
    report = try_out(process, where, "exa")
    after = control.shown()["services"]["exa"]["keys"].get(fingerprint("exa", "exa-demo-0001"), {"calls": 0})["calls"]

    assert states(rested.json) == [("EXA_API_KEY", "resting", "operator"), ("EXA_API_KEY_1", "active", None)]
    assert (report.json["status"], after) == ("success", before)


def test_a_pool_all_of_whose_keys_rest_says_when_it_is_back(process: Process, exa: Callable[..., None]) -> None:
    where = register(process, "exa")
    exa("refuse_rate", retry_after_s=600)
    report = try_out(process, where, "exa", activate=True)
    shown = exa_pool(process)

    assert (report.json["errorCode"], report.json["activated"]) == ("keys_exhausted", False)
    assert report.json["retryAt"] == shown["readyAgainAt"]
    assert (shown["usable"], shown["resting"], used(process, "exa")) == (0, 2, 0)
    exa("ok")
    assert process.call("POST", f"{POOLS}/exa/wake").json["usable"] == 2
    assert try_out(process, where, "exa").json["status"] == "success"


def test_a_closed_allowance_lets_nothing_leave(process: Process, control: Control) -> None:
    where = register(process, "exa")
    before = process.call("GET", f"{ALLOWANCES}/exa")
    closed = process.call("PUT", f"{ALLOWANCES}/exa", {"limit": 0}, if_match=before.etag)
    calls = control.shown()["services"]["exa"]["calls"]
    report = try_out(process, where, "exa")

    assert (before.etag, closed.etag, closed.json["state"]) == ('"0"', '"1"', "closed")
    assert report.json["errorCode"] == "allowance_exhausted"
    assert control.shown()["services"]["exa"]["calls"] == calls
    assert process.call("PUT", f"{ALLOWANCES}/exa", {"limit": 5}, if_match=before.etag).status == 412
    opened = process.call("PUT", f"{ALLOWANCES}/exa", {"limit": 5}, if_match=closed.etag)
    assert (opened.json["limit"], try_out(process, where, "exa").json["status"]) == (5, "success")


def test_what_operators_did_is_audited_and_no_key_shows_anywhere(process: Process, exa: Callable[..., None]) -> None:
    where = register(process, "exa")
    exa("refuse_quota", key="0001")
    answers = [
        try_out(process, where, "exa", activate=True),
        process.call("POST", f"{POOLS}/exa/rest", {"key": "EXA_API_KEY_1", "seconds": 60}),
        process.call("POST", f"{POOLS}/exa/wake"),
        process.call("PUT", f"{ALLOWANCES}/exa", {"limit": 5}, if_match='"0"'),
        process.call("GET", POOLS),
        process.call("GET", PROVIDERS),
        process.call("GET", AUDIT),
    ]
    everything = "".join(each.text for each in answers)

    assert [entry["action"] for entry in answers[-1].json["entries"]] == [
        "allowance.changed",
        "pool.keys_woken",
        "pool.key_rested",
        "provider.activated",
        "provider.created",
    ]
    assert not any(key in everything for key in ("exa-demo", "ctx7sk-demo", "fc-demo"))
    assert fingerprint("exa", "exa-demo-0001") not in everything
