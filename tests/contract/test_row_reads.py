"""Single rows that are asked for together: read by one call, told to each that asked."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from shared.adapters import batches
from shared.adapters.batches import MAX_BATCH
from shared.adapters.catalog import DynamoCatalog
from shared.adapters.circuits import DynamoCircuits
from shared.adapters.credentials import DynamoCredentials
from shared.adapters.customer_catalog import DynamoCustomerCatalog
from shared.adapters.event_loop import ProcessLoop
from shared.adapters.journal import DynamoJournal
from shared.adapters.row_reads import RowReads
from shared.domain.circuits import Effect, Incident, Lane
from shared.domain.deadlines import Deadline
from shared.domain.exposure import CredentialClass, Grant
from shared.domain.identifiers import new_token_secret
from shared.domain.outcomes import OutcomeCode
from shared.errors import Unavailable
from shared.ports.circuits import KnownCircuits
from shared.services.admit import Admit
from shared.services.admit_assistant import AdmitAssistant
from shared.services.admit_widget import AdmitWidget, WidgetVisit
from shared.services.at_once import opened
from shared.services.circuit_keeper import CircuitKeeper
from tests.contract.far_ahead import a_change
from tests.contract.stubs import Meddling, refusal
from tests.contract.worlds import StoreWorld
from tests.support.builders import a_credential, a_provider, a_token, an_internal_provider
from tests.support.fakes import FakeClock
from tests.support.search_stage import RecordedLog

ORIGIN = "https://help.fern-desk.test"
Place = tuple[str, str, str]


class Shelf:
    """A store of `rows`, which refuses what the service refuses; `at_once` rows a call, the rest is left for later.
    So are the rows `never`; a call that names a table of `closed` is refused whole.
    """

    def __init__(self, *rows: Place, at_once: int = MAX_BATCH, fault: Exception | None = None) -> None:
        self.rows = set(rows)
        self.at_once = at_once
        self.fault = fault
        self.never: set[Place] = set()
        self.closed: set[str] = set()
        self.asked: list[list[Place]] = []
        self.gate = threading.Event()
        self.gate.set()

    def batch_get_item(self, *, RequestItems: dict[str, Any]) -> dict[str, Any]:  # the service's own name
        places = [(table, *_named(key)) for table, one in RequestItems.items() for key in one["Keys"]]
        self.asked.append(places)
        assert self.gate.wait(10)
        assert all(one["Keys"] and one["ConsistentRead"] is True for one in RequestItems.values())
        if self.fault:
            raise self.fault
        if len(set(places)) != len(places) or not 0 < len(places) <= MAX_BATCH:
            raise refusal("ValidationException")
        if self.closed & set(RequestItems):
            raise refusal("AccessDeniedException")
        later = set(places[self.at_once :]) | (self.never & set(places))
        answer: dict[str, Any] = {"Responses": {table: [] for table in RequestItems}, "UnprocessedKeys": {}}
        for table, request in RequestItems.items():
            for key in request["Keys"]:
                place = (table, *_named(key))
                if place in later:
                    answer["UnprocessedKeys"].setdefault(table, {"Keys": [], "ConsistentRead": True})["Keys"].append(
                        key
                    )
                elif place in self.rows:
                    answer["Responses"][table].append(dict(key))
        return answer


def _named(key: dict[str, Any]) -> tuple[str, str]:
    return key["pk"]["S"], key["sk"]["S"]


def reads_of(shelf: Shelf) -> RowReads:
    return RowReads(shelf)  # type: ignore[arg-type]


async def found(reads: RowReads, *places: Place) -> list[bool]:
    """Whether each row is there; what comes is the row that was asked for."""
    rows = await asyncio.gather(*(reads.row(*place) for place in places))
    for row, (_, *name) in zip(rows, places, strict=True):
        assert row is None or list(_named(dict(row))) == name
    return [row is not None for row in rows]


A, B, C = ("public", "GENERATION", "-"), ("internal", "GENERATION", "-"), ("internal", "CREDENTIAL", "one")


async def test_rows_of_one_turn_are_one_call_whatever_their_tables() -> None:
    shelf = Shelf(A, B, C)
    assert await found(reads_of(shelf), A, B, C) == [True, True, True]
    assert [sorted(call) for call in shelf.asked] == [sorted([A, B, C])]


async def test_rows_that_tasks_ask_for_side_by_side_are_one_call() -> None:
    """Also when one asks from within a task more than the other."""
    shelf = Shelf(A, B, C)
    reads = reads_of(shelf)

    async def at_once(place: Place) -> Any:
        return await reads.row(*place)

    async def in_a_task(place: Place) -> Any:
        return await asyncio.gather(at_once(place))

    assert all(await asyncio.gather(at_once(A), in_a_task(B), at_once(C)))
    assert len(shelf.asked) == 1


async def test_rows_asked_for_one_after_the_other_are_read_one_after_the_other() -> None:
    shelf = Shelf(A)
    reads = reads_of(shelf)
    assert await found(reads, A) == [True]
    shelf.rows.clear()
    assert await found(reads, A) == [False]
    assert shelf.asked == [[A], [A]]


async def test_a_row_is_never_told_from_a_call_that_was_under_way_already() -> None:
    shelf = Shelf(A)
    shelf.gate.clear()
    reads = reads_of(shelf)
    first = asyncio.ensure_future(reads.row(*A))
    while not shelf.asked:
        await asyncio.sleep(0.001)
    second = asyncio.ensure_future(reads.row(*A))
    await asyncio.sleep(0)
    shelf.gate.set()
    assert await asyncio.gather(first, second) != [None, None]
    assert shelf.asked == [[A], [A]]


async def test_a_row_that_several_ask_for_is_named_once_and_told_to_all() -> None:
    shelf = Shelf(A, B)
    assert await found(reads_of(shelf), A, B, A, A) == [True] * 4
    assert [sorted(call) for call in shelf.asked] == [sorted([A, B])]


async def test_a_row_that_is_not_there_is_none() -> None:
    shelf = Shelf(B)
    assert await found(reads_of(shelf), A, B, C) == [False, True, False]


async def test_more_than_a_hundred_rows_are_several_calls() -> None:
    places = [("cards", "COLLECTION", str(number)) for number in range(MAX_BATCH + 1)]
    shelf = Shelf(*places)
    assert all(await found(reads_of(shelf), *places, *places))
    assert sorted(len(call) for call in shelf.asked) == [1, MAX_BATCH]


async def test_what_is_left_unprocessed_is_followed() -> None:
    shelf = Shelf(A, C, at_once=1)
    assert await found(reads_of(shelf), A, B, C) == [True, False, True]
    assert [len(call) for call in shelf.asked] == [3, 2, 1]


async def test_a_store_that_leaves_everything_for_later_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "_PAUSE_MS", 1)
    shelf = Shelf(A, at_once=0)
    with pytest.raises(Unavailable):
        await found(reads_of(shelf), A, B)
    assert 1 < len(shelf.asked) <= 10


async def test_a_failure_is_told_to_each_that_asked_by_an_exception_of_its_own() -> None:
    reads = reads_of(Shelf(A, B, fault=refusal("ThrottlingException")))
    problems = await asyncio.gather(*(reads.row(*place) for place in (A, B, A)), return_exceptions=True)
    assert [type(problem) for problem in problems] == [Unavailable] * 3
    assert len({id(problem) for problem in problems}) == 3


async def test_after_a_failure_the_next_read_is_a_new_one() -> None:
    shelf = Shelf(A, fault=refusal("InternalServerError"))
    reads = reads_of(shelf)
    with pytest.raises(Unavailable):
        await reads.row(*A)
    shelf.fault = None
    assert await found(reads, A) == [True]


async def test_a_fault_that_nobody_expects_leaves_nobody_waiting() -> None:
    reads = reads_of(Shelf(A, B, fault=ZeroDivisionError()))
    for problem in await asyncio.gather(reads.row(*A), reads.row(*B), return_exceptions=True):
        assert isinstance(problem, ZeroDivisionError)


@pytest.mark.parametrize("is_sent", [False, True])
async def test_one_that_is_cancelled_fails_no_other(is_sent: bool) -> None:
    shelf = Shelf(A, B)
    reads = reads_of(shelf)
    leaving, *staying = (asyncio.ensure_future(reads.row(*place)) for place in (A, A, B))
    shelf.gate.clear()
    while is_sent and not shelf.asked:
        await asyncio.sleep(0.001)
    leaving.cancel()
    await asyncio.sleep(0)
    shelf.gate.set()
    assert all(await asyncio.gather(*staying))
    assert leaving.cancelled()
    assert [sorted(call) for call in shelf.asked] == [sorted([A, B])]


async def test_what_nobody_waits_for_any_more_is_not_read() -> None:
    shelf = Shelf(A, B)
    reads = reads_of(shelf)
    leaving, staying = reads.row(*A), reads.row(*B)
    leaving.cancel()
    assert await staying
    reads.row(*A).cancel()
    for _ in range(5):
        await asyncio.sleep(0)
    assert shelf.asked == [[B]]


# --- rows that may be missed -----------------------------------------------------------------------


CIRCUITS = ("ledger", "CIRCUITS", "-")


async def read_with_circuits(reads: RowReads) -> list[Any]:
    """Two rows that are needed and one that is not, asked for at once: for each whether it is there, or what failed."""
    rows = reads.row(*A), reads.row(*CIRCUITS, is_needed=False), reads.row(*B)
    answers = await asyncio.gather(*rows, return_exceptions=True)
    return [type(answer) if isinstance(answer, BaseException) else answer is not None for answer in answers]


@pytest.mark.parametrize("is_there", [True, False])
async def test_a_row_that_is_not_needed_comes_with_the_others(is_there: bool) -> None:
    shelf = Shelf(A, B, *([CIRCUITS] if is_there else []))
    assert await read_with_circuits(reads_of(shelf)) == [True, is_there, True]
    assert len(shelf.asked) == 1


async def test_one_that_is_not_needed_and_stays_unprocessed_is_not_asked_for_again_and_fails_alone() -> None:
    shelf = Shelf(A, B, CIRCUITS)
    shelf.never = {CIRCUITS}
    assert await read_with_circuits(reads_of(shelf)) == [True, Unavailable, True]
    assert len(shelf.asked) == 1


async def test_what_is_needed_and_left_for_later_is_followed_without_what_is_not() -> None:
    shelf = Shelf(A, B, CIRCUITS, at_once=1)
    assert await read_with_circuits(reads_of(shelf)) == [True, Unavailable, True]
    assert shelf.asked[1:] == [[B]]


async def test_when_the_table_of_one_that_is_not_needed_is_refused_the_others_are_read_without_it() -> None:
    shelf = Shelf(A, B, CIRCUITS)
    shelf.closed = {"ledger"}
    assert await read_with_circuits(reads_of(shelf)) == [True, Unavailable, True]
    assert sorted(shelf.asked[1]) == sorted([A, B])


async def test_when_a_table_that_is_needed_is_refused_all_fail() -> None:
    shelf = Shelf(A, B, CIRCUITS)
    shelf.closed = {"public"}
    assert await read_with_circuits(reads_of(shelf)) == [Unavailable] * 3
    assert len(shelf.asked) == 2


async def test_a_refused_row_that_is_not_needed_is_asked_for_once_also_when_it_is_alone() -> None:
    shelf = Shelf(CIRCUITS)
    shelf.closed = {"ledger"}
    with pytest.raises(Unavailable):
        await reads_of(shelf).row(*CIRCUITS, is_needed=False)
    shelf.closed, shelf.never = set(), {CIRCUITS}
    with pytest.raises(Unavailable):
        await reads_of(shelf).row(*CIRCUITS, is_needed=False)
    assert len(shelf.asked) == 2


@pytest.mark.parametrize("needed_first", [True, False])
async def test_a_row_that_anybody_needs_is_needed(needed_first: bool) -> None:
    shelf = Shelf(A, B, at_once=1)
    reads = reads_of(shelf)
    rows = [reads.row(*B), *(reads.row(*A, is_needed=is_needed) for is_needed in (needed_first, not needed_first))]
    assert all(await asyncio.gather(*rows))


def test_the_same_reads_serve_invocation_after_invocation() -> None:
    shelf = Shelf(A, B)
    reads, loop = reads_of(shelf), ProcessLoop()
    for _ in range(3):
        assert loop.run(found(reads, A, B)) == [True, True]
    loop.close()
    assert len(shelf.asked) == 3


def test_a_read_that_was_never_sent_holds_up_no_later_one() -> None:
    """Its loop stopped in the very turn that it was asked for."""
    shelf = Shelf(A)
    reads = reads_of(shelf)

    async def ask_and_leave() -> None:
        reads.row(*A)

    for loop in (ProcessLoop(), ProcessLoop()):
        loop.run(ask_and_leave())
        assert loop.run(found(reads, A)) == [True]
        loop.run(ask_and_leave())
        loop.close()


# --- what opens a search ---------------------------------------------------------------------------


@pytest.mark.emulator
async def test_a_search_of_an_agent_opens_with_one_read(store: StoreWorld, calls: list[str]) -> None:
    secret = new_token_secret()
    credential = a_credential(secret=secret)
    await store.credential_store().create(credential, a_change())
    for provider in (a_provider(), an_internal_provider()):
        await store.registry().create(provider, a_change())
    client, reads = store.clients.dynamodb, store.row_reads()
    catalog = DynamoCatalog(client, reads=reads, public_table=store.public_table, internal_table=store.internal_table)
    keeper = keeper_of(store, Lane.AGENT, reads)
    admit = Admit(
        credentials=DynamoCredentials(reads, table=store.internal_table),
        rate_limits=store.rate_limits(),
        clock=store.clock,
    )
    token = a_token(credential, secret=secret)
    await catalog.providers()
    for is_known in (False, True):
        calls.clear()
        admission, reading = admit(token, classes=(CredentialClass.AGENT,)), keeper.beside(catalog.providers())
        _, (providers, known) = await opened(admission, reading, deadline=_soon(store.clock), clock=store.clock)
        assert (len(providers), known) == (2, KnownCircuits())
        assert sorted(calls) == ["BatchGetItem", "UpdateItem"], is_known


@pytest.mark.emulator
async def test_a_search_of_a_widget_opens_with_one_read(store: StoreWorld, calls: list[str]) -> None:
    secret = new_token_secret()
    widget = a_credential(secret=secret, credential_class=CredentialClass.PUBLIC, origins=(ORIGIN,))
    await store.credential_store().create(widget, a_change())
    await store.registry().create(a_provider(), a_change())
    reads = store.row_reads()
    catalog = DynamoCustomerCatalog(store.clients.dynamodb, reads=reads, table=store.public_table)
    admit = AdmitWidget(
        credentials=DynamoCredentials(reads, table=store.public_table),
        rate_limits=store.rate_limits(),
        clock=store.clock,
    )
    keeper = keeper_of(store, Lane.CUSTOMER, reads)
    visit = WidgetVisit(token=a_token(widget, secret=secret), origin=ORIGIN, address="203.0.113.7")
    await catalog.sources()
    for is_known in (False, True):
        calls.clear()
        reading = keeper.beside(catalog.sources())
        _, (sources, known) = await opened(admit(visit), reading, deadline=_soon(store.clock), clock=store.clock)
        assert (len(sources), known) == (1, KnownCircuits())
        assert sorted(calls) == ["BatchGetItem", "UpdateItem", "UpdateItem"], is_known


@pytest.mark.emulator
async def test_a_search_of_an_assistant_opens_with_one_read(store: StoreWorld, calls: list[str]) -> None:
    secret, assistant = new_token_secret(), CredentialClass.ASSISTANT
    credential = a_credential(secret=secret, credential_class=assistant, grants=frozenset({Grant.READ_PUBLIC}))
    await store.credential_store().create(credential, a_change())
    await store.registry().create(a_provider(), a_change())
    reads = store.row_reads()
    catalog = DynamoCustomerCatalog(store.clients.dynamodb, reads=reads, table=store.public_table)
    credentials = DynamoCredentials(reads, table=store.internal_table)
    admit = AdmitAssistant(admit=Admit(credentials=credentials, rate_limits=store.rate_limits(), clock=store.clock))
    keeper = keeper_of(store, Lane.CUSTOMER, reads)
    await catalog.sources()
    for is_known in (False, True):
        calls.clear()
        admission, reading = admit(a_token(credential, secret=secret)), keeper.beside(catalog.sources())
        _, (sources, known) = await opened(admission, reading, deadline=_soon(store.clock), clock=store.clock)
        assert (len(sources), known) == (1, KnownCircuits())
        assert sorted(calls) == ["BatchGetItem", "UpdateItem"], is_known


@pytest.mark.emulator
async def test_circuits_come_with_the_same_read_when_there_are_some(store: StoreWorld, calls: list[str]) -> None:
    provider = a_provider()
    await store.registry().create(provider, a_change())
    reads = store.row_reads()
    keeper = keeper_of(store, Lane.AGENT, reads)
    incident = Incident(revision="1", effect=Effect.TRANSIENT, code=OutcomeCode.TIMEOUT)
    await keeper.settle({provider.id: incident}, known=KnownCircuits(), within_s=10)
    catalog = DynamoCustomerCatalog(store.clients.dynamodb, reads=reads, table=store.public_table)
    await catalog.sources()
    calls.clear()
    _, known = await keeper.beside(catalog.sources())
    assert calls == ["BatchGetItem"]
    assert known.circuits[provider.id].failures == 1


def keeper_of(store: StoreWorld, lane: Lane, reads: RowReads) -> CircuitKeeper:
    client, ledger = store.clients.dynamodb, store.ledger_of(lane)
    circuits = DynamoCircuits(client, reads=reads, table=ledger)
    log: Any = RecordedLog()
    journal = DynamoJournal(client, table=ledger)
    return CircuitKeeper(lane=lane, circuits=circuits, journal=journal, clock=store.clock, logger=log)


@pytest.mark.emulator
async def test_rows_of_several_tables_come_from_the_store_as_they_are(store: StoreWorld) -> None:
    credential = a_credential()
    await store.credential_store().create(credential, a_change())
    await store.registry().create(a_provider(), a_change())
    client = Meddling(store.clients.dynamodb, "batch_get_item", lambda: None)
    reads = RowReads(client)  # type: ignore[arg-type]
    public, internal, missing = await asyncio.gather(
        reads.row(store.public_table, "GENERATION", "-"),
        reads.row(store.internal_table, "CREDENTIAL", credential.id),
        reads.row(store.internal_table, "CREDENTIAL", "b" * 16),
    )
    assert client.calls == ["batch_get_item"]
    assert public == _row(store, store.public_table, "GENERATION", "-")
    assert internal == _row(store, store.internal_table, "CREDENTIAL", credential.id)
    assert missing is None


def _row(store: StoreWorld, table: str, partition: str, sort: str) -> Any:
    key = {"pk": {"S": partition}, "sk": {"S": sort}}
    return store.clients.dynamodb.get_item(TableName=table, Key=key)["Item"]


def _soon(clock: FakeClock) -> Deadline:
    return Deadline.after(30, now_s=clock.monotonic())
