"""The admin function as it is deployed, over ledgers that other functions have written: health, and putting back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

import boto3
import pytest

from shared.adapters.circuits import DynamoCircuits
from shared.adapters.clock import SystemClock
from shared.adapters.health_book import DynamoHealthBook
from shared.adapters.journal import DynamoJournal
from shared.adapters.keys import key_of
from shared.adapters.row_reads import RowReads
from shared.domain.circuits import WELL, Circuit, Lane
from shared.domain.health import HealthState, Look, ProbeRun, ProviderHealth
from shared.domain.journal import Happening, JournalEntry
from shared.domain.outcomes import OutcomeCode
from tests.contract.admin_process import Process
from tests.support.admin_stage import AUDIT, PROVIDERS, Answered
from tests.support.hostile_provider import HostileProvider, hostile_provider

pytestmark = pytest.mark.emulator

HEALTH = "/api/v1/knowledge/health"
LEDGERS = {Lane.AGENT: "KG_TABLE_LEDGER_INTERNAL", Lane.CUSTOMER: "KG_TABLE_LEDGER_PUBLIC"}
T = TypeVar("T")


class Ledgers:
    """What searches and the probe write, beside the admin function."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.tables = {lane: environment[name] for lane, name in LEDGERS.items()}
        self.dynamodb = boto3.client("dynamodb")
        self.clock = SystemClock()

    def circuits(self, lane: Lane) -> DynamoCircuits:
        return DynamoCircuits(self.dynamodb, reads=RowReads(self.dynamodb), table=self.tables[lane])

    def lose(self, provider_id: str) -> None:
        now = self.clock.now()
        lost = Circuit(refusals=3, disabled_at=now, last_code=OutcomeCode.UNAUTHORIZED, last_at=now)
        for lane in Lane:
            _run(self._change, lane, {provider_id: lost})
            entry = JournalEntry(
                provider_id=provider_id,
                at=now,
                happening=Happening.AUTO_DISABLED,
                state="auto_disabled",
                lane=lane,
                code=OutcomeCode.UNAUTHORIZED,
            )
            _run(DynamoJournal(self.dynamodb, table=self.tables[lane]).note, [entry])

    def look(self, *healths: ProviderHealth) -> None:
        """A whole run of the probe."""
        book = DynamoHealthBook(self.dynamodb, table=self.tables[Lane.AGENT], clock=self.clock)
        now = self.clock.now()
        assert _run(book.begin, "r1", now=now, every_s=1.0, lease_s=60.0)
        _run(book.keep, healths, forget=())
        _run(book.finish, ProbeRun(run_id="r1", started_at=now, looked_at=len(healths)))

    def spoil(self, lane: Lane) -> None:
        key = key_of("CIRCUITS", "-")
        self.dynamodb.put_item(TableName=self.tables[lane], Item={**key, "version": {"S": "?"}, "c_x": {"S": "?"}})

    async def _change(self, lane: Lane, circuits: dict[str, Circuit]) -> None:
        store = self.circuits(lane)
        await store.change(lambda _: circuits, known=await store.read())

    def known(self, lane: Lane, provider_id: str) -> Circuit:
        return _run(self.circuits(lane).read).circuits.get(provider_id, WELL)


def _run(work: Callable[..., Awaitable[T]], *args: Any, **named: Any) -> T:
    async def one() -> T:
        return await work(*args, **named)

    return asyncio.run(one())


@pytest.fixture(scope="module")
def hostile() -> Iterator[HostileProvider]:
    with hostile_provider() as provider:
        yield provider


@pytest.fixture
def process(aws_environment: dict[str, str]) -> Iterator[Process]:
    process = Process(aws_environment)
    yield process
    process.close()


@pytest.fixture
def ledgers(aws_environment: dict[str, str]) -> Ledgers:
    return Ledgers(aws_environment)


def an_active(process: Process, hostile: HostileProvider, exposure: str = "customer_safe") -> str:
    body = {"name": f"Help {exposure}", "exposureProfile": exposure, "baseUrl": hostile.url("good")}
    created = process.call("POST", PROVIDERS, body)
    path = created.headers["Location"]
    report = process.call("POST", f"{path}/test", {"query": "ferry pass", "activate": True})
    assert report.json["activated"], report.text
    return path


def switch_on(process: Process, path: str) -> Answered:
    return process.call("PATCH", path, {"status": "active"}, if_match=process.call("GET", path).etag)


