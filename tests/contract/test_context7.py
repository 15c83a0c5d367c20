"""What `ports.live_retriever.LiveRetriever` promises, kept by Context7: recorded cases, and a real server."""

from __future__ import annotations

import asyncio
import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.domain.live_configs import Context7Config, ExaConfig
from shared.domain.passages import Discovery, FreshnessWish, Question, Retrieval, Warning_
from shared.domain.registrations import ProviderKind, Source
from shared.errors import ConnectionFailed, ExchangeError, ExchangeTimeout, Refused, ResponseTooLarge
from shared.providers.context7 import Context7Retriever
from shared.providers.context7_answers import read_moved
from tests.support.builders import a_source
from tests.support.fake_exchanges import Step
from tests.support.live_cases import LiveStage, MeteredStage, answer_of, cases, check_failure, good, plain_form
from tests.support.meters import ScriptedMeter
from tests.support.scripted_service import ScriptedService, scripted_service

HOSTS = ("docs.example.com", "xn--bcher-kva.example.org", "docs.acme.test")
QUESTION = Question(query="open a widget", product="Widgets")
FOUND = good({"results": [{"id": "/acme/widgets", "title": "Widgets", "state": "finalized"}]})
PAGE = "https://docs.example.com/widgets/open"
CITED = good({"codeSnippets": [{"codeId": f"{PAGE}#_snippet_0", "pageTitle": "Opening"}], "infoSnippets": []})
RETRIEVAL = Retrieval(discoveries=(Discovery(url=PAGE, title="Opening", library="/acme/widgets"),))


def a_context7(*, library: str | None = None, **over: Any) -> Source:
    values: dict[str, Any] = {
        "kind": ProviderKind.CONTEXT7,
        "base_url": "https://context7.example/api",
        "config": Context7Config(approved_hosts=HOSTS, library=library),
        "signing": None,
    }
    return a_source(**values | over)


class Stage(LiveStage):
    def __init__(self, *steps: Step, allow_test_names: bool = False, **source: Any) -> None:
        super().__init__(a_context7(**source), *steps)
        self.retriever = Context7Retriever(clock=self.clock, allow_test_names=allow_test_names)

    def retrieve(self, question: Question = QUESTION) -> Retrieval:
        return asyncio.run(self.retriever.retrieve(self.source, question, meter=self.meter))

    def refused(self, question: Question = QUESTION) -> ExchangeError:
        with pytest.raises(ExchangeError) as caught:
            self.retrieve(question)
        return caught.value


def question_of(ask: dict[str, Any]) -> Question:
    return Question(**ask | {"freshness": FreshnessWish(ask.get("freshness", "normal"))})


def check(case: dict[str, Any]) -> None:
    """Plays the answers, the last of which is the last that was asked for, and compares what becomes of them."""
    stage = Stage(*map(answer_of, case["answers"]), **case.get("config", {}))
    if "code" in case["outcome"]:
        check_failure(stage.refused(question_of(case["ask"])), case["outcome"])
    else:
        assert plain_form(stage.retrieve(question_of(case["ask"]))) == case["outcome"]
    assert len(stage.asked) == stage.meter.operations == len(case["answers"])
    if "requests" in case:
        assert stage.asked == case["requests"]


@cases("context7", "requests")
def test_exactly_this_is_asked(case: dict[str, Any]) -> None:
    check(case)


@cases("context7", "libraries")
def test_the_library(case: dict[str, Any]) -> None:
    check(case)


@cases("context7", "context")
def test_what_is_cited(case: dict[str, Any]) -> None:
    check(case)


@cases("context7", "states")
def test_a_library_elsewhere(case: dict[str, Any]) -> None:
    check(case)


@cases("context7", "broken")
def test_a_broken_answer(case: dict[str, Any]) -> None:
    check(case)


@cases("context7", "refusals")
def test_a_refusal_of_the_search(case: dict[str, Any]) -> None:
    stage = Stage(*map(answer_of, case["answers"]))
    stage.check_refusal(stage.refused(), case["outcome"])


