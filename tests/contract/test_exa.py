"""What `ports.live_retriever` promises, kept by Exa: recorded cases of searches and pages, and a real server."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.domain.acquisitions import Acquired, Acquisition, Wanted
from shared.domain.exposure import Audience
from shared.domain.live_configs import Context7Config, ExaConfig, ExaSearchType
from shared.domain.passages import Evidence, Freshness, FreshnessWish, Question, Retrieval, Warning_
from shared.domain.registrations import ProviderKind, Source
from shared.errors import ConnectionFailed, ExchangeError, ExchangeTimeout, Refused, ResponseTooLarge
from shared.providers.exa import ExaRetriever
from tests.support.builders import a_source
from tests.support.fake_exchanges import Step
from tests.support.live_cases import LiveStage, MeteredStage, answer_of, cases, check_failure, good, plain_form
from tests.support.meters import ScriptedMeter
from tests.support.scripted_service import ScriptedService, scripted_service

HOSTS = ("docs.example.com", "docs.example.org", "xn--bcher-kva.example.org", "docs.acme.test")
URL = "https://docs.example.com/ferries/passes"
RESULT = {"id": URL, "url": URL, "title": "Ferry passes", "text": "A pass is valid on every ferry."}
FOUND = good({"results": [RESULT]})
FETCHED = good({"results": [RESULT], "statuses": [{"id": URL, "status": "success", "source": "crawled"}]})
QUESTION = Question(query="ferry pass")


def config_of(recorded: dict[str, Any]) -> ExaConfig:
    search_type = ExaSearchType(recorded.get("search_type", "fast"))
    return ExaConfig(**recorded | {"approved_hosts": HOSTS, "search_type": search_type})


def an_exa(**over: Any) -> Source:
    values: dict[str, Any] = {
        "kind": ProviderKind.EXA,
        "base_url": "https://api.exa.example",
        "config": ExaConfig(approved_hosts=HOSTS),
        "signing": None,
    }
    return a_source(**values | over)


class Stage(LiveStage):
    def __init__(self, *steps: Step, allow_test_names: bool = False, **source: Any) -> None:
        super().__init__(an_exa(**source), *steps)
        self.exa = ExaRetriever(clock=self.clock, allow_test_names=allow_test_names)

    def retrieve(self, question: Question = QUESTION) -> Retrieval:
        return asyncio.run(self.exa.retrieve(self.source, question, meter=self.meter))

    def acquire(self, url: str = URL, *, freshness: str = "normal") -> Acquired:
        wanted = Wanted(url=url, freshness=FreshnessWish(freshness))
        return asyncio.run(self.exa.acquire(self.source, wanted, meter=self.meter))

    def refused(self, *, fetching: bool = False) -> ExchangeError:
        with pytest.raises(ExchangeError) as caught:
            self.acquire() if fetching else self.retrieve()
        return caught.value


def stage_of(case: dict[str, Any]) -> Stage:
    return Stage(*map(answer_of, case["answers"]), config=config_of(case.get("config", {})))


def searched(case: dict[str, Any]) -> Stage:
    """Plays a recorded search and compares what becomes of it."""
    stage = stage_of(case)
    question = Question(**case["ask"] | {"freshness": FreshnessWish(case["ask"].get("freshness", "normal"))})
    if "code" in case["outcome"]:
        with pytest.raises(ExchangeError) as caught:
            stage.retrieve(question)
        check_failure(caught.value, case["outcome"])
    else:
        retrieval = stage.retrieve(question)
        names = {"document_id": "documentId"}
        kept = ("document_id", "url", "title", "snippet", "score", "truncated")
        passages = [{names.get(name, name): getattr(each, name) for name in kept} for each in retrieval.passages]
        assert plain_form(retrieval) | {"passages": passages} == case["outcome"]
        for each in retrieval.passages:
            assert (each.audience, each.evidence) == (Audience.INTERNAL, Evidence.SOURCE_EXCERPT)
            assert each.freshness is Freshness.UNKNOWN
    assert (stage.asked, stage.meter.operations) == (["/search"], 1)
    return stage


def fetched(case: dict[str, Any]) -> Stage:
    """Plays a recorded acquisition and compares what becomes of it."""
    stage, ask = stage_of(case), case["ask"]
    if "code" in case["outcome"]:
        with pytest.raises(ExchangeError) as caught:
            stage.acquire(ask["url"], freshness=ask["freshness"])
        check_failure(caught.value, case["outcome"])
    else:
        acquired = stage.acquire(ask["url"], freshness=ask["freshness"])
        assert (acquired.url, acquired.evidence) == (ask["url"], Evidence.SOURCE_EXCERPT)
        assert case["outcome"] == {
            "finalUrl": acquired.final_url,
            "title": acquired.title,
            "text": acquired.text,
            "truncated": acquired.truncated,
            "acquisition": acquired.acquisition,
            "warnings": list(acquired.warnings),
        }
    assert (stage.asked, stage.meter.operations) == (["/contents"], 1)
    return stage


def check_sent(stage: Stage, body: dict[str, Any]) -> None:
    (sent,) = stage.exchanges.sent
    assert sent.request.method == "POST"
    assert json.loads(sent.request.body) == body
    assert sent.headers == {
        "x-api-key": "k-first",
        "content-type": "application/json",
        "accept": "application/json",
        "user-agent": "knowledge-gateway/1",
    }


@cases("exa", "searches")
def test_exactly_this_is_searched(case: dict[str, Any]) -> None:
    check_sent(searched(case), case["body"])


@cases("exa", "results")
def test_what_is_found(case: dict[str, Any]) -> None:
    searched(case)


@cases("exa", "broken")
def test_a_broken_answer(case: dict[str, Any]) -> None:
    searched(case)


@cases("exa", "fetches")
def test_exactly_this_is_fetched(case: dict[str, Any]) -> None:
    check_sent(fetched(case), case["body"])


@cases("exa", "pages")
def test_a_page(case: dict[str, Any]) -> None:
    fetched(case)


@cases("exa", "refusals")
def test_a_refusal_of_a_search(case: dict[str, Any]) -> None:
    stage = stage_of(case)
    stage.check_refusal(stage.refused(), case["outcome"])


@cases("exa", "refusals")
def test_a_refusal_of_a_fetch(case: dict[str, Any]) -> None:
    stage = stage_of(case)
    stage.check_refusal(stage.refused(fetching=True), case["outcome"])


def test_freshness_is_never_asked_for_in_the_way_that_gives_no_guarantee() -> None:
    for wish in FreshnessWish:
        is_forced = wish is FreshnessWish.FORCE  # no search is made then
        stage = Stage(*([] if is_forced else [FOUND]), FETCHED)
        if not is_forced:
            stage.retrieve(Question(query="x", freshness=wish))
        stage.acquire(freshness=wish)
        assert all(b"livecrawl" not in sent.request.body for sent in stage.exchanges.sent)


@pytest.mark.parametrize(("characters", "is_cut"), [(8_000, False), (8_001, True)])
def test_a_snippet_has_8000_characters_at_most(characters: int, is_cut: bool) -> None:
    retrieval = Stage(good({"results": [RESULT | {"text": "ü" * characters}]})).retrieve()
    (passage,) = retrieval.passages
    assert (passage.snippet, passage.truncated) == ("ü" * 8_000, is_cut)
    assert retrieval.warnings == ((Warning_.SNIPPET_CUT,) if is_cut else ())


def test_an_acquired_text_has_100000_characters_at_most() -> None:
    long = RESULT | {"text": "ü" * 100_001}
    answer = good({"results": [long], "statuses": [{"id": URL, "status": "success"}]})
    acquired = Stage(answer, config=config_of({"max_characters": 100_000})).acquire()
    assert (acquired.text, acquired.truncated) == ("ü" * 100_000, True)


def test_nothing_generated_is_kept() -> None:
    generated = {"summary": "never-kept", "highlights": ["never-kept"], "subpages": [{"text": "never-kept"}]}
    body = {"results": [RESULT | generated], "context": "never-kept", "output": {"content": "never-kept"}}
    statuses = [{"id": URL, "status": "success"}]
    stage = Stage(good(body), good(body | {"statuses": statuses}))
    assert "never-kept" not in repr(stage.retrieve()) + repr(stage.acquire())


def test_a_question_of_4000_characters_is_the_longest_and_none_is_cut() -> None:
    stage = Stage(FOUND)
    stage.retrieve(Question(query="渡" * 4_000))
    assert json.loads(stage.exchanges.sent[0].request.body)["query"] == "渡" * 4_000
    with pytest.raises(Refused) as caught:
        stage.retrieve(Question(query="渡" * 4_001))
    assert (caught.value.code, stage.meter.operations) == ("query_too_long", 1)
    limits = stage.exa.limits
    assert (limits.query_characters, limits.results, limits.timeout_s) == (4_000, 10, 25.0)


@pytest.mark.parametrize("fetching", [False, True], ids=["search", "fetch"])
def test_another_kinds_settings_are_no_settings(fetching: bool) -> None:
    for config in (None, Context7Config(approved_hosts=HOSTS)):
        stage = Stage(FOUND, config=config)
        assert stage.refused(fetching=fetching).code == "not_configured"
        assert stage.meter.operations == 0


@pytest.mark.parametrize("fetching", [False, True], ids=["search", "fetch"])
def test_without_a_key_nothing_is_sent(fetching: bool) -> None:
    stage = Stage(FOUND)
    stage.meter = ScriptedMeter(stage.exchanges, stage.source, clock=stage.clock, keys=(None,))
    assert stage.refused(fetching=fetching).code == "not_configured"
    assert stage.asked == []


def test_hosts_under_test_are_for_the_embedded_default_alone() -> None:
    url = "https://docs.acme.test/w"
    page = {"results": [RESULT | {"url": url}], "statuses": [{"id": url, "status": "success"}]}
    assert Stage(good(page), allow_test_names=True).acquire(url).final_url == url
    assert len(Stage(good(page), allow_test_names=True).retrieve().passages) == 1
    assert Stage(good(page)).retrieve().passages == ()


@pytest.mark.parametrize("fetching", [False, True], ids=["search", "fetch"])
@pytest.mark.parametrize("error", [ConnectionFailed(), ExchangeTimeout(), ResponseTooLarge()], ids=lambda e: e.code)
def test_a_line_that_fails_is_not_tried_again(error: ExchangeError, fetching: bool) -> None:
    stage = Stage(error)
    assert stage.refused(fetching=fetching) is error
    assert len(stage.asked) == 1


def test_a_flood_of_results_is_cut_to_what_was_asked_for() -> None:
    flood = [{"url": f"https://docs.example.com/{n}", "text": "x"} for n in range(7_000)]
    retrieval = Stage(good({"results": flood})).retrieve()
    assert len(retrieval.passages) == 5
    assert retrieval.warnings == (Warning_.SURPLUS_CUT,)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2**60) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
ANY_RESULT = st.fixed_dictionaries(
    {},
    optional={
        "id": JSON | st.just(URL),
        "url": JSON | st.just(URL),
        "title": JSON | st.text(),
        "text": JSON | st.text(),
        "score": JSON,
    },
)
ANY_STATUS = st.fixed_dictionaries(
    {},
    optional={
        "id": JSON | st.just(URL),
        "status": JSON | st.sampled_from(["success", "error"]),
        "source": JSON | st.sampled_from(["cached", "crawled"]),
        "error": JSON | st.fixed_dictionaries({"tag": JSON}),
    },
)
ANY_BODY = st.fixed_dictionaries(
    {},
    optional={
        "results": JSON | st.lists(ANY_RESULT, max_size=3),
        "statuses": JSON | st.lists(ANY_STATUS, max_size=3),
        "costDollars": JSON,
        "tag": JSON,
        "error": JSON,
    },
)


@given(st.sampled_from([200, 200, 200, 202, 402, 429, 500]), ANY_BODY)
@settings(max_examples=200)
def test_no_json_brings_it_down(status: int, body: dict[str, Any]) -> None:
    for act in (Stage.retrieve, Stage.acquire):
        try:
            found = act(Stage(answer_of({"status": status, "body": body})))
        except ExchangeError:
            continue
        assert "https://docs.example.com/" in repr(found) or found == Retrieval(warnings=found.warnings)


# --- over real connections, through the meter ---------------------------------------------------------

KEYS: dict[str, object] = {"EXA_API_KEY": "k-first", "EXA_API_KEY_2": "k-second"}


class RealStage(MeteredStage):
    def __init__(self, service: ScriptedService, *, keys: dict[str, object] | None = None, **source: Any) -> None:
        super().__init__(an_exa(base_url=service.origin, **source), keys=keys or KEYS)
        self._exa = ExaRetriever(clock=self.clock, allow_test_names=False)

    def retrieve(self, question: Question = QUESTION) -> Retrieval:
        return asyncio.run(self.ended(self._exa.retrieve(self.source, question, meter=self.meter())))

    def acquire(self, *, freshness: FreshnessWish = FreshnessWish.NORMAL) -> Acquired:
        wanted = Wanted(url=URL, freshness=freshness)
        return asyncio.run(self.ended(self._exa.acquire(self.source, wanted, meter=self.meter())))


def test_a_search_over_a_real_connection_is_one_unit() -> None:
    with scripted_service(FOUND) as service:
        stage = RealStage(service)
        (passage,) = stage.retrieve(Question(query="Fährpass 渡輪 🛳")).passages
    assert passage.snippet == RESULT["text"]
    (asked,) = service.asked
    assert (asked.method, asked.path, asked.headers["x-api-key"]) == ("POST", "/search", "k-first")
    assert json.loads(asked.body)["query"] == "Fährpass 渡輪 🛳"
    assert (stage.units, stage.ledger.writes) == ((1, 0, 0), 0)


def test_a_forced_page_over_a_real_connection_is_live() -> None:
    with scripted_service(FETCHED) as service:
        stage = RealStage(service)
        assert stage.acquire(freshness=FreshnessWish.FORCE).acquisition is Acquisition.LIVE
    (asked,) = service.asked
    assert (asked.path, json.loads(asked.body)["maxAgeHours"], stage.units) == ("/contents", 0, (1, 0, 0))


def test_a_cached_answer_to_a_forced_fetch_was_an_operation() -> None:
    cached = good({"results": [RESULT], "statuses": [{"id": URL, "status": "success", "source": "cached"}]})
    with scripted_service(cached) as service:
        stage = RealStage(service)
        with pytest.raises(Refused) as caught:
            stage.acquire(freshness=FreshnessWish.FORCE)
    assert (caught.value.code, len(service.asked), stage.units) == ("not_fresh", 1, (1, 0, 0))


def test_the_purse_of_a_team_is_asked_once_and_all_its_keys_rest() -> None:
    spent = answer_of({"status": 402, "body": {"error": "zq-sentinel", "tag": "TEAM_BUDGET_EXCEEDED"}})
    of_one = {f"EXA_API_KEY_{n}": {"key": f"k-{n}", "account": "one"} for n in (1, 2)}
    with scripted_service(spent, FOUND) as service:
        stage = RealStage(service, keys={**of_one, "EXA_API_KEY_3": "k-3"})
        stage.retrieve()
    assert [each.headers["x-api-key"] for each in service.asked] == ["k-1", "k-3"]
    assert {rest.reason for rest in stage.ledger.states[stage.pool].rests.values()} == {"quota"}
    assert (len(stage.ledger.states[stage.pool].rests), stage.units) == (2, (1, 0, 0))
    assert not any(word in repr(stage.log.lines) for word in ("k-1", "k-2", "k-3", "zq-sentinel", "ferry"))


def test_the_budget_of_a_key_leaves_the_other_keys_of_its_account() -> None:
    spent = answer_of({"status": 402, "body": {"error": "x", "tag": "API_KEY_BUDGET_EXCEEDED"}})
    of_one = {f"EXA_API_KEY_{n}": {"key": f"k-{n}", "account": "one"} for n in (1, 2)}
    with scripted_service(spent, FOUND) as service:
        RealStage(service, keys=of_one).retrieve()
    assert [each.headers["x-api-key"] for each in service.asked] == ["k-1", "k-2"]


def test_when_every_key_is_refused_the_unit_is_free_again() -> None:
    spent = answer_of({"status": 402, "body": {"error": "x", "tag": "NO_MORE_CREDITS"}})
    with scripted_service(spent) as service:
        stage = RealStage(service)
        with pytest.raises(Refused) as caught:
            stage.acquire()
    assert (caught.value.code, len(service.asked), stage.units) == ("keys_exhausted", 2, (0, 1, 0))


@pytest.mark.parametrize("status", [401, 403, 408, 500, 502, 503, 504])
def test_a_status_that_is_not_about_the_key_never_tries_another(status: int) -> None:
    refused = answer_of({"status": status, "body": {"error": "x", "tag": "NO_MORE_CREDITS"}})
    with scripted_service(refused, FOUND) as service:
        stage = RealStage(service)
        with pytest.raises(Refused):
            stage.retrieve()
    assert (len(service.asked), stage.ledger.writes) == (1, 0)
    assert stage.units == ((1, 0, 0) if status < 408 else (0, 0, 1))


def test_an_offer_to_pay_is_never_taken_and_rests_no_key() -> None:
    offer = answer_of({"status": 402, "body": {"tag": "X402_PAYMENT_REQUIRED", "x402Version": 2, "accepts": []}})
    with scripted_service(offer, FOUND) as service:
        stage = RealStage(service)
        with pytest.raises(Refused) as caught:
            stage.retrieve()
    assert (caught.value.code, len(service.asked), stage.ledger.writes) == ("not_configured", 1, 0)
