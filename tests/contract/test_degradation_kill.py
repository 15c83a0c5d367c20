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

from shared.domain.allowances import LEASE_S, Allowance
from shared.domain.pools import Pool
from tests.contract.degraded import ACQUIRE, PROVIDERS, URL, World, a_world, event_for
from tests.contract.worlds import Clients
from tests.support.fault_proxy import Hangs, Late, Rule

pytestmark = [pytest.mark.emulator]


class Victim:
    """One function in a process of its own, in the middle of one request."""

    def __init__(self, world: World, function: str, event: Mapping[str, Any]) -> None:
        reading, writing = os.pipe()
        local = {
            "KG_ALLOW_LOOPBACK_HTTP": "true",
            "KG_LOCAL_ORIGINS": json.dumps({"exa": world.service.origin}),
            "POWERTOOLS_LOG_LEVEL": "CRITICAL",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.contract.function_process", function, str(writing)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=(writing,),
            env={**os.environ, **world.proxy.before(world.environment), **local},
            text=True,
        )
        os.close(writing)
        self._answers = os.fdopen(reading, encoding="utf-8")
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(event) + "\n")
        self._process.stdin.flush()

    def kill(self) -> None:
        """It had not answered."""
        self._process.send_signal(signal.SIGKILL)
        assert self._process.wait(20) == -signal.SIGKILL
        assert self._answers.read() == ""
        self._answers.close()
        assert self._process.stdin is not None
        self._process.stdin.close()


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
