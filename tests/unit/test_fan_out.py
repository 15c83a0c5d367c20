from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import replace
from typing import Any

import pytest

from shared.domain.deadlines import Deadline
from shared.domain.exposure import ExposureProfile
from shared.domain.outcomes import OutcomeCode, OutcomeStatus
from shared.domain.passages import Question, Retrieval, Warning_
from shared.domain.registrations import ProviderKind, Source
from shared.domain.replies import Reply
from shared.errors import (
    BlockedAddress,
    ConnectionFailed,
    ExchangeError,
    ExchangeTimeout,
    NotAsked,
    Refused,
    ResponseTooLarge,
    Unavailable,
)
from shared.observability import PROVIDER_FAULT
from shared.services.ask_signed import AskSigned
from shared.services.fan_out import FanOut, Inquiry
from tests.support.builders import NOW, a_passage, a_source
from tests.support.fakes import FakeClock, FakeUnsealer
from tests.support.search_stage import (
    Act,
    NoExchanges,
    RecordedLog,
    ScriptedRetriever,
    answering,
    passages,
    raising,
    sealed_for,
)

SECRET = "kgs_" + "5c" * 32
PREVIOUS = "kgs_" + "0d" * 32
PUBLIC = ExposureProfile.CUSTOMER_SAFE


class Bench:
    def __init__(self, **retriever: Any) -> None:
        self.clock = FakeClock()
        self.log = RecordedLog()
        self.retriever = ScriptedRetriever(**retriever)
        self.exchanges = NoExchanges()
        self.unsealer = FakeUnsealer(exposure=PUBLIC)
        self.fan_out = FanOut(
            askers={
                ProviderKind.CONTRACT: AskSigned(retriever=self.retriever, exchanges=self.exchanges, clock=self.clock)
            },
            clock=self.clock,
            logger=self.log,
        )

    def source(self, act: Act, **over: Any) -> Source:
        source = a_source(**over)
        source = replace(source, signing=sealed_for(source.id, SECRET, exposure=PUBLIC))
        self.retriever.acts[source.id] = act
        return source

    async def ask(self, *sources: Source, deadline_s: float = 5.0, **question: Any) -> tuple[Reply, ...]:
        asked = Question(**{"query": "ferry pass", **question})
        inquiries = [Inquiry(source=source, question=asked, unsealer=self.unsealer) for source in sources]
        deadline = Deadline.after(deadline_s, now_s=self.clock.monotonic())
        return await self.fan_out.ask(inquiries, deadline=deadline, request_id="r-1")


def run(work: Any) -> Any:
    """Runs to the end and checks that no task was left behind."""

    async def checked() -> Any:
        result = await work
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left, left
        return result

    return asyncio.run(checked())


async def hang(_question: Question) -> Retrieval:
    await asyncio.Event().wait()
    raise AssertionError


def codes(replies: tuple[Reply, ...]) -> list[OutcomeCode | None]:
    return [reply.outcome.error_code for reply in replies]


def test_replies_come_in_the_order_of_the_inquiries_whoever_answers_first() -> None:
    bench = Bench()

    async def slowly(_question: Question) -> Retrieval:
        await asyncio.sleep(0.05)
        return Retrieval(passages=passages(1))

    slow, fast = bench.source(slowly), bench.source(answering(*passages(2)))
    replies = run(bench.ask(slow, fast))
    assert [reply.source.id for reply in replies] == [slow.id, fast.id]
    assert [reply.outcome.result_count for reply in replies] == [1, 2]


def test_all_are_asked_at_once() -> None:
    bench = Bench()
    arrived: list[int] = []
    everybody = asyncio.Event()

    async def wait_for_the_others(_question: Question) -> Retrieval:
        arrived.append(1)
        if len(arrived) == 20:
            everybody.set()
        await everybody.wait()
        return Retrieval()

    replies = run(bench.ask(*(bench.source(wait_for_the_others) for _ in range(20))))
    assert {reply.outcome.status for reply in replies} == {OutcomeStatus.EMPTY}