@cases("context7", "refusals")
def test_a_refusal_of_the_context(case: dict[str, Any]) -> None:
    stage = Stage(*map(answer_of, case["answers"]), library="/acme/widgets")
    stage.check_refusal(stage.refused(), case["outcome"])


def test_each_request_is_a_get_with_a_bearer_key_and_no_body() -> None:
    stage = Stage(FOUND, CITED)
    assert stage.retrieve() == RETRIEVAL
    assert stage.meter.operations == 2
    for sent in stage.exchanges.sent:
        assert (sent.request.method, sent.request.body) == ("GET", b"")
        assert sent.headers == {
            "authorization": "Bearer k-first",
            "accept": "application/json",
            "user-agent": "knowledge-gateway/1",
        }


def test_nothing_generated_is_kept() -> None:
    code = {"codeId": PAGE, "codeDescription": "never-kept", "codeList": [{"code": "never-kept"}]}
    info = {"pageId": PAGE, "content": "never-kept"}
    body = {"codeSnippets": [code], "infoSnippets": [info], "rules": {"global": ["never-kept"]}}
    retrieval = Stage(FOUND, good(body)).retrieve()
    assert retrieval.passages == ()
    assert [each.url for each in retrieval.discoveries] == [PAGE]
    assert "never-kept" not in repr(retrieval)


@pytest.mark.parametrize(
    "lacking",
    [
        Question(query="x"),
        Question(query="x", product="", repository=""),
        Question(query="x", product=" \t"),
        Question(query="x", repository="widgets"),
        Question(query="x", repository="acme/widgets/tree"),
        Question(query="x", repository="https://code.example.com/acme/widgets"),
        Question(query="x", repository="C:/Users/fern/widgets"),
        Question(query="x", repository="acme/"),
        Question(query="x", repository="acme/wid gets"),
    ],
    ids=lambda question: f"{question.product!r}_{question.repository!r}",
)
def test_without_a_product_or_a_repository_nothing_is_reserved(lacking: Question) -> None:
    stage = Stage(FOUND, CITED)
    assert stage.refused(lacking).code == "missing_input"
    assert (stage.meter.operations, stage.asked) == (0, [])


def test_a_question_of_500_characters_is_the_longest_and_none_is_cut() -> None:
    stage = Stage(FOUND, CITED)
    stage.retrieve(Question(query="渡" * 500, product="Widgets"))
    assert stage.asked[1].count("%E6%B8%A1") == 500
    assert Stage(FOUND).refused(Question(query="渡" * 501, product="Widgets")).code == "query_too_long"
    limits = stage.retriever.limits
    assert (limits.query_characters, limits.timeout_s) == (500, 25.0)


def test_another_kinds_settings_are_no_settings() -> None:
    for config in (None, ExaConfig(approved_hosts=HOSTS)):
        stage = Stage(FOUND, config=config)
        assert stage.refused().code == "not_configured"
        assert stage.meter.operations == 0


def test_without_a_key_nothing_is_sent() -> None:
    stage = Stage(FOUND)
    stage.meter = ScriptedMeter(stage.exchanges, stage.source, clock=stage.clock, keys=(None,))
    assert stage.refused().code == "not_configured"
    assert stage.asked == []


def test_hosts_under_test_are_cited_in_the_embedded_default_alone() -> None:
    cited = good({"infoSnippets": [{"pageId": "https://docs.acme.test/a"}]})
    assert len(Stage(FOUND, cited, allow_test_names=True).retrieve().discoveries) == 1
    assert Stage(FOUND, cited).retrieve().discoveries == ()


@pytest.mark.parametrize("error", [ConnectionFailed(), ExchangeTimeout(), ResponseTooLarge()], ids=lambda e: e.code)
def test_a_line_that_fails_is_not_tried_again(error: ExchangeError) -> None:
    for steps in ((error,), (FOUND, error)):
        stage = Stage(*steps)
        assert stage.refused() is error
        assert len(stage.asked) == len(steps)


