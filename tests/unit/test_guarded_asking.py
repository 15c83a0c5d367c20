"""Asking behind circuits: who is asked, what is told of the others, and what is written."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from shared.domain.circuits import WELL, Circuit, CircuitState, Lane, revision_of
from shared.domain.deadlines import Deadline
from shared.domain.journal import Happening
from shared.domain.outcomes import OutcomeCode, OutcomeStatus
from shared.domain.passages import Question, Retrieval
from shared.domain.registrations import ProviderKind, Source
from shared.errors import ConnectionFailed, ExchangeError, Refused, Unavailable
from shared.observability import CIRCUIT_CHANGED, CIRCUITS_UNKNOWN, CIRCUITS_UNWRITTEN, PROVIDER_AUTO_DISABLED
from shared.ports.circuits import KnownCircuits
from shared.ports.retriever import RetrieverLimits
from shared.services import circuit_door
from shared.services.circuit_keeper import CircuitKeeper
from shared.services.fan_out import FanOut, Inquiry, Replies
from shared.services.guarded_asking import GuardedAsking
from tests.support.builders import NOW, a_passage, a_source
from tests.support.fakes import FakeClock, FakeUnsealer
from tests.support.health_fakes import FakeCircuitStore, FakeJournal
from tests.support.search_stage import RecordedLog

Act = Callable[[], Awaitable[Retrieval]]
SUCCESS, SKIPPED, FAILED = OutcomeStatus.SUCCESS, OutcomeStatus.SKIPPED, OutcomeStatus.FAILED


class PlayingAsker:
    """Plays the act of a source, else finds one passage; `asked` in the order of asking."""

    limits = RetrieverLimits(query_characters=1024, results=50, timeout_s=10.0)

    def __init__(self) -> None:
        self.acts: dict[str, Act] = {}
        self.asked: list[str] = []

    async def ask(self, source: Source, _question: Question, *, unsealer: Any, deadline: Any) -> Retrieval:
        self.asked.append(source.id)
        act = self.acts.get(source.id)
        return await act() if act else Retrieval(passages=(a_passage(),))


class Scene:
    """One lane over a store that several instances may share."""

    def __init__(self, *, lane: Lane = Lane.AGENT, store: FakeCircuitStore | None = None) -> None:
        self.clock = FakeClock()
        self.log: Any = RecordedLog()
        self.store = store or FakeCircuitStore()
        self.customers = FakeCircuitStore()
        self.journal = FakeJournal(self.clock)
        self.asker = PlayingAsker()
        fan_out = FanOut(askers={ProviderKind.CONTRACT: self.asker}, clock=self.clock, logger=self.log)
        keeper = CircuitKeeper(
            lane=lane,
            circuits=self.store,
            journal=self.journal,
            customer_circuits=self.customers if lane is Lane.AGENT else None,
            clock=self.clock,
            logger=self.log,
            jitter=lambda: 0.0,
        )
        self.guarded = GuardedAsking(fan_out=fan_out, keeper=keeper, clock=self.clock)

    def search(self, *sources: Source, within_s: float = 10.0, known: KnownCircuits | None = None) -> Replies:
        return asyncio.run(self._search(sources, within_s=within_s, known=known))

    async def _search(self, sources: Sequence[Source], *, within_s: float, known: KnownCircuits | None) -> Replies:
        inquiries = [Inquiry(source=s, question=Question(query="x"), unsealer=FakeUnsealer()) for s in sources]
        known = known or await self.guarded.known()
        deadline = Deadline.after(within_s, now_s=self.clock.monotonic())
        replies = await self.guarded.ask(inquiries, known=known, deadline=deadline, request_id="r")
        assert asyncio.all_tasks() == {asyncio.current_task()}
        assert [reply.source.id for reply in replies] == [source.id for source in sources]
        return replies

    def fails(self, source: Source, error: BaseException) -> Source:
        async def act() -> Retrieval:
            raise error

        self.asker.acts[source.id] = act
        return source

    def recovers(self, source: Source) -> None:
        self.asker.acts.pop(source.id)

    def circuit(self, source: Source) -> Circuit:
        return self.store.circuits.get(source.id, WELL)

    def set(self, source: Source, **over: Any) -> Source:
        self.store.circuits[source.id] = Circuit(revision=revision_of(source), **over)
        self.store.version += 1
        return source


def told(replies: Replies) -> list[tuple[str, str | None]]:
    return [(reply.outcome.status.value, reply.outcome.error_code) for reply in replies]


# --- the healthy state --------------------------------------------------------------------------------


def test_where_all_are_well_nothing_is_written_and_no_incident_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene()
    made: list[Any] = []
    monkeypatch.setattr(circuit_door, "Incident", lambda **fields: made.append(fields))
    replies = scene.search(*(a_source() for _ in range(5)))
    assert told(replies) == [("success", None)] * 5
    assert (scene.store.reads, scene.store.writes, made) == (1, 0, [])


def test_somebody_elses_open_circuit_costs_a_well_source_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene()
    scene.set(a_source(), open_until=NOW + 30)
    made: list[Any] = []
    monkeypatch.setattr(circuit_door, "Incident", lambda **fields: made.append(fields))
    assert told(scene.search(a_source())) == [("success", None)]
    assert (scene.store.writes, made) == (0, [])


@pytest.mark.parametrize("code", ["missing_input", "query_too_long", "not_configured", "keys_exhausted"])
def test_what_says_nothing_about_the_source_is_not_written(code: str) -> None:
    scene = Scene()
    source = scene.fails(a_source(), Refused(code))
    for _ in range(6):
        scene.search(source)
    assert scene.store.writes == 0


# --- opening ------------------------------------------------------------------------------------------


def test_three_failures_in_a_row_and_the_source_is_left_alone_and_the_others_are_asked() -> None:
    scene = Scene()
    down, sound = scene.fails(a_source(), ConnectionFailed()), a_source()
    for _ in range(3):
        assert told(scene.search(down, sound)) == [("failed", "connection_failed"), ("success", None)]
    scene.asker.asked.clear()
    first, second = scene.search(down, sound)
    assert (first.outcome.status, first.outcome.error_code) == (SKIPPED, OutcomeCode.CIRCUIT_OPEN)
    assert first.outcome.retry_at == NOW + 30
    assert second.outcome.status is SUCCESS
    assert scene.asker.asked == [sound.id]
    assert scene.store.writes == 3


def test_all_that_one_search_changes_is_one_write() -> None:
    scene = Scene()
    failing = [scene.fails(a_source(), ConnectionFailed()) for _ in range(4)]
    scene.search(*failing, a_source())
    assert scene.store.writes == 1
    assert {scene.circuit(source).failures for source in failing} == {1}


def test_a_success_between_failures_begins_the_count_anew() -> None:
    scene = Scene()
    source = scene.fails(a_source(), ConnectionFailed())
    scene.search(source)
    scene.search(source)
    scene.recovers(source)
    scene.search(source)
    assert scene.circuit(source) is WELL
    scene.fails(source, ConnectionFailed())
    scene.search(source)
    assert scene.circuit(source).failures == 1


@pytest.mark.parametrize("code", ["rate_limited", "upstream_error"])
def test_a_source_that_says_when_to_come_back_is_believed_at_once_and_for_an_hour_at_most(code: str) -> None:
    scene = Scene()
    source = scene.fails(a_source(), Refused(code, retry_at=NOW + 9_999_999))
    scene.search(source)
    (reply,) = scene.search(source)
    assert reply.outcome.retry_at == NOW + 3_600
    assert scene.circuit(source).failures == 0


def test_a_caller_in_a_hurry_opens_no_circuit() -> None:
    scene = Scene()

    async def never() -> Retrieval:
        await asyncio.Event().wait()
        raise AssertionError

    slow = a_source()
    scene.asker.acts[slow.id] = never
    for _ in range(4):
        assert told(scene.search(slow, within_s=0.01)) == [("failed", "timeout")]
    assert scene.store.writes == 0


# --- trials -------------------------------------------------------------------------------------------


def test_when_the_wait_is_over_one_request_is_the_trial_and_the_others_do_not_ask() -> None:
    scene = Scene()
    source = scene.set(a_source(), failures=3, openings=1, open_until=NOW - 1)
    other = Scene(store=scene.store)
    seen: list[list[tuple[str, str | None]]] = []

    async def asked_meanwhile() -> Retrieval:
        inquiry = Inquiry(source=source, question=Question(query="x"), unsealer=FakeUnsealer())
        known = await other.guarded.known()
        deadline = Deadline.after(10, now_s=other.clock.monotonic())
        seen.append(told(await other.guarded.ask([inquiry], known=known, deadline=deadline, request_id="r")))
        return Retrieval()

    scene.asker.acts[source.id] = asked_meanwhile
    assert told(scene.search(source)) == [("empty", None)]
    assert seen == [[("skipped", "circuit_open")]]
    assert other.asker.asked == []
    assert scene.circuit(source) is WELL


def test_a_trial_that_fails_opens_for_twice_as_long() -> None:
    scene = Scene()
    source = scene.set(a_source(), failures=3, openings=1, open_until=NOW - 1)
    scene.fails(source, ConnectionFailed())
    assert told(scene.search(source)) == [("failed", "connection_failed")]
    assert scene.circuit(source).open_until == NOW + 60


def test_a_trial_that_says_nothing_is_given_back() -> None:
    scene = Scene()
    source = scene.set(a_source(), failures=3, openings=1, open_until=NOW - 1)
    scene.fails(source, Refused("missing_input"))
    scene.search(source)
    assert (scene.circuit(source).trial_id, scene.circuit(source).state_at(NOW)) == ("", CircuitState.HALF_OPEN)
    scene.recovers(source)
    assert told(scene.search(source)) == [("success", None)]


def slow_for(scene: Scene, source: Source, *, patience_s: float) -> None:
    """It answers, but not in `patience_s`."""

    async def act() -> Retrieval:
        await asyncio.sleep(patience_s * 2)
        return Retrieval(passages=(a_passage(),))

    scene.asker.acts[source.id] = act


def test_among_callers_in_a_hurry_a_patient_one_gets_its_trial_at_its_first_attempt() -> None:
    scene, hurried_s = Scene(), 0.01
    source = scene.set(a_source(), failures=3, openings=1, open_until=NOW - 31)
    slow_for(scene, source, patience_s=hurried_s)
    assert told(scene.search(source, within_s=hurried_s)) == [("failed", "timeout")], "nobody patient came"
    for _ in range(50):  # of whom each would have been next
        scene.clock.advance(0.5)
        assert told(scene.search(source, within_s=hurried_s)) == [("skipped", "circuit_open")]
    assert told(scene.search(source)) == [("success", None)]
    assert scene.circuit(source) is WELL
    assert scene.asker.asked == [source.id] * 2


def test_callers_in_a_hurry_alone_try_again_after_thirty_seconds_and_can_close_it() -> None:
    scene, hurried_s = Scene(), 0.05
    source = scene.set(a_source(), failures=3, openings=1, open_until=NOW - 29)
    assert told(scene.search(source, within_s=hurried_s)) == [("skipped", "circuit_open")]
    scene.clock.advance(1)
    assert told(scene.search(source, within_s=hurried_s)) == [("success", None)]
    assert scene.circuit(source) is WELL


def test_one_that_was_found_well_between_reading_and_claiming_is_asked_without_a_trial() -> None:
    scene = Scene()
    source = scene.set(a_source(), failures=3, openings=1, open_until=NOW - 1)
    scene.store.meanwhile.append(lambda _circuits: {source.id: WELL})
    assert told(scene.search(source)) == [("success", None)]
    assert scene.circuit(source) is WELL


def test_a_slow_claim_keeps_no_other_source_waiting() -> None:
    """The claim is let go only once the other source has been asked and has answered."""
    scene = Scene()
    waiting = scene.set(a_source(), failures=3, openings=1, open_until=NOW - 1)
    answered: list[str] = []

    async def scenery() -> Replies:
        free = asyncio.Event()

        async def act() -> Retrieval:
            answered.append("sound")
            free.set()
            return Retrieval()

        scene.store.pause = free.wait
        scene.asker.acts[sound.id] = act
        return await scene._search([waiting, sound], within_s=10, known=None)

    sound = a_source()
    replies = asyncio.run(scenery())
    assert answered == ["sound"]
    assert told(replies) == [("success", None), ("empty", None)]


def test_a_claim_that_is_too_slow_is_over_by_the_deadline_and_the_source_is_not_asked() -> None:
    scene = Scene()
    waiting, sound = scene.set(a_source(), failures=3, openings=1, open_until=NOW - 31), a_source()

    async def for_ever() -> None:
        await asyncio.Event().wait()

    scene.store.pause = for_ever
    assert told(scene.search(waiting, sound, within_s=0.05)) == [("skipped", "circuit_open"), ("success", None)]
    assert scene.asker.asked == [sound.id]


def test_a_store_that_refuses_the_claim_leaves_the_source_alone_and_harms_nobody() -> None:
    scene = Scene()
    waiting, sound = scene.set(a_source(), failures=3, openings=1, open_until=NOW - 1), a_source()

    async def refuse() -> None:
        raise Unavailable

    scene.store.pause = refuse
    waited, asked = scene.search(waiting, sound)
    assert (waited.outcome.error_code, waited.outcome.retry_at) == (OutcomeCode.CIRCUIT_OPEN, NOW + 1)
    assert asked.outcome.status is SUCCESS


# --- out of use ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "times"),
    [(Refused("unauthorized"), 3), (Refused("forbidden"), 3), (Refused("invalid_response"), 5)],
    ids=["unauthorized", "forbidden", "invalid_response"],
)
def test_refused_credentials_and_broken_contracts_take_a_source_out_of_use_on_both_lanes(
    error: ExchangeError, times: int
) -> None:
    scene = Scene()
    source = scene.fails(a_source(), error)
    for _ in range(times):
        assert told(scene.search(source)) == [("failed", error.code)]
    (reply,) = scene.search(source)
    assert (reply.outcome.status, reply.outcome.error_code) == (SKIPPED, OutcomeCode.DISABLED)
    assert reply.outcome.retry_at is None
    assert scene.customers.circuits[source.id].disabled_at == NOW
    scene.clock.advance(100_000)
    assert told(scene.search(source)) == [("skipped", "disabled")]
    assert len(scene.log.of(PROVIDER_AUTO_DISABLED)) == 1


@pytest.mark.parametrize(
    ("left_s", "expected_s"),
    [(10.0, (0.03, 0.3)), (0.1, (0.03, 0.13)), (0.0, (0.03, 0.03))],
    ids=["much", "little", "none"],
)
def test_taking_a_source_out_of_use_ends_hardly_later_than_the_deadline(
    monkeypatch: pytest.MonkeyPatch, left_s: float, expected_s: tuple[float, float]
) -> None:
    scene = Scene()
    source, bounds = a_source(), []

    async def act() -> Retrieval:
        scene.clock.advance(20 - left_s)
        raise Refused("unauthorized")

    async def settle(_keeper: Any, _incidents: Any, **limits: Any) -> None:
        bounds.append((limits["within_s"], limits["whole_within_s"]))

    scene.asker.acts[source.id] = act
    monkeypatch.setattr(CircuitKeeper, "settle", settle)
    scene.search(source, within_s=20)
    assert bounds == [pytest.approx(expected_s)]


def test_customers_failures_open_their_own_circuit_and_never_take_a_source_out_of_use() -> None:
    scene = Scene(lane=Lane.CUSTOMER)
    source = scene.fails(a_source(), Refused("unauthorized"))
    for _ in range(3):
        scene.search(source)
    assert told(scene.search(source)) == [("skipped", "circuit_open")]
    assert scene.circuit(source).disabled_at == 0
    assert scene.customers.writes == 0


def test_another_revision_of_the_registration_begins_anew_but_stays_out_of_use() -> None:
    scene = Scene()
    opened, lost = a_source(generation=2), a_source(generation=2)
    scene.store.circuits = {
        opened.id: Circuit(revision="1", failures=3, openings=1, open_until=NOW + 30),
        lost.id: Circuit(revision="1", disabled_at=NOW - 5),
    }
    scene.store.version = 1
    assert told(scene.search(opened, lost)) == [("success", None), ("skipped", "disabled")]


# --- the journal, and a store that fails --------------------------------------------------------------


def test_openings_and_closings_are_noted_and_logged_and_counts_are_not() -> None:
    scene = Scene()
    source = scene.fails(a_source(), ConnectionFailed())
    for _ in range(3):
        scene.search(source)
    scene.recovers(source)
    scene.clock.advance(31)
    scene.search(source)
    happened = [Happening.CIRCUIT_OPENED, Happening.CIRCUIT_CLOSED]
    assert [entry.happening for entry in scene.journal.entries] == happened
    assert [line["happening"] for line in scene.log.of(CIRCUIT_CHANGED)] == happened


@pytest.mark.parametrize("failure", [Unavailable(), ValueError("x")], ids=["unavailable", "unforeseen"])
def test_circuits_that_cannot_be_read_hold_nobody_back(failure: Any) -> None:
    scene = Scene()
    source = scene.set(a_source(), open_until=NOW + 30)
    scene.store.failure = failure
    assert told(scene.search(source)) == [("success", None)]
    assert len(scene.log.of(CIRCUITS_UNKNOWN)) == 1


@pytest.mark.parametrize("failure", [Unavailable(), ValueError("x")], ids=["unavailable", "unforeseen"])
def test_what_cannot_be_written_is_dropped(failure: Any) -> None:
    scene = Scene()
    source = scene.fails(a_source(), ConnectionFailed())
    scene.store.failure = failure
    assert told(scene.search(source, known=KnownCircuits())) == [("failed", "connection_failed")]
    assert len(scene.log.of(CIRCUITS_UNWRITTEN)) == 1


def test_a_write_that_never_ends_is_dropped_and_leaves_nothing_behind() -> None:
    scene = Scene()
    source = scene.fails(a_source(), ConnectionFailed())

    async def for_ever() -> None:
        await asyncio.Event().wait()

    scene.store.pause = for_ever
    assert told(scene.search(source)) == [("failed", "connection_failed")]
    assert len(scene.log.of(CIRCUITS_UNWRITTEN)) == 1


def test_a_journal_that_fails_keeps_no_circuit_from_opening() -> None:
    scene = Scene()
    source = scene.fails(a_source(), ConnectionFailed())
    scene.journal.failure = Unavailable()
    for _ in range(3):
        scene.search(source)
    assert told(scene.search(source)) == [("skipped", "circuit_open")]


def test_cancelling_it_cancels_every_question() -> None:
    scene = Scene()
    waiting, sound = scene.set(a_source(), failures=3, openings=1, open_until=NOW - 1), a_source()
    begun: list[str] = []

    def hanging(name: str) -> Act:
        async def act() -> Retrieval:
            begun.append(name)
            await asyncio.Event().wait()
            raise AssertionError

        return act

    async def scenery() -> bool:
        scene.asker.acts |= {waiting.id: hanging("trial"), sound.id: hanging("other")}
        search = asyncio.ensure_future(scene._search([waiting, sound], within_s=60, known=None))
        while len(begun) < 2:
            await asyncio.sleep(0)
        search.cancel()
        await asyncio.gather(search, return_exceptions=True)
        return asyncio.all_tasks() == {asyncio.current_task()}

    assert asyncio.run(scenery())
