"""The live function: built of its own variables alone, and asking the real kinds through the real meter."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pydantic import ValidationError

from functions.live import wiring
from functions.live.routes import api_for
from shared.adapters.clock import SystemClock
from shared.adapters.exchanges import PinnedExchanges
from shared.adapters.resolver import SystemResolver
from shared.domain.live_configs import ENDPOINTS, ExaConfig
from shared.domain.pools import Pool
from shared.domain.registrations import ProviderKind
from shared.ports.exchange import OutboundAnswer
from shared.providers.exa import ExaRetriever
from shared.providers.firecrawl import FirecrawlAcquirer
from tests.support.fake_exchanges import HANGS, Step, json_answer
from tests.support.fakes import FakeClock
from tests.support.live_stage import HOSTS, URL, LiveStage
from tests.support.lookup_stage import problem_of
from tests.support.scripted_service import ScriptedService, scripted_service
from tests.support.search_stage import event_of

NEEDED = {
    "KG_TABLE_REGISTRATIONS_INTERNAL": "registrations-internal",
    "KG_TABLE_LEDGER_INTERNAL": "ledger-internal",
    "KG_POOL_EXA": "pool-exa",
    "KG_POOL_FIRECRAWL": "pool-firecrawl",
}
SENTINEL = "zq-words-of-the-service"
IN_HTML = OutboundAnswer(status=429, headers={"content-type": "text/html"}, body=b"no")
TWO_KEYS = {"FIRECRAWL_API_KEY": "k-secret-one", "FIRECRAWL_API_KEY_1": "k-secret-two"}


def page(markdown: str = "# Ferry passes", **metadata: Any) -> OutboundAnswer:
    every = {"sourceURL": URL, "url": URL, "statusCode": 200, "contentType": "text/html", "title": "Passes"} | metadata
    return json_answer({"success": True, "data": {"markdown": markdown, "metadata": every}})


def refused(status: int, **fields: Any) -> OutboundAnswer:
    return json_answer({"success": False, "error": SENTINEL} | fields, status=status)


@contextmanager
def staged(*steps: Step) -> Iterator[LiveStage]:
    """The real kinds at a time that stands still; `steps` are what Firecrawl answers."""
    clock = FakeClock()
    stage = LiveStage(clock=clock, acquirers=kinds(clock))
    stage.keys.entries[Pool.FIRECRAWL] = TWO_KEYS
    stage.exchanges.script(stage.add(name="Ferry docs").id, *steps)
    yield stage
    stage.close()


def kinds(clock: Any) -> Any:
    return {
        ProviderKind.EXA: ExaRetriever(clock=clock, allow_test_names=False),
        ProviderKind.FIRECRAWL: FirecrawlAcquirer(clock=clock, allow_test_names=False),
    }


# --- how it is built ----------------------------------------------------------------------------------


@pytest.fixture
def _aws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")


@pytest.mark.usefixtures("_aws")
def test_it_needs_callers_a_ledger_and_pools_and_no_key_that_opens_a_secret() -> None:
    assert wiring.wired(NEEDED)
    for name in NEEDED:
        with pytest.raises(ValidationError, match=name):
            wiring.wired({key: value for key, value in NEEDED.items() if key != name})


def test_its_settings_have_no_word_for_anything_public_or_sealed() -> None:
    more = {"KG_TABLE_REGISTRATIONS_PUBLIC": "t-1", "KG_KEY_INTERNAL": "t-2", "KG_KEY_PUBLIC": "t-3"}
    settings = repr(wiring.LiveSettings.from_environment(NEEDED | more))
    assert not any(value in settings for value in more.values())


def test_each_service_is_asked_at_its_own_endpoint_unless_loopback_is_allowed() -> None:
    moved = {"KG_LOCAL_ORIGINS": json.dumps({"firecrawl": "http://127.0.0.1:4010"})}
    with pytest.raises(ValidationError, match="KG_LOCAL_ORIGINS"):
        wiring.LiveSettings.from_environment(NEEDED | moved)
    assert wiring.LiveSettings.from_environment(NEEDED).endpoints() == ENDPOINTS
    local = wiring.LiveSettings.from_environment(NEEDED | moved | {"KG_ALLOW_LOOPBACK_HTTP": "true"})
    assert local.endpoints()[ProviderKind.FIRECRAWL] == "http://127.0.0.1:4010/v2"
    assert local.endpoints()[ProviderKind.EXA] == ENDPOINTS[ProviderKind.EXA]


@pytest.mark.usefixtures("_aws")
def test_the_wired_function_answers_an_event_without_a_token() -> None:
    event = event_of("acquire")
    del event["headers"]["authorization"]
    response = api_for(wiring.wired(NEEDED)).handle(event, None)
    assert (response["statusCode"], json.loads(response["body"])["code"]) == (401, "unauthenticated")


def test_other_paths_and_methods_are_not_its_own() -> None:
    with staged(page()) as stage:
        event = event_of("acquire")
        event["requestContext"]["http"]["method"] = "GET"
        assert stage.api.handle(event, None)["statusCode"] == 404


# --- what it does -------------------------------------------------------------------------------------


def test_a_page_is_fetched() -> None:
    with staged(page()) as stage:
        answer = stage.acquire()
    assert (answer.status, answer.json["text"], answer.json["title"]) == (200, "# Ferry passes", "Passes")
    (sent,) = stage.exchanges.sent
    assert sent.request.url == "https://api.firecrawl.dev/v2/scrape"
    assert sent.headers["authorization"] == "Bearer k-secret-one"
    assert (len(stage.allowances.confirmed), stage.ledger.writes) == (1, 0)


def test_exa_fetches_too() -> None:
    with staged() as stage:
        provider = stage.add(ProviderKind.EXA, config=ExaConfig(approved_hosts=HOSTS))
        found = {"id": URL, "url": URL, "title": "Passes", "text": "A pass is valid."}
        stage.exchanges.script(
            provider.id,
            json_answer({"requestId": "x", "results": [found], "statuses": [{"id": URL, "status": "success"}]}),
        )
        answer = stage.acquire(provider=provider.id)
    assert (answer.status, answer.json["text"], answer.json["provider"]["kind"]) == (200, "A pass is valid.", "exa")
    assert [one.request.url for one in stage.exchanges.sent] == ["https://api.exa.ai/contents"]


def test_a_spent_key_is_followed_by_the_next_and_left_alone_afterwards() -> None:
    with staged(refused(402), page()) as stage:
        assert stage.acquire().status == 200
        assert stage.acquire().status == 200
    keys = [one.headers["authorization"] for one in stage.exchanges.sent]
    assert keys == ["Bearer k-secret-one", "Bearer k-secret-two", "Bearer k-secret-two"]
    assert stage.ledger.writes == 1


def test_when_every_key_is_limited_the_caller_is_told_when_the_first_is_back() -> None:
    with staged(refused(429, error="retry after 90s"), refused(429, error="please retry after 40s")) as stage:
        first, second = stage.acquire(), stage.acquire()
    for answer in (first, second):
        assert problem_of(answer) == (503, "keys_exhausted")
        assert answer.headers["Retry-After"] == "40"
    assert len(stage.exchanges.sent) == 2


@pytest.mark.parametrize(
    ("step", "expected", "unsettled"),
    [
        (refused(401), (502, "provider_failed"), False),
        (refused(403), (502, "provider_failed"), False),
        (refused(408), (504, "provider_timeout"), True),
        (refused(500), (502, "provider_failed"), True),
        (refused(503), (502, "provider_failed"), True),
        (refused(402, scrape_id="s"), (502, "provider_failed"), True),
        (
            OutboundAnswer(status=429, headers={"content-type": "text/html"}, body=b"no"),
            (503, "provider_rate_limited"),
            False,
        ),
        (page(statusCode=404), (502, "source_not_found"), False),
        (page(url="https://elsewhere.example.net/"), (502, "redirect_not_approved"), False),
        (page(contentType="application/pdf"), (502, "source_not_readable"), False),
    ],
    ids=["401", "403", "408", "500", "503", "402_with_work", "429_in_html", "no_page", "redirect", "pdf"],
)
def test_what_is_no_refusal_of_a_key_ends_with_the_first_key(
    step: Step, expected: tuple[int, str], unsettled: bool
) -> None:
    with staged(step) as stage:
        answer = stage.acquire()
    assert problem_of(answer) == expected
    assert (len(stage.exchanges.sent), stage.ledger.writes) == (1, 0)
    assert (len(stage.allowances.of(Pool.FIRECRAWL).open), len(stage.allowances.released)) == (int(unsettled), 0)


def test_a_forced_text_that_was_kept_is_refused_and_a_fresh_one_says_so() -> None:
    with staged(page(cacheState="hit")) as stage:
        assert problem_of(stage.acquire(freshness="force")) == (502, "source_not_fresh")
        fresh = stage.acquire(freshness="fresh").json
    assert (fresh["acquisition"], fresh["warnings"]) == ("cached_or_unknown", ["not_fresh"])


def test_nothing_is_sent_when_the_store_of_keys_is_away() -> None:
    with staged(page()) as stage:
        del stage.keys.entries[Pool.FIRECRAWL]
        assert problem_of(stage.acquire()) == (503, "not_configured")
    assert stage.exchanges.sent == []


@pytest.mark.parametrize("status", [200, 400, 401, 402, 403, 404, 408, 429, 500, 503])
def test_no_key_and_no_word_of_the_service_or_the_caller_is_told_or_logged(status: int) -> None:
    with staged(refused(status, code=SENTINEL, details=[SENTINEL])) as stage:
        answer = stage.acquire(URL + "?zq-query=1")
    told = answer.text + repr(answer.headers) + repr(stage.log.lines)
    assert stage.exchanges.sent
    assert not any(word in told for word in (SENTINEL, "k-secret", "zq-query", "Bearer"))


def test_a_service_that_hangs_ends_with_the_deadline() -> None:
    with real(HANGS) as (stage, _):
        answer = stage.acquire(deadlineMs=4_000)
    assert problem_of(answer) == (504, "provider_timeout")


# --- over real connections ----------------------------------------------------------------------------


@contextmanager
def real(*steps: Any) -> Iterator[tuple[LiveStage, ScriptedService]]:
    """Everything but the stores is real; `HANGS` is an answer that hardly comes."""
    pause_s = 30.0 if HANGS in steps else 0.0
    answers = [page() if step is HANGS else step for step in steps]
    clock = SystemClock()
    exchanges = PinnedExchanges(
        resolver=SystemResolver(), clock=clock, allow_loopback_http=True, private_network_available=False
    )
    with scripted_service(*answers, pause_s=pause_s) as service:
        endpoints = {**ENDPOINTS, ProviderKind.FIRECRAWL: f"{service.origin}/v2"}
        stage = LiveStage(clock=clock, acquirers=kinds(clock), exchanges=exchanges, endpoints=endpoints)
        stage.keys.entries[Pool.FIRECRAWL] = TWO_KEYS
        stage.add()
        yield stage, service
        stage.loop.run(_closed(exchanges))
        stage.close()


async def _closed(exchanges: PinnedExchanges) -> None:
    exchanges.close()


def test_an_event_becomes_a_text_over_a_real_connection() -> None:
    with real(refused(429, error="please retry after 25s"), page("# Fähre – 渡輪")) as (stage, service):
        answer = stage.acquire(freshness="force")
        assert (answer.status, answer.json["text"], answer.json["acquisition"]) == (200, "# Fähre – 渡輪", "live")
        assert stage.acquire().status == 200
    keys = [one.headers["authorization"] for one in service.asked]
    assert keys == ["Bearer k-secret-one", "Bearer k-secret-two", "Bearer k-secret-two"]
    assert [json.loads(one.body)["maxAge"] for one in service.asked] == [0, 0, 172_800_000]
