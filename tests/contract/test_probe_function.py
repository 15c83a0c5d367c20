"""The probe function as it is deployed: its own wiring over the embedded backend, beside the admin and the search."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from functions.probe.run import Probe
from functions.probe.wiring import wired
from functions.search.routes import api_for
from functions.search.wiring import wired as wired_search
from shared.adapters.clock import SystemClock
from shared.adapters.health_items import place_of_run
from shared.adapters.journal_reader import DynamoJournalReader
from shared.domain.circuits import WELL, Circuit, CircuitState, Lane, circuit_of
from shared.domain.health import HealthState
from shared.domain.journal import Happening
from shared.domain.registrations import Provider
from shared.observability import PROBE_INTERRUPTED
from shared.ports.circuits import KnownCircuits
from tests.contract.admin_process import Process
from tests.contract.worlds import StoreWorld
from tests.support.admin_stage import PROVIDERS, event_of
from tests.support.hostile_provider import HostileProvider, hostile_provider
from tests.support.probe_stage import a_circuit
from tests.support.service_calls import asked_of, heard

pytestmark = [pytest.mark.emulator]

LOOPBACK = {"KG_ALLOW_LOOPBACK_HTTP": "true"}
WRITES = {"UpdateItem", "PutItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"}


class Context:
    def get_remaining_time_in_millis(self) -> int:
        return 60_000


class Prober:
    """One process of the function. Each run is due: the last one is made to have begun long ago."""

    def __init__(self, environment: dict[str, str], store: StoreWorld) -> None:
        self.parts = wired(environment | LOOPBACK)
        self._probe = Probe(self.parts)
        self._store = store

    def run(self) -> dict[str, Any] | None:
        self.make_due()
        return self.run_if_due()

    def run_if_due(self) -> dict[str, Any] | None:
        done: Any = self._probe.run(Context())["providers"]
        return done

    def states(self) -> dict[str, int]:
        done = self.run()
        assert done is not None
        return dict(done["states"])

    def make_due(self) -> None:
        make_due(self._store)


def make_due(store: StoreWorld) -> None:
    place = place_of_run()
    if "Item" not in store.clients.dynamodb.get_item(TableName=store.internal_ledger, Key=place):
        return
    store.clients.dynamodb.update_item(
        TableName=store.internal_ledger,
        Key=place,
        UpdateExpression="SET started_at = :long_ago REMOVE lease_until",
        ExpressionAttributeValues={":long_ago": {"N": "0"}},
    )


@pytest.fixture
def admin(aws_environment: dict[str, str]) -> Iterator[Process]:
    process = Process(aws_environment)
    yield process
    process.close()


@pytest.fixture
def prober(aws_environment: dict[str, str], store: StoreWorld) -> Iterator[Prober]:
    prober = Prober(aws_environment, store)
    yield prober
    prober.parts.loop.close()


@pytest.fixture
def server() -> Iterator[HostileProvider]:
    with hostile_provider() as running:
        yield running


def registered(admin: Process, base_url: str, *, exposure: str = "customer_safe") -> str:
    wanted = {"name": f"Help {exposure} {base_url[-12:]}", "exposureProfile": exposure, "baseUrl": base_url}
    made = admin.call("POST", PROVIDERS, wanted)
    assert made.status == 201, made.text
    tested = admin.call("POST", f"{PROVIDERS}/{made.json['id']}/test", {"query": "ferry pass", "activate": True})
    assert tested.json["activated"], tested.text
    return str(made.json["id"])


def provider_of(store: StoreWorld, provider_id: str) -> Provider:
    return next(each for each in asyncio.run(store.catalog().providers()) if each.id == provider_id)


def test_a_run_over_all_that_is_well_reads_six_times_and_writes_twice(
    admin: Process, store: StoreWorld, aws_environment: dict[str, str], server: HostileProvider
) -> None:
    for exposure in ("customer_safe", "agent_only"):
        registered(admin, server.url("good"), exposure=exposure)
    calls: list[str] = []
    with heard(asked_of(calls)):
        prober = Prober(aws_environment, store)
        try:
            assert prober.states() == {"healthy": 2}
            first = Counter(calls)
            make_due(store)
            calls.clear()
            assert prober.run_if_due() is not None
        finally:
            prober.parts.loop.close()

    assert first["PutItem"] == 2
    # The claim and the end of the run; the book, the circuits of each lane, both generations, deleted collections.
    assert Counter(calls) == {"UpdateItem": 2, "Query": 2, "BatchGetItem": 3}


def test_one_that_dies_is_down_after_three_runs_and_well_again_within_one(
    admin: Process,
    store: StoreWorld,
    prober: Prober,
    aws_environment: dict[str, str],
    server: HostileProvider,
) -> None:
    with server.best_behaviour():
        provider_id = registered(admin, server.url("close"))
        assert prober.states() == {"healthy": 1}
    seen = [prober.states() for _ in range(4)]
    assert seen == [{"failing": 1}, {"failing": 1}, {"down": 1}, {"down": 1}]
    provider, now = provider_of(store, provider_id), time.time()
    for lane in Lane:
        opened = a_circuit(provider, failures=3, open_until=now + 600, openings=4)
        asyncio.run(store.circuits(lane).change(lambda _: {provider_id: opened}, known=KnownCircuits()))  # noqa: B023

    with server.best_behaviour():
        assert prober.states() == {"healthy": 1}
        assert {circuit(store, provider, lane).state_at(now + 60) for lane in Lane} == {CircuitState.HALF_OPEN}
        outcomes = searched(admin, aws_environment)
    assert outcomes == [{"id": provider_id, "status": "success"}]
    assert circuit(store, provider, Lane.AGENT) is WELL
    assert circuit(store, provider, Lane.CUSTOMER).state_at(now + 60) is CircuitState.HALF_OPEN
    reader = DynamoJournalReader(store.clients.dynamodb, table=store.internal_ledger, clock=SystemClock())
    told = asyncio.run(reader.latest(provider_id, limit=20))
    assert [each.state for each in reversed(told) if each.happening is Happening.STATE_CHANGED] == [
        "failing",
        "down",
        "healthy",
    ]
    half_opened = [each.lane for each in told if each.happening is Happening.CIRCUIT_HALF_OPENED]
    assert sorted(lane for lane in half_opened if lane is not None) == [Lane.AGENT, Lane.CUSTOMER]


def circuit(store: StoreWorld, provider: Provider, lane: Lane) -> Circuit:
    return circuit_of(provider.source, asyncio.run(store.circuits(lane).read()).circuits)


def searched(admin: Process, environment: dict[str, str]) -> list[dict[str, str]]:
    token = admin.call("POST", "/api/v1/credentials", {"class": "agt", "name": "Agent"}).json["token"]
    parts = wired_search(environment | LOOPBACK)
    try:
        event = event_of("search_agent")
        event["headers"]["authorization"] = f"Bearer {token}"
        event["body"] = json.dumps({"query": "ferry pass"})
        answered = api_for(parts).handle(event, None)
    finally:
        parts.loop.close()
    outcomes = json.loads(answered["body"])["providers"]
    return [{"id": each["id"], "status": each["status"]} for each in outcomes]


def test_of_many_at_once_one_looks(
    admin: Process, store: StoreWorld, aws_environment: dict[str, str], server: HostileProvider
) -> None:
    registered(admin, server.url("good"))
    probers = [Prober(aws_environment, store) for _ in range(6)]
    for _ in range(3):
        make_due(store)
        server.requests.clear()
        with ThreadPoolExecutor(len(probers)) as pool:
            done = list(pool.map(lambda prober: prober.run_if_due(), probers))
        assert sum(each is not None for each in done) == 1
        assert len([each for each in server.requests if each.is_capabilities]) == 1
    for prober in probers:
        prober.parts.loop.close()


def test_every_secret_that_is_wrong_shows_within_one_run(
    admin: Process, store: StoreWorld, prober: Prober, server: HostileProvider
) -> None:
    with server.best_behaviour():
        for exposure in ("customer_safe", "agent_only"):
            registered(admin, server.url("unauthorized"), exposure=exposure)
        assert prober.states() == {"healthy": 2}

    assert prober.states() == {"refused": 2}


@pytest.mark.parametrize("table", ["KG_TABLE_LEDGER_INTERNAL", "KG_TABLE_REGISTRATIONS_PUBLIC"])
def test_a_store_that_is_away_for_looking_does_not_keep_collections_from_being_cleared(
    aws_environment: dict[str, str], caplog: pytest.LogCaptureFixture, table: str
) -> None:
    parts = wired(aws_environment | {table: "no-such-table"})
    done = Probe(parts).run(Context())
    parts.loop.close()

    assert done == {"providers": None, "finished": 0, "isDone": True}
    assert PROBE_INTERRUPTED in caplog.messages


def test_cards_that_are_away_do_not_keep_providers_from_being_looked_at(
    admin: Process, store: StoreWorld, aws_environment: dict[str, str], server: HostileProvider
) -> None:
    registered(admin, server.url("good"))
    parts = wired(aws_environment | LOOPBACK | {"KG_TABLE_CARDS": "no-such-table"})
    done: Any = Probe(parts).run(Context())
    parts.loop.close()

    assert done["providers"]["states"] == {HealthState.HEALTHY: 1}
    assert done["isDone"] is False


def test_a_fault_in_looking_does_not_keep_collections_from_being_cleared(
    aws_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = wired(aws_environment)

    async def broken(**_: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(type(parts.probe_providers), "__call__", lambda self, **over: broken(**over))
    assert Probe(parts).run(Context()) == {"providers": None, "finished": 0, "isDone": True}
    parts.loop.close()


def test_with_too_little_time_left_no_run_is_claimed(
    store: StoreWorld, prober: Prober, aws_environment: dict[str, str]
) -> None:
    class Hurried:
        def get_remaining_time_in_millis(self) -> int:
            return 17_000

    assert Probe(prober.parts).run(Hurried())["providers"] is None
    assert asyncio.run(store.health_book().records()).run is None