def test_one_that_hangs_is_cancelled_at_the_deadline_and_counts_as_timeout() -> None:
    bench = Bench()
    sources = [bench.source(answering(*passages(1))) for _ in range(3)]
    hanging = bench.source(hang)
    begun = time.monotonic()
    replies = run(bench.ask(*sources, hanging, deadline_s=0.3))
    assert 0.29 <= time.monotonic() - begun < 2.0
    assert codes(replies) == [None, None, None, OutcomeCode.TIMEOUT]
    assert replies[3].outcome.status is OutcomeStatus.FAILED


def test_one_that_ignores_its_cancellation_is_not_waited_for() -> None:
    bench = Bench()
    release = asyncio.Event()

    async def stubborn(_question: Question) -> Retrieval:
        while not release.is_set():
            try:
                await asyncio.wait_for(release.wait(), 5)
            except asyncio.CancelledError:
                continue
        raise RuntimeError("too late to matter")

    async def scene() -> tuple[Reply, ...]:
        begun = time.monotonic()
        replies = await bench.ask(bench.source(stubborn), deadline_s=0.1)
        assert time.monotonic() - begun < 2.0
        release.set()
        await asyncio.sleep(0.05)  # its error is taken, not reported by the loop
        return replies

    assert codes(run(scene())) == [OutcomeCode.TIMEOUT]


def test_an_answer_that_comes_while_being_cancelled_is_late_all_the_same() -> None:
    bench = Bench()

    async def at_the_last_moment(_question: Question) -> Retrieval:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return Retrieval(passages=passages(1))

    (reply,) = run(bench.ask(bench.source(at_the_last_moment), deadline_s=0.1))
    assert (reply.outcome.error_code, reply.passages) == (OutcomeCode.TIMEOUT, ())


def test_cancelling_the_search_cancels_every_question_and_leaves_nothing_behind() -> None:
    bench = Bench()
    ended: list[str] = []

    async def noting(_question: Question) -> Retrieval:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")
        raise AssertionError

    async def scene() -> None:
        search = asyncio.create_task(bench.ask(bench.source(noting), bench.source(noting)))
        await asyncio.sleep(0.02)
        search.cancel()
        with pytest.raises(asyncio.CancelledError):
            await search

    run(scene())
    assert ended == ["cancelled", "cancelled"]


def test_a_deadline_that_has_passed_gives_timeouts_and_no_error() -> None:
    bench = Bench()
    assert codes(run(bench.ask(bench.source(hang), deadline_s=0))) == [OutcomeCode.TIMEOUT]


def test_nobody_to_ask_is_no_reply() -> None:
    assert run(Bench().ask()) == ()


@pytest.mark.parametrize(
    "error",
    [KeyError("secret words"), asyncio.CancelledError(), RecursionError(), MemoryError(), TypeError(), TimeoutError()],
)
def test_an_error_of_any_kind_costs_its_own_source_alone_and_is_logged_by_its_place(error: BaseException) -> None:
    bench = Bench()
    broken, sound = bench.source(raising(error)), bench.source(answering(*passages(1)))
    replies = run(bench.ask(broken, sound))
    assert codes(replies) == [OutcomeCode.INTERNAL_ERROR, None]
    assert replies[0].outcome.status is OutcomeStatus.FAILED
    (line,) = bench.log.of(PROVIDER_FAULT)
    assert line["provider"] == broken.id
    assert line["fault"].startswith(f"{type(error).__name__} at search_stage.py:")
    assert "secret words" not in str(bench.log.lines)


def test_a_retriever_that_cancels_its_own_task_costs_its_own_source_alone() -> None:
    bench = Bench()

    async def suicidal(_question: Question) -> Retrieval:
        asyncio.current_task().cancel()
        await asyncio.sleep(1)
        raise AssertionError

    replies = run(bench.ask(bench.source(suicidal), bench.source(answering(*passages(1)))))
    assert codes(replies) == [OutcomeCode.INTERNAL_ERROR, None]


