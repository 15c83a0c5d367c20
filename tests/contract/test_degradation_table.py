"""What becomes of each function when a part of the backend is away, held to the table of docs/architecture.md.

Each case is tried on a process that has answered before and on one that never did; what a cell says is read off the
answers. Afterwards the same process answers as always, and holds on to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pytest

from shared.adapters import aws
from tests.contract.degraded import ORIGIN, Process, World, a_world, outcomes
from tests.contract.worlds import Clients
from tests.support.admin_stage import Answered
from tests.support.fault_proxy import (
    DENIES,
    FAILS,
    THROTTLES,
    Breaks,
    Fault,
    Garbles,
    Hangs,
    LeavesForLater,
    Rule,
    Says,
)

pytestmark = [pytest.mark.emulator]

DOCUMENT = Path(__file__).parents[2] / "docs" / "architecture.md"
CALLS: Final[dict[str, Callable[[Process], Answered]]] = {
    "agents' search": lambda p: p.agent(collections=[p.world.collection], deadlineMs=8_000),
    "assistants' search": lambda p: p.assistant(deadlineMs=8_000),
    "widget": lambda p: p.visitor(),
    "look-ups": lambda p: p.lookup(),
    "fetching": lambda p: p.acquire(),
    "admin": lambda p: p.operator(),
}


@dataclass(frozen=True)
class Case:
    """`faults` all come to the same; each call meets a rule of its own. `table` is the name of one."""

    faults: dict[str, Fault]
    service: str = ""
    table: str = ""
    partition: str = ""
    times: int | None = None

    def rule(self, world: World, fault: Fault) -> Rule:
        table = world.table(self.table) if self.table else ""
        return Rule(fault=fault, service=self.service, table=table, partition=self.partition, times=self.times)


AWAY: Final[dict[str, Fault]] = {
    "throttles": THROTTLES,
    "fails": FAILS,
    "denies": DENIES,
    "breaks": Breaks(),
    "garbles": Garbles(),
}
OF_ONE_TABLE: Final[dict[str, Fault]] = {"denies": DENIES}
CASES: Final[dict[str, Case]] = {
    "DynamoDB, for one call": Case({"throttles": THROTTLES, "breaks": Breaks()}, service="dynamodb", times=1),
    "DynamoDB": Case(AWAY, service="dynamodb"),
    "`registrations-public`": Case(OF_ONE_TABLE, table="registrations-public"),
    "`registrations-internal`": Case(OF_ONE_TABLE, table="registrations-internal"),
    "`cards`": Case(OF_ONE_TABLE, table="cards"),
    "`ledger-public`": Case(OF_ONE_TABLE, table="ledger-public"),
    "`ledger-internal`": Case(OF_ONE_TABLE, table="ledger-internal"),
    "the rows of circuits": Case(
        {"denies": DENIES, "leaves_for_later": LeavesForLater(partition="CIRCUITS")}, partition="CIRCUITS"
    ),
    "the rows of pools": Case(OF_ONE_TABLE, partition="POOL#"),
    "KMS": Case({"throttles": Says("ThrottlingException"), "garbles": Garbles()}, service="kms"),
    "Secrets Manager": Case({"fails": Says("InternalServiceError", status=500)}, service="secretsmanager"),
}
REFUSED: Final = "all of them"  # nobody even takes a connection
MAY_HANG: Final = ("DynamoDB", "the rows of pools", "KMS", "Secrets Manager")
TRIALS: Final = [(name, how) for name, case in CASES.items() for how in case.faults] + [(REFUSED, "refused")]


def told(answered: Answered, world: World) -> str:
    """What a caller gets, in the words of the table."""
    if answered.status != 200:
        assert answered.status == 503, answered.text
        return "503"
    lacks = ["from memory"] if "X-Knowledge-Degraded" in answered.headers else []
    if answered.json.get("cardsStatus", "complete") != "complete":
        lacks.append("without cards")
    if "providers" in answered.json and "requestId" in answered.json:
        lacks += _silent(answered, world)
    elif answered.json.get("results") == []:
        lacks.append("without results")
    return ", ".join(lacks) or "as always"


def _silent(answered: Answered, world: World) -> list[str]:
    by_id = outcomes(answered)
    silent = {id_ for id_, how in by_id.items() if how != "success"}
    assert set(by_id) == world.all
    assert {by_id[id_] for id_ in silent} <= {"not_configured"}
    for each in answered.json["providers"]:
        assert each["id"] not in silent or each["retryAt"], "it says when to come back"
    names = {frozenset({world.public, world.internal}): "without contract providers"}
    names |= {frozenset({world.live}): "without live services"}
    return [name for ids, name in names.items() if ids & silent and ids <= silent]


@pytest.fixture(scope="module")
def world(emulator: str, emulator_clients: Clients) -> Iterator[World]:
    with a_world(emulator, emulator_clients, prefix="table", read_timeout_s=2.0) as world:
        yield world


@pytest.fixture(scope="module")
def warm(world: World) -> Iterator[Process]:
    """Has lived through all cases so far."""
    with world.process() as process:
        for call in CALLS.values():
            assert told(call(process), world) == "as always"
        yield process


def during(world: World, name: str, how: str) -> AbstractContextManager[object]:
    if name == REFUSED:
        return world.proxy.refusing()
    case = CASES[name]
    return world.proxy.doing(case.rule(world, Hangs() if how == "hangs" else case.faults[how]))


NEW: Final = "; a new process: "


def observed(world: World, warm: Process, name: str, how: str) -> dict[str, str]:
    """Each call meets a fault of its own."""
    cells = {}
    with world.process() as new:
        for function, call in CALLS.items():
            heard = []
            for process in (warm, new):
                with during(world, name, how):
                    heard.append(told(call(process), world))
            cells[function] = heard[0] if heard[0] == heard[1] else NEW.join(heard)
    return cells


def table() -> dict[str, dict[str, str]]:
    """By row and column, as it is written."""
    section = DOCUMENT.read_text(encoding="utf-8").partition("## When the backend has a bad day")[2]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:1] == "|"]
    head, _, *lines = rows[: 2 + len(CASES) + 1]
    return {cells[0]: dict(zip(head[1:], cells[1:], strict=True)) for cells in lines}


@pytest.mark.parametrize(("name", "how"), TRIALS, ids=[f"{name}-{how}" for name, how in TRIALS])
def test_the_table_says_what_happens(world: World, warm: Process, name: str, how: str) -> None:
    assert observed(world, warm, name, how) == table()[name]
    for function, call in CALLS.items():
        assert told(call(warm), world) == "as always", f"{function}, when it is over"
    warm.settle()
    assert warm.tasks() == 0


@pytest.mark.parametrize("name", ["DynamoDB", "`cards`"])
def test_a_tool_answers_as_its_rest_function_does(world: World, name: str) -> None:
    def search(process: Process) -> Answered:
        return process.tool("knowledge_search", query="ferry pass", collections=[world.collection], deadlineMs=8_000)

    def look_up(process: Process) -> Answered:
        return process.tool("glossary_lookup", collectionId=world.collection, terms=["ferry pass"])

    of_a_page = {"KG_MCP_ORIGINS": ORIGIN}
    with world.process(**of_a_page) as warm, world.process(**of_a_page) as new:
        assert told(search(warm), world) == told(look_up(warm), world) == "as always"
        for column, tool in (("agents' search", search), ("look-ups", look_up)):
            heard = []
            for process in (warm, new):
                with during(world, name, "denies"):
                    heard.append(told(tool(process), world))
            assert (heard[0] if heard[0] == heard[1] else NEW.join(heard)) == table()[name][column]


@pytest.mark.parametrize("name", MAY_HANG)
def test_what_hangs_comes_to_the_same_as_what_fails(world: World, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting takes its time, so those alone are asked who come to wait for it."""
    monkeypatch.setattr(aws, "PATIENCE", replace(aws.PATIENCE, read_s=0.25))
    with world.process() as warm, world.process() as new:
        for function, cell in table()[name].items():
            expected, is_told_apart, of_new = cell.partition(NEW)
            if expected != "as always":
                assert any(told(CALLS[function](warm), world) == "as always" for _ in range(5))
                with during(world, name, "hangs"):
                    assert told(CALLS[function](warm), world) == expected
            if is_told_apart:
                with during(world, name, "hangs"):
                    assert told(CALLS[function](new), world) == of_new


def test_the_table_has_a_row_for_each_case_and_no_other() -> None:
    assert list(table()) == [*CASES, REFUSED]
    assert all(list(cells) == list(CALLS) for cells in table().values())