def test_what_others_have_written_is_told_and_put_back(
    process: Process, hostile: HostileProvider, ledgers: Ledgers
) -> None:
    path = an_active(process, hostile)
    provider_id = path.rsplit("/", 1)[1]
    ledgers.lose(provider_id)

    assert process.call("GET", path).json["status"] == "auto_disabled"
    told = process.call("GET", f"{HEALTH}/{provider_id}").json
    assert (told["status"], told["provider"]["state"], told["unavailable"]) == ("down", "auto_disabled", [])
    assert [each["happening"] for each in told["history"]] == ["auto_disabled"] * 2

    back = switch_on(process, path)
    assert (back.status, back.json["status"], back.json["generation"]) == (200, "active", 3)
    assert [ledgers.known(lane, provider_id) for lane in Lane] == [Circuit(revision="3")] * 2
    history = process.call("GET", f"{HEALTH}/{provider_id}").json["history"]
    assert [each["happening"] for each in history] == ["put_back"] * 2 + ["auto_disabled"] * 2
    assert {each["lane"] for each in history[:2]} == {"agent", "customer"}
    entry = process.call("GET", AUDIT).json["entries"][0]
    assert (entry["before"], entry["after"]) == ({"status": "auto_disabled"}, {"status": "active"})


def test_a_passed_test_puts_it_back_and_a_plain_one_does_not(
    process: Process, hostile: HostileProvider, ledgers: Ledgers
) -> None:
    path = an_active(process, hostile, "agent_only")
    ledgers.lose(path.rsplit("/", 1)[1])

    process.call("POST", f"{path}/test", {"query": "ferry pass"})
    assert process.call("GET", path).json["status"] == "auto_disabled"
    assert process.call("POST", f"{path}/test", {"query": "ferry pass", "activate": True}).json["activated"]
    assert process.call("GET", path).json["status"] == "active"


def test_looks_are_told_with_their_run(process: Process, hostile: HostileProvider, ledgers: Ledgers) -> None:
    path = an_active(process, hostile)
    provider_id = path.rsplit("/", 1)[1]
    values = {"look": Look.CAPABILITIES, "state": HealthState.HEALTHY, "since": ledgers.clock.now()}
    ledgers.look(ProviderHealth(provider_id=provider_id, revision="2", **values))
    told = process.call("GET", HEALTH).json

    assert (told["status"], told["stale"], told["run"]["lookedAt"]) == ("healthy", False, 1)
    assert [(each["id"], each["state"]) for each in told["providers"]] == [(provider_id, "healthy")]
    assert [pool["pool"] for pool in told["pools"]] == ["context7", "exa", "firecrawl", "mintlify", "deepwiki"]


def test_an_agent_is_told_of_what_it_may_reach(process: Process, hostile: HostileProvider) -> None:
    own, other = (an_active(process, hostile, exposure) for exposure in ("customer_safe", "agent_only"))
    wanted = {"class": "agt", "name": "Tool", "allowedProviders": [own.rsplit("/", 1)[1]]}
    token = process.call("POST", "/api/v1/credentials", wanted).json["token"]
    bearer = {"authorization": f"Bearer {token}"}

    told = process.call("GET", HEALTH, **bearer).json
    assert [f"{PROVIDERS}/{each['id']}" for each in told["providers"]] == [own]
    assert process.call("GET", f"{HEALTH}/{other.rsplit('/', 1)[1]}", **bearer).status == 404
    assert process.call("GET", other, **bearer).status == 401


@pytest.mark.parametrize("lane", list(Lane))
def test_circuits_that_cannot_be_read_take_nothing_out_of_use(
    process: Process, hostile: HostileProvider, ledgers: Ledgers, lane: Lane
) -> None:
    path = an_active(process, hostile)
    ledgers.spoil(lane)

    assert process.call("GET", path).json["status"] == "active"
    told = process.call("GET", HEALTH)
    assert (told.status, json.loads(told.text)["providers"][0]["circuits"]["agent"]["state"]) == (200, "closed")


def test_a_provider_that_is_deleted_leaves_no_circuit(
    process: Process, hostile: HostileProvider, ledgers: Ledgers
) -> None:
    path = an_active(process, hostile)
    provider_id = path.rsplit("/", 1)[1]
    ledgers.lose(provider_id)

    assert process.call("DELETE", path, if_match=process.call("GET", path).etag).status == 204
    assert [ledgers.known(lane, provider_id) for lane in Lane] == [WELL, WELL]