def test_a_retriever_that_returns_nonsense_costs_its_own_source_alone() -> None:
    bench = Bench()

    async def nonsense(_question: Question) -> Any:
        return {"results": []}

    replies = run(bench.ask(bench.source(nonsense), bench.source(answering(*passages(1)))))
    assert codes(replies) == [OutcomeCode.INTERNAL_ERROR, None]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ExchangeTimeout(), OutcomeCode.TIMEOUT),
        (ConnectionFailed(), OutcomeCode.CONNECTION_FAILED),
        (BlockedAddress(), OutcomeCode.BLOCKED_ADDRESS),
        (ResponseTooLarge(), OutcomeCode.RESPONSE_TOO_LARGE),
        (Refused("unauthorized"), OutcomeCode.UNAUTHORIZED),
        (Refused("forbidden"), OutcomeCode.FORBIDDEN),
        (Refused("rate_limited"), OutcomeCode.RATE_LIMITED),
        (Refused("invalid_response"), OutcomeCode.INVALID_RESPONSE),
        (Refused("a word nobody knows"), OutcomeCode.UPSTREAM_ERROR),
    ],
)
def test_a_failed_exchange_becomes_that_sources_code(error: ExchangeError, code: OutcomeCode) -> None:
    bench = Bench()
    (reply,) = run(bench.ask(bench.source(raising(error))))
    assert (reply.outcome.status, reply.outcome.error_code) == (OutcomeStatus.FAILED, code)
    assert bench.log.lines == []


def test_one_that_cannot_be_asked_for_that_is_skipped() -> None:
    bench = Bench()
    (reply,) = run(bench.ask(bench.source(raising(NotAsked("capability_unavailable")))))
    assert (reply.outcome.status, reply.outcome.error_code) == (
        OutcomeStatus.SKIPPED,
        OutcomeCode.CAPABILITY_UNAVAILABLE,
    )


def test_when_to_come_back_is_passed_on() -> None:
    bench = Bench()
    (reply,) = run(bench.ask(bench.source(raising(Refused("rate_limited", retry_at=NOW + 40)))))
    assert reply.outcome.retry_at == NOW + 40


def test_a_query_over_the_kinds_limit_is_not_sent_and_not_cut() -> None:
    bench = Bench(query_characters=10)
    (reply,) = run(bench.ask(bench.source(answering(*passages(1))), query="x" * 11))
    assert (reply.outcome.status, reply.outcome.error_code) == (OutcomeStatus.SKIPPED, OutcomeCode.QUERY_TOO_LONG)
    assert bench.retriever.asked == []
    (reply,) = run(bench.ask(bench.source(answering(*passages(1))), query="x" * 10))
    assert reply.outcome.status is OutcomeStatus.SUCCESS


@pytest.mark.parametrize(("asked", "sent"), [(3, 3), (7, 7), (50, 7)])
def test_each_is_asked_for_no_more_than_its_kind_returns(asked: int, sent: int) -> None:
    bench = Bench(results=7)
    run(bench.ask(bench.source(answering()), limit=asked))
    assert bench.retriever.asked[0][1].limit == sent


def test_a_surplus_that_the_retriever_let_through_is_cut_with_a_warning() -> None:
    bench = Bench()

    async def generous(_question: Question) -> Retrieval:
        return Retrieval(passages=passages(5))

    (reply,) = run(bench.ask(bench.source(generous), limit=2))
    assert len(reply.passages) == 2
    assert reply.outcome.warnings == (Warning_.SURPLUS_CUT,)
    assert reply.outcome.truncated


def test_a_kind_that_this_process_does_not_know_is_not_configured() -> None:
    bench = Bench()
    fan_out = FanOut(askers={}, clock=bench.clock, logger=bench.log)
    inquiry = Inquiry(source=bench.source(answering()), question=Question(query="x"), unsealer=bench.unsealer)
    (reply,) = run(fan_out.ask([inquiry], deadline=Deadline.after(1, now_s=1_000.0), request_id="r-1"))
    assert (reply.outcome.status, reply.outcome.error_code) == (OutcomeStatus.SKIPPED, OutcomeCode.NOT_CONFIGURED)


