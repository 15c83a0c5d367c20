"""What operators write, over a store that conflicts, cancels, throttles, or loses its answer after the write."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from shared.adapters.clock import SystemClock
from tests.contract.degraded import PROVIDERS, Process, World, a_world, outcomes
from tests.contract.injected import SkippingClock
from tests.contract.worlds import Clients
from tests.support.admin_stage import Answered
from tests.support.fault_proxy import CONFLICTS, DENIES, FAILS, THROTTLES, Breaks, Fault, Garbles, Rule, Says

pytestmark = [pytest.mark.emulator]


@pytest.fixture(scope="module")
def world(emulator: str, emulator_clients: Clients) -> Iterator[World]:
    with a_world(emulator, emulator_clients, prefix="writes") as world:
        yield world


@pytest.fixture
def process(world: World) -> Iterator[Process]:
    with world.process() as process:
        yield process


def create(process: Process, name: str, **headers: str) -> Answered:
    body = {"name": name, "exposureProfile": "customer_safe", "baseUrl": "http://127.0.0.1:9"}
    return process.operator("POST", PROVIDERS, body, **headers)


def names(process: Process) -> set[str]:
    return {each["name"] for each in process.operator().json["providers"]}


def cancelled(process: Process, reason: str) -> Says:
    """A transaction like the one of a creation, cancelled for the sake of its last part."""
    create(process, f"Pattern {len(names(process))}")
    [*_, pattern] = [call for call in process.world.proxy.calls if call.operation == "TransactWriteItems"]
    parts = len(pattern.json["TransactItems"])
    return Says("TransactionCanceledException", reasons=("None",) * (parts - 1) + (reason,))


@pytest.mark.parametrize(
    "fault", [CONFLICTS, THROTTLES, FAILS, Breaks()], ids=["conflicts", "throttles", "fails", "breaks"]
)
def test_what_goes_wrong_once_is_tried_again_and_is_written_once(
    process: Process, fault: Fault, request: pytest.FixtureRequest
) -> None:
    name = f"Once {request.node.callspec.id}"
    with process.world.proxy.doing(Rule(fault=fault, operation="TransactWriteItems", times=1)) as rule:
        created = create(process, name)
    assert (created.status, rule.count) == (201, 1)
    assert created.json["secret"]
    assert create(process, name).code == "name_taken"


@pytest.mark.parametrize("fault", [Breaks(is_done=True), Breaks(in_answer=True)], ids=["lost", "cut_off"])
def test_what_was_written_while_its_answer_was_lost_is_there_once(
    process: Process, fault: Fault, request: pytest.FixtureRequest
) -> None:
    """The client repeats the very transaction. The embedded backend does not always know it again, AWS does."""
    name = f"Lost {request.node.callspec.id}"
    key = {"idempotency_key": name.replace(" ", "-")}
    with process.world.proxy.doing(Rule(fault=fault, operation="TransactWriteItems", times=1)):
        lost = create(process, name, **key)
    again = create(process, name, **key)
    assert lost.status in (201, 503)
    assert (again.status, again.json["secret"]) == (201, None)
    assert lost.status == 503 or lost.json["id"] == again.json["id"]
    assert create(process, name).code == "name_taken"


def test_a_conflict_within_a_transaction_is_tried_again(process: Process) -> None:
    fault = cancelled(process, "TransactionConflict")
    with process.world.proxy.doing(Rule(fault=fault, operation="TransactWriteItems", times=2)) as rule:
        assert create(process, "Twice").status == 201
    assert rule.count == 2


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [
        (CONFLICTS, 409, "busy"),
        (THROTTLES, 503, "store_unavailable"),
        (FAILS, 503, "store_unavailable"),
        (DENIES, 503, "store_unavailable"),
        (Garbles(), 503, "store_unavailable"),
        (Says("TransactionCanceledException"), 503, "store_unavailable"),
    ],
    ids=["conflicts", "throttles", "fails", "denies", "garbles", "cancels_for_no_reason"],
)
def test_what_stays_wrong_is_told_by_a_code_and_nothing_is_written(
    process: Process, fault: Fault, status: int, code: str
) -> None:
    with process.world.proxy.doing(Rule(fault=fault, operation="TransactWriteItems")):
        refused = create(process, f"Never {code}")
    assert (refused.status, refused.code) == (status, code)
    assert int(refused.headers["Retry-After"]) >= 1
    assert f"Never {code}" not in names(process)


@pytest.mark.parametrize(
    ("reason", "status"),
    [("ConditionalCheckFailed", 409), ("TransactionConflict", 409), ("ThrottlingError", 503)],
)
def test_a_cancelled_transaction_is_told_by_its_reason(process: Process, reason: str, status: int) -> None:
    fault = cancelled(process, reason)
    with process.world.proxy.doing(Rule(fault=fault, operation="TransactWriteItems")):
        assert create(process, f"Cancelled {status}").status == status


def test_secrets_that_were_opened_stay_open_for_five_minutes(
    world: World, process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a provider whose secret cannot be opened is not held to have failed."""
    clock = SkippingClock()
    monkeypatch.setattr(SystemClock, "now", clock.now)
    process.agent()
    with world.proxy.doing(Rule(fault=FAILS, service="kms")):
        clock.ahead_s = 290.0
        assert outcomes(process.agent())[world.public] == "success"
        clock.ahead_s = 310.0
        for _ in range(6):
            seen = outcomes(process.agent())
            assert (seen[world.public], seen[world.internal], seen[world.live]) == (
                "not_configured",
                "not_configured",
                "success",
            )
    assert set(outcomes(process.agent()).values()) == {"success"}
