"""What `ports.asker.Asker` promises, of both that implement it: one signs, one goes through a meter."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shared.domain.deadlines import Deadline
from shared.domain.live_configs import ENDPOINTS
from shared.domain.passages import Question, Retrieval
from shared.domain.pools import Pool
from shared.domain.registrations import ProviderKind, Source
from shared.errors import ExchangeTimeout, KeyRefused, Refused, Unavailable
from shared.ports.asker import Asker
from shared.ports.exchange import OutboundRequest
from shared.ports.meter import Attempt, Meter
from shared.services.ask_live import AskLive
from shared.services.ask_signed import AskSigned
from tests.support.builders import SIGNING_SECRET, a_passage, a_source
from tests.support.fake_exchanges import FakeExchanges, json_answer
from tests.support.fakes import FakeClock, FakeSealer, FakeUnsealer
from tests.support.live_fakes import ScriptedAsker, ScriptedLiveRetriever, ScriptedMeters
from tests.support.search_stage import ScriptedRetriever

ENDPOINT = ENDPOINTS[ProviderKind.EXA]
QUESTION = Question(query="night ferry", limit=3)
FOUND = Retrieval(passages=(a_passage(),))


class Live:
    """Over a service that is one request for each question."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.retriever = ScriptedLiveRetriever(timeout_s=25.0)
        self.exchanges = FakeExchanges(clock=self.clock, answer=json_answer({}))
        self.meters = ScriptedMeters(self.exchanges, clock=self.clock)
        self.asker: Asker = AskLive(
            retriever=self.retriever, meters=self.meters, pool=Pool.EXA, endpoint=ENDPOINT, clock=self.clock
        )

    async def ask(self, source: Source, *, seconds: float = 12.0) -> Retrieval:
        deadline = Deadline.after(seconds, now_s=self.clock.monotonic())
        return await self.asker.ask(source, QUESTION, unsealer=FakeUnsealer(), deadline=deadline)


async def _one_request(question: Question, meter: Meter) -> Retrieval:
    async def work(attempt: Attempt) -> Retrieval:
        await attempt.exchange.send(lambda: OutboundRequest(method="GET", url=f"{ENDPOINT}/search"))
        return FOUND

    return await meter.perform(work)


async def test_a_live_source_is_asked_at_the_service_and_nowhere_else() -> None:
    live, source = Live(), a_source(kind=ProviderKind.EXA, base_url="https://elsewhere.example.com")
    live.retriever.acts[source.id] = _one_request
    assert await live.ask(source) == FOUND
    at_service = replace(source, base_url=ENDPOINT)
    assert live.retriever.asked == [(at_service, QUESTION)]
    assert [(asked, pool) for asked, pool, _ in live.meters.opened] == [(at_service, Pool.EXA)]
    assert [sent.source for sent in live.exchanges.sent] == [at_service]


@pytest.mark.parametrize(("seconds", "most_s"), [(12.0, 12.0), (60.0, 25.0)])
async def test_a_live_source_has_its_own_time_inside_the_searchs(seconds: float, most_s: float) -> None:
    live = Live()
    await live.ask(a_source(kind=ProviderKind.EXA), seconds=seconds)
    [(_, _, deadline)] = live.meters.opened
    assert most_s - 0.5 < deadline.remaining_s(live.clock.monotonic()) <= most_s
    assert deadline.remaining_s(live.clock.monotonic()) < seconds, "what is left is for settling"


@pytest.mark.parametrize(
    "error", [ExchangeTimeout(), Refused("not_found"), KeyRefused("rate", until=60.0)], ids=lambda error: error.code
)
async def test_what_goes_wrong_at_a_live_source_is_passed_on(error: Exception) -> None:
    live, source = Live(), a_source(kind=ProviderKind.EXA)

    async def fails(question: Question, meter: Meter) -> Retrieval:
        raise error

    live.retriever.acts[source.id] = fails
    with pytest.raises(type(error)) as raised:
        await live.ask(source)
    assert raised.value is error


def a_signed_asker(retriever: ScriptedRetriever, clock: FakeClock) -> AskSigned:
    return AskSigned(retriever=retriever, exchanges=FakeExchanges(clock=clock), clock=clock)


async def test_a_signed_source_is_asked_with_its_secret() -> None:
    clock, retriever, source = FakeClock(), ScriptedRetriever(), a_source()
    sealed = await FakeSealer().seal(SIGNING_SECRET, owner_id=source.id, purpose="signing")
    source = replace(source, signing=sealed)
    deadline = Deadline.after(9, now_s=clock.monotonic())
    await a_signed_asker(retriever, clock).ask(source, QUESTION, unsealer=FakeUnsealer(), deadline=deadline)
    [(asked, question, secrets)] = retriever.asked
    assert (asked, question, secrets.current, secrets.previous) == (source, QUESTION, SIGNING_SECRET, None)


async def test_a_secret_that_cannot_be_opened_means_nothing_was_asked() -> None:
    clock, retriever, unsealer = FakeClock(), ScriptedRetriever(), FakeUnsealer()
    unsealer.failure = Unavailable(code="secrets_unavailable", retry_after_s=5)
    deadline = Deadline.after(9, now_s=clock.monotonic())
    with pytest.raises(Refused) as error:
        await a_signed_asker(retriever, clock).ask(a_source(), QUESTION, unsealer=unsealer, deadline=deadline)
    assert (error.value.code, error.value.retry_at) == ("not_configured", clock.now() + 5)
    assert retriever.asked == []


async def test_an_asker_tells_the_limits_of_its_retriever() -> None:
    live, retriever = Live(), ScriptedRetriever(query_characters=77)
    assert live.asker.limits == live.retriever.limits
    assert a_signed_asker(retriever, FakeClock()).limits == retriever.limits


async def test_the_scripted_asker_plays_its_part() -> None:
    asker, source = ScriptedAsker(), a_source()

    async def found(question: Question) -> Retrieval:
        return FOUND

    asker.acts[source.id] = found
    deadline = Deadline(at_s=1.0)
    assert await asker.ask(source, QUESTION, unsealer=FakeUnsealer(), deadline=deadline) == FOUND
    assert await asker.ask(a_source(), QUESTION, unsealer=FakeUnsealer(), deadline=deadline) == Retrieval()
    assert len(asker.asked) == 2
