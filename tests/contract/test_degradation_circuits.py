"""Neither circuits nor rests of keys that cannot be read or written fail a search, or hold it up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import boto3
import pytest

from shared.adapters import aws
from shared.adapters.clock import SystemClock
from shared.domain.circuits import MAX_FAILURES
from shared.domain.exposure import ExposureProfile
from shared.ports.exchange import OutboundAnswer
from shared.services import circuit_writer
from tests.contract.degraded import EXA_KEYS, FOUND, Process, World, a_world, outcomes
from tests.contract.injected import SkippingClock
from tests.contract.worlds import Clients
from tests.support.fault_proxy import (
    CONFLICTS,
    DENIES,
    FAILS,
    THROTTLES,
    Breaks,
    Fault,
    Garbles,
    Hangs,
    Rule,
)

pytestmark = [pytest.mark.emulator]

SPENT = OutboundAnswer(
    status=402,
    headers={"content-type": "application/json"},
    body=json.dumps({"error": "payment required", "tag": "API_KEY_BUDGET_EXCEEDED"}).encode(),
)
FAULTS: dict[str, Fault] = {
    "throttles": THROTTLES,
    "fails": FAILS,
    "denies": DENIES,
    "conflicts": CONFLICTS,
    "breaks": Breaks(),
    "loses_the_answer": Breaks(is_done=True),
    "garbles": Garbles(),
}


@pytest.fixture(scope="module")
def world(emulator: str, emulator_clients: Clients) -> Iterator[World]:
    with a_world(emulator, emulator_clients, prefix="circuits") as world:
        yield world


@pytest.fixture
def process(world: World) -> Iterator[Process]:
    with world.process() as process:
        yield process


@pytest.fixture
def failing(world: World) -> Iterator[str]:
    """A provider that answers 500, agent_only like its neighbour `world.internal`."""
    provider_id = world.provider(world.hostile.url("error"), exposure=ExposureProfile.AGENT_ONLY)
    yield provider_id
    world.remove(provider_id)


def ask(process: Process, failing: str) -> str:
    """How the failing one fared; its neighbours are never the worse for it."""
    seen = outcomes(process.agent(deadlineMs=25_000))
    assert {seen[id_] for id_ in process.world.all} == {"success"}
    return seen[failing]


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("partition", ["CIRCUITS", "HISTORY#"])
def test_a_circuit_that_cannot_be_written_costs_nobody_anything(
    process: Process, failing: str, partition: str, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(circuit_writer, "SETTLING_S", 10.0)  # however slow this machine is: all is tried to be written
    operation = "UpdateItem" if partition == "CIRCUITS" else ""
    with process.world.proxy.doing(Rule(fault=fault, operation=operation, partition=partition)) as rule:
        seen = [ask(process, failing) for _ in range(MAX_FAILURES)]
    assert set(seen) == {"upstream_error"}
    assert rule.count >= 1
    for _ in range(MAX_FAILURES):
        ask(process, failing)
    assert ask(process, failing) == "circuit_open"


def test_a_circuit_whose_write_hangs_is_not_waited_for(
    world: World, failing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aws, "PATIENCE", replace(aws.PATIENCE, read_s=4.0))
    with (
        world.process() as process,
        world.proxy.doing(Rule(fault=Hangs(), operation="UpdateItem", partition="CIRCUITS")) as rule,
    ):
        assert ask(process, failing) == "upstream_error"
        rule.wait()
        assert world.proxy.is_holding(rule), "it answered while the write was still under way"


@pytest.mark.parametrize("fault", [DENIES, Hangs()], ids=["denies", "hangs"])
def test_a_trial_that_cannot_be_claimed_is_not_held(
    process: Process, failing: str, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SkippingClock()
    monkeypatch.setattr(SystemClock, "now", clock.now)
    for _ in range(MAX_FAILURES):
        ask(process, failing)
    clock.ahead_s = 40.0
    asked = len(process.world.hostile.requests)
    with process.world.proxy.doing(Rule(fault=fault, operation="UpdateItem", partition="CIRCUITS")):
        assert ask(process, failing) == "circuit_open"
    assert len(process.world.hostile.requests) == asked + 2, "its neighbours alone were asked"
    assert ask(process, failing) == "upstream_error", "the next search holds the trial"
    assert ask(process, failing) == "circuit_open"


@pytest.fixture
def two_keys(world: World) -> Iterator[World]:
    """The first is spent, the second works."""
    secrets_manager, secret_id = boto3.client("secretsmanager"), world.environment["KG_POOL_EXA"]
    keys = EXA_KEYS | {"EXA_API_KEY_1": "k-demo-1"}
    secrets_manager.put_secret_value(SecretId=secret_id, SecretString=json.dumps(keys))
    world.service.steps[:] = [SPENT, FOUND]
    yield world
    world.service.steps[:] = [FOUND]
    secrets_manager.put_secret_value(SecretId=secret_id, SecretString=json.dumps(EXA_KEYS))


@pytest.mark.parametrize("fault", [*FAULTS.values(), Hangs()], ids=[*FAULTS, "hangs"])
def test_a_rest_that_cannot_be_written_does_not_fail_the_search(
    two_keys: World, process: Process, fault: Fault
) -> None:
    asked = len(two_keys.service.asked)
    with two_keys.proxy.doing(Rule(fault=fault, operation="UpdateItem", partition="POOL#exa", sort="KEYS")) as rule:
        assert outcomes(process.agent(providers=[two_keys.live])) == {two_keys.live: "success"}
    assert rule.count >= 1
    keys = [each.headers["x-api-key"] for each in two_keys.service.asked[asked:]]
    assert sorted(keys) == ["k-demo-0", "k-demo-1"], "each key was tried once"
    for key in ("EXA_API_KEY", "EXA_API_KEY_1"):
        process.operator("POST", "/api/v1/knowledge/pools/exa/wake", {"key": key})


def test_an_agent_is_answered_from_memory_for_a_minute_and_no_longer(
    process: Process, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SkippingClock()
    monkeypatch.setattr(SystemClock, "now", clock.now)
    process.agent()
    with world.proxy.refusing():
        clock.ahead_s = 50.0
        remembered = process.agent()
        clock.ahead_s = 61.0
        forgotten = process.agent()
    assert (remembered.status, forgotten.status) == (200, 503)
    assert "X-Knowledge-Degraded" in remembered.headers
    assert "X-Knowledge-Degraded" not in process.agent().headers


def test_a_probe_without_its_store_does_nothing_and_the_next_one_does_it(process: Process, world: World) -> None:
    with world.proxy.refusing():
        assert process.probe() == {"providers": None, "finished": 0, "isDone": False}
    with world.proxy.doing(Rule(fault=DENIES, service="kms")):
        blind = process.probe()["providers"]
    assert blind["states"] == {"not_configured": 2, "unchecked": 1}, "no provider is blamed for what is ours"
