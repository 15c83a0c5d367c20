"""A function that is killed in the middle of a request leaves what heals by itself: each is stopped where it waits for
the backend or for a provider, with what it had done so far really done.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from shared.adapters.clock import SystemClock
from shared.domain.allowances import LEASE_S, Allowance
from shared.domain.circuits import MAX_FAILURES, TRIAL_LEASE_S, WELL, Circuit, Lane
from shared.domain.exposure import ExposureProfile
from shared.domain.pools import Pool
from tests.contract.degraded import ACQUIRE, PROVIDERS, SEARCH, URL, World, a_world, event_for, outcomes
from tests.contract.injected import SkippingClock
from tests.contract.worlds import Clients
from tests.support.fault_proxy import Hangs, Late, Rule

pytestmark = [pytest.mark.emulator]


EVERY_S = 240  # the least that lies between two runs of the probe


class Victim:
    """One function in a process of its own, in the middle of one request."""

    def __init__(self, world: World, function: str, event: Mapping[str, Any]) -> None:
        reading, writing = os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, *_run(function), str(writing)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=(writing,),
            env={**os.environ, **world.proxy.before(world.environment), **world.local},
            text=True,
        )
        os.close(writing)
        self._answers = os.fdopen(reading, encoding="utf-8")
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(event) + "\n")
        self._process.stdin.flush()

    def kill(self) -> None:
        """It had hardly answered."""
        self._process.send_signal(signal.SIGKILL)
        assert self._process.wait(20) == -signal.SIGKILL
        self._answers.close()
        assert self._process.stdin is not None
        self._process.stdin.close()


_PROBE = """
import sys
from functions.probe.handler import handler
from tests.contract.degraded import AMinute
sys.stdin.readline()
handler({}, AMinute())
"""


def _run(function: str) -> list[str]:
    return ["-c", _PROBE] if function == "probe" else ["-m", "tests.contract.function_process", function]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SkippingClock:
    clock = SkippingClock()
    monkeypatch.setattr(SystemClock, "now", clock.now)
    return clock


@pytest.fixture(scope="module")
def world(emulator: str, emulator_clients: Clients) -> Iterator[World]:
    with a_world(emulator, emulator_clients, prefix="kill") as world:
        yield world


def killed_at(world: World, rule: Rule, function: str, event: Mapping[str, Any]) -> None:
    """Where the rule holds it."""
    with world.proxy.doing(rule):
        victim = Victim(world, function, event)
        try:
            rule.wait()
        finally:
            victim.kill()


def a_fetch(world: World) -> dict[str, Any]:
    return event_for(ACQUIRE, {"url": URL}, token=world.agent)


def allowance(world: World) -> Allowance:
    return asyncio.run(world.store.allowance_desk().read(Pool.EXA))


def units(world: World, *, later_s: float = 0.0) -> tuple[int, int, int]:
    """Reserved, confirmed, unknown: as they count then."""
    at, found = time.time() + later_s, allowance(world)
    return found.reserved_at(at), found.confirmed_at(at), found.unknown_at(at)


def test_killed_between_reserving_and_sending_a_unit_is_unknown_once_its_lease_is_over(world: World) -> None:
    before, sent = units(world), len(world.service.asked)
    reserving = Rule(fault=Hangs(is_done=True), operation="UpdateItem", partition="POOL#exa")
    killed_at(world, reserving, "live", a_fetch(world))
    reserved, confirmed, unknown = before

    assert len(world.service.asked) == sent
    assert units(world) == (reserved + 1, confirmed, unknown)
    assert units(world, later_s=LEASE_S) == (0, confirmed, unknown + reserved + 1)
    with world.process() as process:
        assert process.acquire().status == 200
    assert units(world, later_s=LEASE_S) == (0, confirmed + 1, unknown + reserved + 1)


def test_killed_between_the_answer_and_its_settling_a_unit_is_not_made_twice(world: World) -> None:
    before, sent = units(world, later_s=LEASE_S), len(world.service.asked)
    settling = Rule(fault=Hangs(), operation="UpdateItem", partition="POOL#exa")
    with passing_first(world, settling):
        killed_at(world, settling, "live", a_fetch(world))

    assert len(world.service.asked) == sent + 1
    assert units(world, later_s=LEASE_S) == (0, before[1], before[2] + 1)


@contextmanager
def passing_first(world: World, rule: Rule) -> Iterator[None]:
    """The first call that `rule` is about goes through."""
    first = Rule(fault=Late(0.0), operation=rule.operation, table=rule.table, partition=rule.partition, times=1)
    with world.proxy.doing(first):
        yield


NEW = {"name": "Timetable", "exposureProfile": "customer_safe", "baseUrl": "http://127.0.0.1:9"}


@pytest.mark.parametrize("is_written", [False, True], ids=["before_it_is_written", "once_it_is_written"])
def test_killed_around_its_write_an_admins_request_can_be_repeated(world: World, is_written: bool) -> None:
    body = NEW | {"name": f"Timetable {is_written}"}
    key = {"idempotency_key": f"timetable-{is_written}"}
    writing = Rule(fault=Hangs(is_done=is_written), operation="TransactWriteItems")
    killed_at(world, writing, "admin", event_for(PROVIDERS, body, token=world.admin, **key))

    with world.process() as process:
        listed = [each["name"] for each in process.operator(path=PROVIDERS).json["providers"]]
        again = process.operator("POST", PROVIDERS, body, **key)
        taken = process.operator("POST", PROVIDERS, body)
        gone = process.operator("DELETE", again.headers["Location"], if_match=again.etag)

    assert (body["name"] in listed) is is_written
    assert again.status == 201
    assert (again.json["secret"] is None) is is_written
    assert (taken.status, taken.code) == (409, "name_taken")
    assert gone.status == 204


def a_search(world: World, provider_id: str) -> dict[str, Any]:
    return event_for(SEARCH, {"query": "ferry pass", "providers": [provider_id]}, token=world.agent)


def set_circuit(world: World, provider_id: str, **state: Any) -> None:
    circuits = world.store.circuits(Lane.AGENT)
    circuit = Circuit(revision="1", failures=MAX_FAILURES, openings=1, **state)
    asyncio.run(circuits.change(lambda _: {provider_id: circuit}, known=asyncio.run(circuits.read())))


def circuit_of(world: World, provider_id: str) -> Circuit:
    return asyncio.run(world.store.circuits(Lane.AGENT).read()).circuits.get(provider_id, WELL)


def test_killed_with_a_trial_in_hand_the_trial_is_free_again_once_its_lease_is_over(
    world: World, clock: SkippingClock
) -> None:
    set_circuit(world, world.internal, open_until=time.time() - 1)
    claiming = Rule(fault=Hangs(is_done=True), operation="UpdateItem", partition="CIRCUITS")
    killed_at(world, claiming, "search", a_search(world, world.internal))
    asked = len(world.hostile.requests)

    with world.process() as process:
        held = process.agent(providers=[world.internal])
        assert outcomes(held) == {world.internal: "circuit_open"}
        assert 1 <= int(held.headers["Retry-After"]) <= TRIAL_LEASE_S
        assert len(world.hostile.requests) == asked
        clock.ahead_s = TRIAL_LEASE_S
        assert outcomes(process.agent(providers=[world.internal])) == {world.internal: "success"}
    assert circuit_of(world, world.internal) is WELL


@pytest.mark.parametrize("is_written", [False, True], ids=["before_it_is_written", "once_it_is_written"])
def test_killed_while_it_settles_a_circuit_counts_that_failure_or_does_not(
    world: World, clock: SkippingClock, is_written: bool
) -> None:
    failing = world.provider(world.hostile.url("error", str(is_written)), exposure=ExposureProfile.AGENT_ONLY)
    settling = Rule(fault=Hangs(is_done=is_written), operation="UpdateItem", partition="CIRCUITS")
    killed_at(world, settling, "search", a_search(world, failing))

    assert circuit_of(world, failing).failures == int(is_written)
    with world.process() as process:
        seen = [outcomes(process.agent(providers=[failing]))[failing] for _ in range(MAX_FAILURES + 1)]
    failures = MAX_FAILURES - is_written
    assert seen == ["upstream_error"] * failures + ["circuit_open"] * (len(seen) - failures)
    world.remove(failing)


def forget_runs(world: World) -> None:
    """As if there never was one."""
    table, dynamodb = world.table("ledger-internal"), world.store.clients.dynamodb
    found = dynamodb.query(
        TableName=table, KeyConditionExpression="pk = :pk", ExpressionAttributeValues={":pk": {"S": "HEALTH"}}
    )
    for row in found["Items"]:
        dynamodb.delete_item(TableName=table, Key={"pk": row["pk"], "sk": row["sk"]})


@pytest.mark.parametrize("operation", ["UpdateItem", "PutItem"], ids=["when_it_has_begun", "while_it_writes"])
def test_killed_within_a_run_of_the_probe_the_next_one_that_is_due_does_it(
    world: World, clock: SkippingClock, operation: str
) -> None:
    forget_runs(world)
    running = Rule(fault=Hangs(is_done=True), operation=operation, partition="HEALTH")
    killed_at(world, running, "probe", {})

    with world.process() as process:
        assert process.probe()["providers"] is None, "it may still go on"
        clock.ahead_s = EVERY_S + 1
        probed = process.probe()["providers"]
    assert (probed["lookedAt"], probed["faults"], probed["states"]) == (2, 0, {"healthy": 2, "unchecked": 1})
    records = asyncio.run(world.store.health_reader().records())
    assert {each.provider_id for each in records.providers} == world.all
    assert records.finished.looked_at == 2