def test_of_a_flood_of_snippets_the_first_hundred_are_judged() -> None:
    flood = [{"codeId": f"c{n}", "pageTitle": "x"} for n in range(9_000)]
    flood[99]["codeId"], flood[100]["codeId"] = f"{PAGE}/last", f"{PAGE}/too-late"
    retrieval = Stage(FOUND, good({"codeSnippets": flood, "infoSnippets": []})).retrieve()
    assert [each.url for each in retrieval.discoveries] == [f"{PAGE}/last"]
    assert retrieval.warnings == (Warning_.SURPLUS_CUT,)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2**60) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
LIBRARY = st.fixed_dictionaries({}, optional=dict.fromkeys(("id", "title", "state", "versions"), JSON))
SNIPPET = st.fixed_dictionaries({}, optional=dict.fromkeys(("pageId", "breadcrumb", "codeId", "pageTitle"), JSON))
BODY = st.fixed_dictionaries(
    {},
    optional={
        "results": JSON | st.lists(LIBRARY, max_size=3),
        "codeSnippets": JSON | st.lists(SNIPPET, max_size=3),
        "infoSnippets": JSON | st.lists(SNIPPET, max_size=3),
        "redirectUrl": JSON,
        "error": JSON,
    },
)


@given(st.sampled_from([200, 202, 301, 402, 404, 429, 500]), BODY, BODY)
@settings(max_examples=150)
def test_no_json_brings_it_down(status: int, first: dict[str, Any], second: dict[str, Any]) -> None:
    for steps in ((first, second), (None, first, second)):
        answers = [FOUND if body is None else answer_of({"status": status, "body": body}) for body in steps]
        try:
            retrieval = Stage(*answers).retrieve(Question(query="x", product="Widgets", version="1"))
        except ExchangeError:
            continue
        assert retrieval.passages == ()
        assert all(each.url.startswith("https://docs.example.com/") for each in retrieval.discoveries)


# --- over real connections, through the meter ---------------------------------------------------------

KEYS: dict[str, object] = {"CONTEXT7_API_KEY": "k-first", "CONTEXT7_API_KEY_2": "k-second"}


class RealStage(MeteredStage):
    def __init__(self, service: ScriptedService, *, keys: dict[str, object] | None = None, **source: Any) -> None:
        super().__init__(a_context7(base_url=f"{service.origin}/api", **source), keys=keys or KEYS)

    def retrieve(self, question: Question = QUESTION) -> Retrieval:
        retriever = Context7Retriever(clock=self.clock, allow_test_names=False)
        return asyncio.run(self.ended(retriever.retrieve(self.source, question, meter=self.meter())))


def test_a_search_over_real_connections_is_two_units() -> None:
    with scripted_service(FOUND, CITED) as service:
        stage = RealStage(service)
        assert stage.retrieve(Question(query="naïve & 渡輪 + 50%?", product="Widgets")) == RETRIEVAL
    query = "na%C3%AFve%20%26%20%E6%B8%A1%E8%BC%AA%20%2B%2050%25%3F"
    assert [(each.method, each.path, each.headers["authorization"]) for each in service.asked] == [
        ("GET", f"/api/v2/libs/search?libraryName=Widgets&query={query}", "Bearer k-first"),
        ("GET", f"/api/v2/context?libraryId=%2Facme%2Fwidgets&query={query}&type=json", "Bearer k-first"),
    ]
    assert (stage.units, stage.ledger.writes) == ((2, 0, 0), 0)


def test_a_library_that_has_moved_costs_a_unit_more() -> None:
    moved = answer_of({"status": 301, "body": {"error": "library_redirected", "redirectUrl": "/new/home"}})
    with scripted_service(FOUND, moved, CITED) as service:
        stage = RealStage(service)
        assert [each.library for each in stage.retrieve().discoveries] == ["/new/home"]
    assert (len(service.asked), stage.units) == (3, (3, 0, 0))


