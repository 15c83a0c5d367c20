"""What `ports.live_retriever.Acquirer` promises, kept by Firecrawl: recorded shapes, and a real server on loopback."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from shared.adapters.clock import SystemClock
from shared.adapters.exchanges import PinnedExchanges
from shared.adapters.resolver import SystemResolver
from shared.domain.acquisitions import MAX_TEXT_CHARACTERS, Acquired, Wanted
from shared.domain.deadlines import Deadline
from shared.domain.live_configs import ExaConfig, FirecrawlConfig
from shared.domain.passages import FreshnessWish
from shared.domain.pools import Pool
from shared.domain.registrations import ProviderKind, Source
from shared.errors import ExchangeError, ExchangeTimeout, Refused, Unclear
from shared.ports.exchange import OutboundAnswer
from shared.providers.firecrawl import FirecrawlAcquirer
from shared.services import metering
from shared.services.metering import Metering
from tests.support.builders import a_source
from tests.support.fake_exchanges import FakeExchanges, Step
from tests.support.fakes import FakeClock
from tests.support.live_fakes import FakeAllowances, FakePoolKeys, FakePoolLedger
from tests.support.meters import ScriptedMeter
from tests.support.scripted_service import ScriptedService, scripted_service
from tests.support.search_stage import RecordedLog

FIXTURES = Path(__file__).parents[2] / "fixtures" / "providers" / "firecrawl"
URL = "https://docs.example.com/ferries/passes"
HOSTS = ("docs.example.com", "docs.example.org")
BASE_URL = "https://api.firecrawl.example/v2"


def cases(topic: str) -> Any:
    read = json.loads((FIXTURES / f"{topic}.json").read_text(encoding="utf-8"))["cases"]
    return pytest.mark.parametrize("case", read, ids=[case["name"].replace(" ", "_") for case in read])


def answer_of(recorded: dict[str, Any]) -> OutboundAnswer:
    """A body is JSON unless it is recorded raw."""
    raw = recorded.get("raw")
    body = raw if raw is not None else json.dumps(recorded["body"], ensure_ascii=False)
    headers = {"content-type": "application/json"} | recorded.get("headers", {})
    return OutboundAnswer(status=recorded["status"], headers=headers, body=body.encode())


def page(markdown: str, **metadata: Any) -> OutboundAnswer:
    every = {"sourceURL": URL, "url": URL, "statusCode": 200, "contentType": "text/html"} | metadata
    return answer_of({"status": 200, "body": {"success": True, "data": {"markdown": markdown, "metadata": every}}})


def a_firecrawl(**over: Any) -> Source:
    values: dict[str, Any] = {
        "kind": ProviderKind.FIRECRAWL,
        "base_url": BASE_URL,
        "config": FirecrawlConfig(approved_hosts=HOSTS),
        "signing": None,
    }
    return a_source(**values | over)


class Stage:
    """The kind over scripted lines, at a time that stands still, with two keys."""

    def __init__(self, *steps: Step, **source: Any) -> None:
        self.clock = FakeClock()
        self.exchanges = FakeExchanges(clock=self.clock)
        self.source = a_firecrawl(**source)
        self.exchanges.script(self.source.id, *steps)
        self.meter = ScriptedMeter(self.exchanges, self.source, clock=self.clock, keys=("k-demo", "k-spare"))
        self.acquirer = FirecrawlAcquirer(clock=self.clock, allow_test_names=False)

    def acquire(self, url: str = URL, *, freshness: str = "normal") -> Acquired:
        wanted = Wanted(url=url, freshness=FreshnessWish(freshness))
        return asyncio.run(self.acquirer.acquire(self.source, wanted, meter=self.meter))

    def refused(self, *, freshness: str = "normal") -> ExchangeError:
        with pytest.raises(ExchangeError) as caught:
            self.acquire(freshness=freshness)
        return caught.value


@cases("requests")
def test_exactly_this_is_sent(case: dict[str, Any]) -> None:
    stage = Stage(page("# Ferries", sourceURL=case["url"], url=case["url"]))
    stage.acquire(case["url"], freshness=case["freshness"])
    (sent,) = stage.exchanges.sent
    expected = case["request"]
    assert (sent.request.method, sent.request.url) == (expected["method"], BASE_URL + expected["path"])
    assert json.loads(sent.request.body) == expected["body"]
    assert {name: value for name, value in sent.headers.items() if name != "user-agent"} == expected["headers"]


@cases("pages")
def test_a_page(case: dict[str, Any]) -> None:
    check(case)


@cases("freshness")
def test_freshness(case: dict[str, Any]) -> None:
    check(case)


@cases("redirects")
def test_a_redirect(case: dict[str, Any]) -> None:
    check(case)


@cases("refusals")
def test_a_refusal(case: dict[str, Any]) -> None:
    check(case)


def check(case: dict[str, Any]) -> None:
    stage = Stage(answer_of(case["answer"]))
    freshness, outcome = case.get("freshness", "normal"), case["outcome"]
    if "acquired" in outcome:
        assert shown(stage.acquire(case.get("url", URL), freshness=freshness)) == outcome["acquired"]
        return
    error = stage.refused(freshness=freshness)
    assert error.code == outcome["code"]
    assert isinstance(error, Unclear) is outcome.get("unknown", False)
    rests_s = outcome.get("rests_s")
    if rests_s is None:
        wait_s = None if error.retry_at is None else error.retry_at - stage.clock.now()
        assert (stage.meter.used, wait_s) == (["k-demo"], outcome.get("retry_after_s"))
    else:
        assert stage.meter.used == ["k-demo", "k-spare"]
        expected = (outcome["reason"], outcome["scope"], stage.clock.now() + rests_s)
        assert {(one.reason, one.scope, one.until) for one in stage.meter.refusals} == {expected}


def shown(acquired: Acquired) -> dict[str, Any]:
    return {
        "url": acquired.url,
        "finalUrl": acquired.final_url,
        "title": acquired.title,
        "text": acquired.text,
        "truncated": acquired.truncated,
        "evidence": acquired.evidence,
        "acquisition": acquired.acquisition,
        "warnings": list(acquired.warnings),
    }


@pytest.mark.parametrize(
    ("characters", "kept", "truncated"),
    [(MAX_TEXT_CHARACTERS, MAX_TEXT_CHARACTERS, False), (MAX_TEXT_CHARACTERS + 1, MAX_TEXT_CHARACTERS, True)],
)
def test_a_long_text_is_cut_and_says_so(characters: int, kept: int, truncated: bool) -> None:
    acquired = Stage(page("é" * characters)).acquire()
    assert (len(acquired.text), acquired.truncated) == (kept, truncated)


def test_a_long_title_is_cut() -> None:
    assert Stage(page("# Ferries", title="long " * 400)).acquire().title == ("long " * 400)[:512]


def test_commas_and_brackets_of_a_text_do_not_make_an_answer_unreadable() -> None:
    text = "[a](b), {c}, " * 7_000
    assert Stage(page(text)).acquire().text.startswith("[a](b), {c}, ")


def test_a_spent_key_is_followed_by_the_next_one_and_by_no_third() -> None:
    spent = answer_of({"status": 402, "body": {"success": False, "error": "No credits."}})
    stage = Stage(spent, page("# Ferries"))
    assert stage.acquire().text == "# Ferries"
    assert [one.headers["authorization"] for one in stage.exchanges.sent] == ["Bearer k-demo", "Bearer k-spare"]
    assert len({one.request.body for one in stage.exchanges.sent}) == 1
    assert stage.meter.operations == 1


def test_one_page_is_one_operation() -> None:
    stage = Stage(page("# Ferries"))
    stage.acquire()
    assert (stage.meter.operations, len(stage.exchanges.sent)) == (1, 1)


@pytest.mark.parametrize("config", [None, ExaConfig(approved_hosts=HOSTS)], ids=["none", "another_kinds"])
def test_without_its_own_settings_nothing_is_asked(config: Any) -> None:
    stage = Stage(page("# Ferries"), config=config)
    assert stage.refused().code == "not_configured"
    assert (stage.meter.operations, stage.exchanges.sent) == (0, [])


def test_without_a_key_nothing_is_sent() -> None:
    stage = Stage(page("# Ferries"))
    stage.meter = ScriptedMeter(stage.exchanges, stage.source, clock=stage.clock, keys=(None,))
    assert stage.refused().code == "not_configured"
    assert stage.exchanges.sent == []


def test_what_the_service_says_is_in_no_error() -> None:
    words = "zq-sentinel"
    for status in (200, 400, 401, 402, 403, 404, 408, 429, 500, 503):
        error = Stage(
            answer_of({"status": status, "body": {"success": False, "error": words, "code": words}})
        ).refused()
        assert words not in repr(error) + str(error) + repr(error.__cause__) + repr(error.__context__)


# --- over real connections, through the meter ---------------------------------------------------------


KEYS = {"FIRECRAWL_API_KEY": "k-first", "FIRECRAWL_API_KEY_2": "k-second"}


class RealStage:
    """The kind, the meter and the pinned client, asking a server on loopback."""

    def __init__(self, service: ScriptedService) -> None:
        self.clock = SystemClock()
        self.log = RecordedLog()
        self.ledger = FakePoolLedger(clock=self.clock)
        self.allowances = FakeAllowances(clock=self.clock)
        self.exchanges = PinnedExchanges(
            resolver=SystemResolver(), clock=self.clock, allow_loopback_http=True, private_network_available=False
        )
        self.meters = Metering(
            keys=FakePoolKeys({Pool.FIRECRAWL: KEYS}),
            ledger=self.ledger,
            allowances=self.allowances,
            exchanges=self.exchanges,
            clock=self.clock,
            logger=self.log,  # type: ignore[arg-type]
        )
        self.source = a_firecrawl(base_url=f"{service.origin}/v2")
        self.acquirer = FirecrawlAcquirer(clock=self.clock, allow_test_names=False)

    async def acquire(self, *, timeout_s: float = 20.0) -> Acquired:
        deadline = Deadline.after(timeout_s, now_s=self.clock.monotonic())
        meter = self.meters.open(self.source, Pool.FIRECRAWL, deadline=deadline)
        try:
            return await self.acquirer.acquire(self.source, Wanted(url=URL), meter=meter)
        finally:
            self.exchanges.close()

    @property
    def units(self) -> tuple[int, int, int]:
        """Confirmed, released, still open."""
        allowances = self.allowances
        return len(allowances.confirmed), len(allowances.released), len(allowances.of(Pool.FIRECRAWL).open)


def test_a_page_over_a_real_connection() -> None:
    with scripted_service(page("# Fähre – 渡輪")) as service:
        stage = RealStage(service)
        assert asyncio.run(stage.acquire()).text == "# Fähre – 渡輪"
    (asked,) = service.asked
    assert (asked.method, asked.path, asked.headers["authorization"]) == ("POST", "/v2/scrape", "Bearer k-first")
    assert json.loads(asked.body)["url"] == URL
    assert (stage.units, stage.ledger.writes) == ((1, 0, 0), 0)


def test_a_refused_key_rests_and_the_next_one_answers() -> None:
    limited = answer_of({"status": 429, "body": {"success": False, "error": "please retry after 25s"}})
    with scripted_service(limited, page("# Ferries")) as service:
        stage = RealStage(service)
        before = stage.clock.now()
        assert asyncio.run(stage.acquire()).text == "# Ferries"
    assert [one.headers["authorization"] for one in service.asked] == ["Bearer k-first", "Bearer k-second"]
    (rest,) = stage.ledger.states[Pool.FIRECRAWL].rests.values()
    assert (rest.reason, stage.units, stage.ledger.writes) == ("rate", (1, 0, 0), 1)
    assert before + 25 <= rest.until <= stage.clock.now() + 25
    assert not any(key in repr(stage.log.lines) for key in KEYS.values())


def test_when_every_key_is_refused_the_unit_is_free_again() -> None:
    spent = answer_of({"status": 402, "body": {"success": False, "error": "No credits."}})
    with scripted_service(spent) as service:
        stage = RealStage(service)
        with pytest.raises(Refused) as caught:
            asyncio.run(stage.acquire())
    assert (caught.value.code, len(service.asked), stage.units) == ("keys_exhausted", 2, (0, 1, 0))


def test_an_answer_that_comes_byte_by_byte_ends_with_the_deadline_and_stays_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(metering, "LEAST_TIME_S", 0.0)
    with scripted_service(page("# Ferries"), pause_s=0.2) as service:
        stage = RealStage(service)
        with pytest.raises(ExchangeTimeout):
            asyncio.run(stage.acquire(timeout_s=1.5))
    assert (len(service.asked), stage.units) == (1, (0, 0, 1))


def test_an_answer_that_is_too_large_was_an_operation() -> None:
    with scripted_service(page("x" * 1_200_000)) as service:
        stage = RealStage(service)
        with pytest.raises(ExchangeError) as caught:
            asyncio.run(stage.acquire())
    assert (caught.value.code, stage.units) == ("response_too_large", (1, 0, 0))


def test_a_service_that_cannot_be_reached_costs_nothing() -> None:
    with scripted_service(page("# Ferries")) as service:
        stage = RealStage(service)
    with pytest.raises(ExchangeError) as caught:
        asyncio.run(stage.acquire())
    assert (caught.value.code, stage.units) == ("connection_failed", (0, 1, 0))
