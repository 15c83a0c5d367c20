"""The routes of Alexandria: who may ask, through whom, what may be sent, and what is told of a failure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from shared.domain.alexandria import QUOTE_LIFE_S
from shared.domain.exposure import CredentialClass, Grant
from shared.domain.pools import Pool
from shared.domain.registrations import ProviderKind, ProviderStatus
from shared.errors import ConnectionFailed, ExchangeTimeout, Unavailable
from tests.support.alexandria_fakes import a_receipt
from tests.support.alexandria_stage import NAME, OPTIONS, AlexandriaStage, priced, ran, refused
from tests.support.builders import a_credential, a_token
from tests.support.fake_exchanges import json_answer
from tests.support.lookup_stage import problem_of
from tests.support.published import faults_of

VERBS: dict[str, Any] = {
    "search": {"query": "ferry passengers"},
    "inspect": {"tool": NAME},
    "execute": {"quoteId": "aq_x", "requestId": "r-1", "options": OPTIONS},
    "receipt": {"requestId": "r-1"},
}
ASKING = ("search", "inspect")
TOOL = {
    **NAME,
    "id": "t-1",
    "name": "Observations",
    "description": "Numbers.",
    "creditsCost": 3,
    "perRecord": True,
    "options": [{"name": "series", "type": "string", "about": "Which.", "required": True, "default": "all"}],
    "requiresOneOf": [["from", "to"]],
}
SHOWN = {
    "id": "t-1",
    "tool": NAME,
    "name": "Observations",
    "description": "Numbers.",
    "credits": 3,
    "perRecord": True,
    "options": [{"name": "series", "type": "string", "about": "Which.", "required": True, "rules": {"default": "all"}}],
    "requiresOneOf": [["from", "to"]],
}


@pytest.fixture
def stage() -> Iterator[AlexandriaStage]:
    made = AlexandriaStage()
    yield made
    made.close()


def listed(*tools: Any, **over: Any) -> Any:
    return json_answer({"success": True, "data": {"tools": list(tools)}, **over})


def good(verb: str) -> Any:
    return listed(TOOL) if verb == "search" else priced(**TOOL)


# --- what comes back ------------------------------------------------------------------------------


def test_a_search_shows_tools(stage: AlexandriaStage) -> None:
    stage.answers(listed(TOOL, {**NAME, "description": "Compact."}, warning="UPSTREAM-WORDS"))
    answer = stage.post("search", {"query": "ferry passengers", "limit": 2})
    assert answer.status == 200
    compact = {"id": None, "name": NAME["capability"], "description": "Compact.", "credits": None, "perRecord": None}
    assert answer.json == {
        "tools": [SHOWN, {**SHOWN, **compact, "options": [], "requiresOneOf": []}],
        "warnings": ["incomplete"],
    }


def test_an_inspection_shows_a_quote_for_ten_minutes(stage: AlexandriaStage) -> None:
    stage.answers(priced(**TOOL))
    answer = stage.post("inspect", {"tool": NAME})
    quote_id = answer.json["quoteId"]
    assert answer.json == {"quoteId": quote_id, "expiresAt": "2026-09-21T14:23:20.000Z", "tool": SHOWN}
    kept = stage.quotes.kept[quote_id]
    assert (kept.holder.credential_id, kept.holder.agent_id) == (stage.agent.id, None)
    assert kept.source_id == stage.provider.id
    assert kept.expires_at == stage.clock.now() + QUOTE_LIFE_S


def test_every_inspection_makes_a_quote_of_its_own(stage: AlexandriaStage) -> None:
    assert len({stage.quote() for _ in range(5)}) == 5


@pytest.mark.parametrize("price", [{"creditsCost": None}, {"creditsCost": "3"}], ids=["none", "text"])
def test_a_price_that_nobody_names_is_null_and_not_zero(stage: AlexandriaStage, price: dict[str, Any]) -> None:
    stage.answers(priced(**price))
    assert stage.post("inspect", {"tool": NAME}).json["tool"]["credits"] is None


def test_a_catalogue_that_charges_gives_no_quote(stage: AlexandriaStage) -> None:
    item = {"provider": "firecrawl", "capability": "find-tools", "creditsCost": 1, "data": {"items": [TOOL]}}
    stage.answers(json_answer({"success": True, "data": {"alexandria": [item], "creditsCost": 1}}))
    answer = stage.post("inspect", {"tool": NAME})
    assert problem_of(answer) == (502, "provider_failed")
    assert stage.quotes.kept == {}


def test_a_tool_that_is_not_listed_is_a_404(stage: AlexandriaStage) -> None:
    for step in (priced(capability="series/other"), refused(404, code="unknown_provider")):
        stage.answers(step)
        assert problem_of(stage.post("inspect", {"tool": NAME})) == (404, "not_found")


def test_a_receipt_that_is_not_there_is_a_404(stage: AlexandriaStage) -> None:
    other = stage.add_credential()
    quote_id = stage.quote()
    stage.answers(ran())
    stage.execute(quote_id)
    assert stage.receipt().status == 200
    foreign = [stage.receipt("r-2"), stage.receipt(credential=other), stage.receipt(agent="seven")]
    assert {problem_of(answer) for answer in foreign} == {(404, "not_found")}


# --- through whom ---------------------------------------------------------------------------------


def asked_through(stage: AlexandriaStage) -> list[str]:
    return [sent.source.id for sent in stage.sent]


@pytest.mark.parametrize("verb", ASKING)
def test_the_lowest_priority_goes_first_then_the_first_registered(stage: AlexandriaStage, verb: str) -> None:
    first, _second, last = (stage.add(priority=p) for p in (7, 7, 8))
    for provider in (first, _second, last):
        stage.answers(good(verb), provider=provider)
    stage.post(verb, VERBS[verb])
    stage.post(verb, {**VERBS[verb], "provider": last.id})
    assert asked_through(stage) == [first.id, last.id]


@pytest.mark.parametrize("verb", ASKING)
def test_a_credential_goes_through_its_own_providers_alone(stage: AlexandriaStage, verb: str) -> None:
    mine, other = stage.add(priority=900), stage.add(priority=1)
    credential = stage.add_credential(allowed_providers=(mine.id,))
    stage.answers(good(verb), provider=mine)
    assert stage.post(verb, VERBS[verb], credential=credential).status == 200
    answers = [
        stage.post(verb, {**VERBS[verb], "provider": id_}, credential=credential)
        for id_ in (other.id, stage.provider.id, "ao_aaaaaaaaaaaaaaaa", "nonsense")
    ]
    assert {problem_of(answer) for answer in answers} == {(404, "not_found")}
    assert len({answer.text for answer in answers}) == 1
    assert asked_through(stage) == [mine.id]


@pytest.mark.parametrize("verb", ASKING)
def test_without_an_active_provider_of_the_kind_there_is_nobody_to_ask(verb: str) -> None:
    stage = AlexandriaStage()
    stage.store.registrations.clear()
    stage.add(ProviderKind.EXA)
    stage.add(status=ProviderStatus.DISABLED)
    stage.add(status=ProviderStatus.AUTO_DISABLED)
    assert problem_of(stage.post(verb, VERBS[verb])) == (404, "not_found")
    stage.close()


@pytest.mark.parametrize("verb", ASKING)
def test_the_service_is_asked_at_its_own_endpoint_whatever_is_registered(stage: AlexandriaStage, verb: str) -> None:
    stage.answers(good(verb))
    stage.post(verb, VERBS[verb])
    path = "/search" if verb == "search" else "/scrape"
    assert [sent.request.url for sent in stage.sent] == ["https://api.firecrawl.dev/v2" + path]


def test_a_quote_is_executed_through_the_provider_that_priced_it(stage: AlexandriaStage) -> None:
    quote_id = stage.quote()
    stage.add(priority=0)
    stage.answers(ran())
    stage.execute(quote_id)
    assert asked_through(stage) == [stage.provider.id]


def test_each_operation_takes_one_unit_of_the_pool(stage: AlexandriaStage) -> None:
    stage.answers(listed(TOOL))
    stage.post("search", VERBS["search"])
    quote_id = stage.quote()
    stage.answers(ran())
    stage.execute(quote_id)
    stage.execute(quote_id)
    stage.receipt()
    assert stage.allowances.of(Pool.FIRECRAWL).used_at(stage.clock.now()) == 3


# --- failures -------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ASKING)
@pytest.mark.parametrize(
    ("step", "problem", "outcome"),
    [
        (ExchangeTimeout(), (504, "provider_timeout"), None),
        (ConnectionFailed(), (502, "provider_failed"), "connection_failed"),
        (refused(401), (502, "provider_failed"), "unauthorized"),
        (refused(403, code="paid_plan_required"), (502, "provider_failed"), "forbidden"),
        (refused(403, code="THIRD_PARTY_DATA_TERMS_REQUIRED"), (502, "provider_failed"), "terms_required"),
        (refused(400), (502, "provider_failed"), "upstream_error"),
        (refused(500), (502, "provider_failed"), "upstream_error"),
        (refused(402, code="insufficient_credits"), (503, "keys_exhausted"), None),
        (refused(429), (503, "keys_exhausted"), None),
        (json_answer({"success": False}), (502, "provider_failed"), "invalid_response"),
    ],
    ids=["timeout", "broken", "401", "403", "terms", "400", "500", "402", "429", "unreadable"],
)
def test_a_failure_is_a_problem_in_the_gateways_words(
    stage: AlexandriaStage, verb: str, step: Any, problem: tuple[int, str], outcome: str | None
) -> None:
    stage.answers(step)
    answer = stage.post(verb, VERBS[verb])
    assert problem_of(answer) == problem
    assert answer.json.get("outcome") == outcome
    assert answer.json["provider"] == stage.provider.id
    assert "UPSTREAM-WORDS" not in answer.text
    assert stage.quotes.kept == {}
    path = f"/api/v1/knowledge/alexandria/{verb}"
    assert faults_of("POST", path, answer.status, answer.headers, answer.text) == []


@pytest.mark.parametrize("verb", ASKING)
def test_exhausted_pools_say_when_to_come_back(stage: AlexandriaStage, verb: str) -> None:
    stage.answers(refused(429))
    assert stage.post(verb, VERBS[verb]).headers["Retry-After"] == "60"
    stage.ledger.states.clear()
    stage.allowances.set_limit(Pool.FIRECRAWL, 0)
    assert problem_of(stage.post(verb, VERBS[verb])) == (503, "allowance_exhausted")
    stage.keys.entries.clear()
    assert problem_of(stage.post(verb, VERBS[verb])) == (503, "not_configured")


@pytest.mark.parametrize("verb", VERBS)
def test_a_store_that_fails_is_a_503(stage: AlexandriaStage, verb: str) -> None:
    stage.answers(good(verb))
    for port in (stage.credentials, stage.catalog, stage.quotes, stage.receipts):
        port.failure = Unavailable("Later.")
    answer = stage.post(verb, VERBS[verb])
    assert problem_of(answer) == (503, "store_unavailable")
    assert answer.headers["Retry-After"] == "5"
    assert stage.sent == []


def test_a_quote_that_cannot_be_kept_is_not_given(stage: AlexandriaStage) -> None:
    stage.answers(priced())
    stage.quotes.failure = Unavailable("Later.")
    assert problem_of(stage.post("inspect", {"tool": NAME})) == (503, "store_unavailable")


# --- who may ask, and what ------------------------------------------------------------------------


@pytest.mark.parametrize("verb", VERBS)
def test_agents_alone_are_admitted_and_nobody_else_is_told_anything(stage: AlexandriaStage, verb: str) -> None:
    granted = stage.add_credential(credential_class=CredentialClass.ASSISTANT, grants=frozenset({Grant.READ_PUBLIC}))
    others = [stage.add_credential(credential_class=each) for each in (CredentialClass.PUBLIC, CredentialClass.ADMIN)]
    stranger = a_credential()
    for body in (VERBS[verb], {"wrong": 1}, "not json"):
        tokens = [None, "nonsense", *map(a_token, (granted, *others, stranger))]
        for token in tokens:
            assert problem_of(stage.post(verb, body, token=token)) == (401, "unauthenticated")
    assert stage.sent == []


@pytest.mark.parametrize("verb", VERBS)
def test_requests_are_counted(stage: AlexandriaStage, verb: str) -> None:
    credential = stage.add_credential(rate_per_minute=1)
    stage.answers(good(verb))
    stage.post(verb, VERBS[verb], credential=credential)
    assert problem_of(stage.post(verb, VERBS[verb], credential=credential)) == (429, "rate_limited")


LONGEST = {"quoteId": "q" * 64, "requestId": "A-z.0:_" + "r" * 57}


@pytest.mark.parametrize(
    ("verb", "body", "pointer"),
    [
        ("search", {}, "/query"),
        ("search", {"query": ""}, "/query"),
        ("search", {"query": " \n"}, "/query"),
        ("search", {"query": "x" * 501}, "/query"),
        ("search", {"query": "x", "limit": 0}, "/limit"),
        ("search", {"query": "x", "limit": 25}, "/limit"),
        ("search", {"query": "x", "limit": "5"}, "/limit"),
        ("search", {"query": "x", "limit": 5.0}, "/limit"),
        ("search", {"query": "x", "limit": True}, "/limit"),
        ("search", {"query": "x", "provider": ""}, "/provider"),
        ("search", {"query": "x", "sources": ["web"]}, "/sources"),
        ("inspect", {}, "/tool"),
        ("inspect", {"tool": {"provider": "acmestats"}}, "/tool/capability"),
        ("inspect", {"tool": {**NAME, "provider": "a" * 201}}, "/tool/provider"),
        ("inspect", {"tool": {**NAME, "provider": "a\nb"}}, "/tool/provider"),
        ("inspect", {"tool": {**NAME, "provider": " a"}}, "/tool/provider"),
        ("inspect", {"tool": {**NAME, "capability": "渡輪"}}, "/tool/capability"),
        ("inspect", {"tool": {**NAME, "version": "1"}}, "/tool/version"),
        ("inspect", {"tool": NAME, "query": "x"}, "/query"),
        ("execute", {**LONGEST}, "/options"),
        ("execute", {**LONGEST, "options": []}, "/options"),
        ("execute", {**LONGEST, "options": None}, "/options"),
        ("execute", {**LONGEST, "options": {"a": "x" * 65_529}}, "/options"),
        ("execute", {**LONGEST, "options": {"a": "渡" * 21_843}}, "/options"),
        ("execute", {**LONGEST, "options": {}, "quoteId": "q" * 65}, "/quoteId"),
        ("execute", {**LONGEST, "options": {}, "requestId": "r" * 65}, "/requestId"),
        ("execute", {**LONGEST, "options": {}, "requestId": ""}, "/requestId"),
        ("execute", {**LONGEST, "options": {}, "requestId": "a b"}, "/requestId"),
        ("execute", {**LONGEST, "options": {}, "requestId": "a\n"}, "/requestId"),
        ("execute", {**LONGEST, "options": {}, "requestId": "渡"}, "/requestId"),
        ("execute", {**LONGEST, "options": {}, "timeout": 1}, "/timeout"),
        ("execute", {**LONGEST, "options": {}, "provider": "ao_x"}, "/provider"),
        ("receipt", {}, "/requestId"),
        ("receipt", {"requestId": "a/b"}, "/requestId"),
        ("receipt", {"requestId": "r", "quoteId": "q"}, "/quoteId"),
    ],
    ids=str,
)
def test_what_may_not_be_sent(stage: AlexandriaStage, verb: str, body: Any, pointer: str) -> None:
    answer = stage.post(verb, body)
    assert problem_of(answer) == (422, "invalid_request")
    assert [error["pointer"] for error in answer.json["errors"]] == [pointer]
    assert stage.sent == []


@pytest.mark.parametrize("body", ["{", "[]", '{"requestId": "a", "requestId": "b"}', '{"options": NaN}'], ids=str)
def test_what_is_no_json_object_is_a_400(stage: AlexandriaStage, body: str) -> None:
    for verb in VERBS:
        assert problem_of(stage.post(verb, body)) == (400, "body_not_json")


def test_the_largest_options_are_taken(stage: AlexandriaStage) -> None:
    quote_id = stage.quote()
    stage.answers(ran())
    options = {"a": "渡" * 21_842 + "xx"}
    assert len(json.dumps(options, ensure_ascii=False, separators=(",", ":")).encode()) == 65_536
    assert stage.execute(quote_id, "A-z.0:_" + "r" * 57, options=options).status == 200
    assert json.loads(stage.sent[0].request.body)["alexandria"]["options"] == options


@pytest.mark.parametrize("verb", VERBS)
def test_an_agent_id_of_another_alphabet_is_refused(stage: AlexandriaStage, verb: str) -> None:
    assert problem_of(stage.post(verb, VERBS[verb], agent="not an id")) == (422, "invalid_request")


# --- descriptions, logs ---------------------------------------------------------------------------


@pytest.mark.parametrize("verb", VERBS)
def test_answers_are_those_that_the_document_describes(stage: AlexandriaStage, verb: str) -> None:
    quote_id = stage.quote()
    stage.answers(ran())
    stage.execute(quote_id)
    stage.answers(ran(error={"code": "x"}) if verb == "execute" else good(verb))
    body = {**VERBS[verb], "quoteId": quote_id, "requestId": "r-2"} if verb == "execute" else VERBS[verb]
    answers = [
        stage.post(verb, body),
        stage.post(verb, body),
        stage.post(verb, VERBS[verb], token=None),
        stage.post(verb, {"wrong": 1}),
        stage.post(verb, "not json"),
    ]
    assert [answer.status for answer in answers] == [200, 200, 401, 422, 400]
    path = f"/api/v1/knowledge/alexandria/{verb}"
    for answer in answers:
        assert faults_of("POST", path, answer.status, answer.headers, answer.text) == []
        assert answer.headers["Cache-Control"] == "private, no-store"


def test_a_refused_and_a_started_receipt_are_as_the_document_describes(stage: AlexandriaStage) -> None:
    quote_id = stage.quote()
    stage.answers(refused(429))
    for answer in (stage.execute(quote_id), stage.receipt()):
        path = "/api/v1/knowledge/alexandria/" + ("execute" if "receipt" in answer.json else "receipt")
        assert faults_of("POST", path, answer.status, answer.headers, answer.text) == []
    started = a_receipt(request_id="r-3", holder=next(iter(stage.receipts.kept.values())).holder)
    stage.receipts.kept[started.holder, "r-3"] = started
    answer = stage.receipt("r-3")
    assert answer.json["state"] == "started"
    assert faults_of("POST", "/api/v1/knowledge/alexandria/receipt", 200, answer.headers, answer.text) == []


def test_one_line_is_logged_for_each_operation_at_the_service(stage: AlexandriaStage) -> None:
    stage.answers(listed(TOOL))
    stage.post("search", VERBS["search"], agent="seven")
    quote_id = stage.quote(agent="seven")
    stage.answers(ran())
    stage.execute(quote_id, agent="seven")
    stage.execute(quote_id, agent="seven")
    stage.receipt(agent="seven")
    common = {"request_id": "JKJaXmPLvHcESHA=", "agent_id": "seven", "provider": stage.provider.id}
    assert stage.log.of("alexandria.searched") == [{**common, "outcome": "success", "tools": 1}]
    assert stage.log.of("alexandria.inspected") == [{**common, "outcome": "success"}]
    (executed,) = stage.log.of("alexandria.executed")
    assert executed == {**common, "state": "done", "trouble": None, "credits": 3, "duration_ms": 0}
    assert len(stage.log.lines) == 3