def test_the_line_to_a_source_ends_at_the_kinds_own_limit_or_the_deadline_whichever_is_first() -> None:
    bench = Bench(timeout_s=10.0)
    source = bench.source(answering())
    run(bench.ask(source, deadline_s=25.0))
    run(bench.ask(source, deadline_s=3.0))
    assert [at_s - bench.clock.monotonic() for _, at_s in bench.exchanges.opened] == [10.0, 3.0]


def test_the_secret_is_opened_for_its_owner_and_handed_to_the_retriever() -> None:
    bench = Bench()
    run(bench.ask(bench.source(answering())))
    secrets = bench.retriever.asked[0][2]
    assert (secrets.current, secrets.previous) == (SECRET, None)
    assert SECRET not in repr(secrets)


@pytest.mark.parametrize(("until", "previous"), [(NOW + 1, PREVIOUS), (NOW, None), (NOW - 1, None)])
def test_the_replaced_secret_goes_along_while_its_window_is_open(until: float, previous: str | None) -> None:
    bench = Bench()
    source = bench.source(answering())
    sealed = sealed_for(source.id, PREVIOUS, exposure=PUBLIC, purpose="signing_previous")
    bench.retriever.acts[source.id] = answering()
    run(bench.ask(replace(source, signing_previous=sealed, signing_previous_until=until)))
    assert bench.retriever.asked[0][2].previous == previous


def test_a_secret_that_does_not_open_costs_its_own_source_alone_and_nothing_is_sent() -> None:
    bench = Bench()
    foreign = replace(
        bench.source(answering(*passages(1))),
        signing=sealed_for("cs_bbbbbbbbbbbbbbbb", SECRET, exposure=PUBLIC),
    )
    sound = bench.source(answering(*passages(1)))
    replies = run(bench.ask(foreign, sound))
    assert codes(replies) == [OutcomeCode.NOT_CONFIGURED, None]
    assert replies[0].outcome.status is OutcomeStatus.SKIPPED
    assert bench.retriever.asked_ids == [sound.id]


def test_a_secret_of_the_other_exposure_does_not_open() -> None:
    bench = Bench()
    source = bench.source(answering())
    internal = sealed_for(source.id, SECRET, exposure=ExposureProfile.AGENT_ONLY)
    assert codes(run(bench.ask(replace(source, signing=internal)))) == [OutcomeCode.NOT_CONFIGURED]


def test_a_key_service_that_says_when_to_come_back_is_passed_on() -> None:
    bench = Bench()
    bench.unsealer.failure = Unavailable(code="secrets_unavailable", retry_after_s=7)
    (reply,) = run(bench.ask(bench.source(answering())))
    assert (reply.outcome.error_code, reply.outcome.retry_at) == (OutcomeCode.NOT_CONFIGURED, NOW + 7)


def test_opening_a_secret_counts_against_the_deadline() -> None:
    bench = Bench()

    async def never(*_args: Any, **_named: Any) -> str:
        await asyncio.Event().wait()
        raise AssertionError

    bench.unsealer.unseal = never  # type: ignore[method-assign]
    assert codes(run(bench.ask(bench.source(answering()), deadline_s=0.1))) == [OutcomeCode.TIMEOUT]
    assert bench.retriever.asked == []


def test_how_long_a_source_took_is_told() -> None:
    bench = Bench()

    async def for_two_seconds(_question: Question) -> Retrieval:
        bench.clock.advance(2)
        return Retrieval(passages=(a_passage(),))

    (reply,) = run(bench.ask(bench.source(for_two_seconds)))
    assert reply.outcome.duration_ms == 2000


def test_many_searches_in_a_row_work_on_one_loop_also_after_one_that_timed_out() -> None:
    bench = Bench()
    sound, hanging = bench.source(answering(*passages(1))), bench.source(hang)

    async def scene() -> None:
        for turn in range(50):
            with_hanging = (hanging,) if turn % 10 == 0 else ()
            replies = await bench.ask(sound, *with_hanging, deadline_s=0.05 if with_hanging else 5)
            assert replies[0].outcome.status is OutcomeStatus.SUCCESS

    run(scene())