def test_a_spent_key_rests_and_the_next_search_begins_with_the_other() -> None:
    spent = answer_of({"status": 402, "body": {"error": "spending_limit_exceeded", "message": "zq-sentinel"}})
    with scripted_service(spent, FOUND, CITED) as service:
        stage = RealStage(service)
        stage.retrieve()
    assert [each.headers["authorization"][-8:] for each in service.asked] == [" k-first", "k-second", "k-second"]
    (rest,) = stage.ledger.states[stage.pool].rests.values()
    assert (rest.reason, stage.units, stage.ledger.writes) == ("quota", (2, 0, 0), 1)
    assert not any(word in repr(stage.log.lines) for word in ("k-first", "k-second", "zq-sentinel", "widget"))


def test_a_limit_of_the_account_rests_all_its_keys() -> None:
    limited = answer_of({"status": 429, "headers": {"retry-after": "40"}, "body": {"error": "rate_limit_exceeded"}})
    of_one = {f"CONTEXT7_API_KEY_{n}": {"key": f"k-{n}", "account": "one"} for n in (1, 2)}
    with scripted_service(limited, FOUND, CITED) as service:
        stage = RealStage(service, keys={**of_one, "CONTEXT7_API_KEY_3": {"key": "k-3", "account": "two"}})
        stage.retrieve()
    assert [each.headers["authorization"][-3:] for each in service.asked] == ["k-1", "k-3", "k-3"]
    assert len(stage.ledger.states[stage.pool].rests) == 2


def test_a_refused_context_leaves_the_search_counted() -> None:
    spent = answer_of({"status": 402, "body": {"error": "spending_limit_exceeded"}})
    with scripted_service(FOUND, spent) as service:
        stage = RealStage(service)
        with pytest.raises(Refused) as caught:
            stage.retrieve()
    assert (caught.value.code, stage.units) == ("keys_exhausted", (1, 1, 0))


def test_a_fault_of_the_service_stays_unknown() -> None:
    broken = answer_of({"status": 502, "headers": {"content-type": "text/html"}, "raw": "<h1>x</h1>"})
    with scripted_service(FOUND, broken) as service:
        stage = RealStage(service)
        with pytest.raises(Refused):
            stage.retrieve()
    assert (len(service.asked), stage.units) == (2, (1, 0, 1))


def test_a_key_of_all_printable_characters_arrives_as_it_is() -> None:
    key = "".join(c for c in string.printable if 32 < ord(c) < 127)
    with scripted_service(FOUND, CITED) as service:
        RealStage(service, keys={"CONTEXT7_API_KEY": key}).retrieve()
    assert [each.headers["authorization"] for each in service.asked] == [f"Bearer {key}"] * 2


def test_a_key_with_a_line_break_is_not_sent_and_not_told() -> None:
    with scripted_service(FOUND, CITED) as service:
        stage = RealStage(service, keys={"CONTEXT7_API_KEY": "k-demo\nX"})
        with pytest.raises(Refused) as caught:
            stage.retrieve()
    assert (caught.value.code, service.asked, stage.units) == ("not_configured", [], (0, 0, 0))
    assert "k-demo" not in repr(caught.value) + repr(stage.log.lines)


def test_a_location_is_never_followed() -> None:
    with scripted_service(CITED) as elsewhere:
        away = answer_of({"status": 301, "headers": {"location": elsewhere.origin}, "body": {"error": "moved"}})
        with scripted_service(FOUND, away) as service, pytest.raises(ExchangeError) as caught:
            RealStage(service).retrieve()
    assert (caught.value.code, len(service.asked), elsewhere.asked) == ("invalid_response", 2, [])


@pytest.mark.parametrize("target", ["/../..", "/acme/..", "/./widgets", "/acme/widgets/.."])
def test_a_library_never_moves_to_dots(target: str) -> None:
    with pytest.raises(Refused) as refusal:
        read_moved({"redirectUrl": target})
    assert refusal.value.code == "invalid_response"
