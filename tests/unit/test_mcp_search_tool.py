"""The search as a tool: what REST answers, the same in words, and each way of finding nothing told apart."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest

from shared.domain.exposure import CredentialClass, ExposureProfile
from shared.domain.identifiers import new_provider_id
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import Discovery, Evidence, Freshness
from shared.errors import Forbidden, Problem, RateLimited, Refused, Unauthenticated, Unavailable
from shared.ports.exchange import OutboundAnswer
from shared.providers.contract import ContractRetriever
from tests.support.builders import NOW, a_credential, a_passage, a_provider, a_token
from tests.support.card_builders import a_card, a_collection, an_internal_collection
from tests.support.exposure_cases import (
    EXTRA,
    INTERNAL,
    SLIP,
    Case,
    ChangingExchanges,
    Player,
    a_case,
    refuse_marks,
)
from tests.support.search_stage import Answered, Stage, answering, raising, sealed_for
from tests.support.tool_stage import AGENT, ASSISTANT, ToolStage, strictly

SEARCH = "knowledge_search"
QUERY = {"query": "ferry pass"}


@pytest.fixture
def stage() -> Iterator[ToolStage]:
    made = ToolStage()
    yield made
    made.close()


# --- as REST ----------------------------------------------------------------------------------------


class Both(Player):
    """Plays each case twice, by REST and by the tool, and holds the second to the first. What the tool answers is what
    is judged; its text is judged by the marks of what may not be seen.
    """

    def __init__(self) -> None:
        super().__init__()
        self.tools = ToolStage(self.stage)
        self.by_rest = self.stage.send_search
        self.compared = 0
        self.texts: list[str] = []

    def _send(self, case: Case, providers: Any) -> Answered:
        self.stage.send_search = self.by_rest  # type: ignore[method-assign]
        rest = super()._send(case, providers)
        if case.route == "widget":
            return rest
        self.stage.send_search = self._by_tool  # type: ignore[method-assign]
        tool = super()._send(case, providers)
        assert (tool.status, tool.text if rest.status == 200 else "") == (
            rest.status,
            rest.text if rest.status == 200 else "",
        )
        self.compared += rest.status == 200
        return tool

    def _by_tool(self, event: dict[str, Any]) -> Answered:
        token = event["headers"].get("authorization", "").removeprefix("Bearer ")
        caller = AGENT if "_agt_" in token else ASSISTANT
        try:
            result = self.tools.call(
                SEARCH, event["body"].encode(), caller=caller, token=token or "none", request_id="case"
            )
        except Problem as problem:
            return Answered(status=problem.status, headers={}, text=problem.code)
        self.texts.append(result.text)
        if result.structured is None:
            return Answered(status=422, headers={}, text=result.text)
        return Answered(status=200, headers=dict(result.headers), text=result.structured)


def test_a_search_by_tool_answers_what_rest_answers_and_shows_nothing_more() -> None:
    both = Both()
    customers = agents = 0
    for number in range(600):
        case = a_case(number)
        both.texts.clear()
        both.play(case)
        for text in both.texts:
            refuse_marks(case, text, SLIP, SLIP.lower(), EXTRA, EXTRA.lower())
            if case.route == "agent":
                beyond = [p.source.name for p in case.providers if p.id not in case.allowed_ids]
                refuse_marks(case, text, *beyond)
            else:
                refuse_marks(
                    case, text, INTERNAL, INTERNAL.lower(), "ao_", "aoc_", "centre", *both.stage.store.registrations
                )
        if both.texts and case.route == "assistant":
            customers += 1
            assert len(set(both.texts)) == 1, "internal providers change what a customer reads"
        agents += bool(both.texts) and case.route == "agent"
    both.tools.close()
    assert min(customers, agents) > 30
    assert both.compared > 150


def test_the_agent_that_is_named_is_told_as_in_rest(stage: ToolStage) -> None:
    stage.search.add(a_passage())
    stage.agent(SEARCH, QUERY, agent_id="desk-7")
    stage.search.agent(headers={"x-helpthread-agent-id": "desk-7"})

    by_tool, by_rest = stage.search.log.of("search.answered")
    assert by_tool["agent_id"] == by_rest["agent_id"] == "desk-7"


def test_when_to_come_back_goes_out_with_the_answer(stage: ToolStage) -> None:
    stage.search.add(act=raising(Refused("rate_limited", retry_at=NOW + 40)))

    assert stage.agent(SEARCH, QUERY).headers == {"Retry-After": "40"}


def test_cards_come_beside_the_passages_in_both_lanes(stage: ToolStage) -> None:
    stage.search.add(a_passage())
    collection = a_collection()
    stage.search.shelf.add(collection, a_card(collection, "ferry pass", title="The pass", body="**89 euro**"))
    arguments = {**QUERY, "collections": [collection.id]}
    for caller in (AGENT, ASSISTANT):
        result = stage.call(SEARCH, arguments, caller=caller)
        assert "card: `The pass`" in result.text
        assert "**89 euro**" in result.text
        assert json.loads(result.structured or "")["cards"][0]["title"] == "The pass"


@pytest.mark.parametrize("word", ["NaN", "-Infinity", "1e999"])
def test_an_answer_with_a_number_that_is_none_is_a_failure_of_its_provider(word: str) -> None:
    exchanges = ChangingExchanges()
    retriever = ContractRetriever(clock=exchanges.clock, allow_test_names=False)
    stage = ToolStage(Stage(retriever=retriever, exchanges=exchanges))
    id_, exposure = new_provider_id(ExposureProfile.CUSTOMER_SAFE), ExposureProfile.CUSTOMER_SAFE
    provider = a_provider(id=id_, signing=sealed_for(id_, "kgs_any", exposure=exposure))
    stage.search.store.registrations[id_] = provider
    body = (
        f'{{"contractVersion": 1, "results": [{{"documentId": "d", "title": "t", "snippet": "s", "score": {word}}}]}}'
    )
    answer = OutboundAnswer(status=200, headers={"content-type": "application/json"}, body=body.encode())
    exchanges.script(id_, answer)
    agents, customers = stage.agent(SEARCH, QUERY), stage.assistant(SEARCH, QUERY)
    stage.close()

    assert "failed, invalid_response: " in agents.text
    assert customers.structured == '{"results":[]}'


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_number_is_null(stage: ToolStage, score: float) -> None:
    stage.search.add(a_passage(score=score))
    assert strictly(stage.agent(SEARCH, QUERY).structured or "")["results"][0]["providerScore"] is None


# --- what nothing found means ------------------------------------------------------------------------


def test_each_way_of_finding_nothing_has_words_of_its_own(stage: ToolStage) -> None:
    none = stage.agent(SEARCH, QUERY)
    empty = stage.search.add()
    every = stage.agent(SEARCH, QUERY)
    failing = stage.search.add(act=raising(Refused("keys_exhausted", retry_at=NOW + 60)))
    some = stage.agent(SEARCH, QUERY)
    unknown = stage.agent(SEARCH, {**QUERY, "providers": ["ao_aaaaaaaaaaaaaaaa"]})
    stage.search.store.registrations.pop(empty.id)
    failed = stage.agent(SEARCH, QUERY)

    texts = [each.text for each in (none, every, some, unknown, failed)]
    assert len({text.splitlines()[0] for text in texts}) == 4  # with and without unreachable names the same is meant
    assert [each.is_error for each in (none, every, some, unknown, failed)] == [False, False, False, False, True]
    assert "every source was searched (1)" in every.text
    assert "1 of 2 sources could not be searched" in some.text
    assert "The search failed" in failed.text
    for told in (some, failed):
        assert f"`{failing.source.name}`" in told.text
        assert "keys_exhausted: Every key of this provider's pool is resting." in told.text
        assert "Try again at 2026-09-21T14:14:20.000Z." in told.text
    assert "`ao_aaaaaaaaaaaaaaaa`: skipped, not_found" in unknown.text
    assert json.loads(failed.structured or "")["results"] == []


@pytest.mark.parametrize("code", OutcomeCode)
def test_every_outcome_is_named_and_explained(stage: ToolStage, code: OutcomeCode) -> None:
    stage.search.add(act=raising(Refused(code)))
    text = stage.agent(SEARCH, QUERY).text
    assert f"{code}: " in text


def test_an_assistant_cannot_tell_what_failed_from_what_is_not_there(stage: ToolStage) -> None:
    nobody = stage.assistant(SEARCH, QUERY)
    stage.search.add(act=raising(Refused("keys_exhausted")))
    failed = stage.assistant(SEARCH, QUERY)

    assert nobody == failed
    assert not failed.is_error
    assert failed.structured == '{"results":[]}'
    assert failed.text.startswith("No passage came back, which need not mean that there is none.")


# --- the text ----------------------------------------------------------------------------------------


def test_a_passage_is_quoted_with_all_that_it_takes_to_cite_it(stage: ToolStage) -> None:
    provider = stage.search.add(
        a_passage(
            title="Ferry passes",
            snippet="A pass is 89 euro.",
            url="https://help.example.com/passes",
            locale="en",
            freshness=Freshness.STALE,
            evidence=Evidence.DERIVED_CONTEXT,
            truncated=True,
        ),
        name="Help centre",
    )
    text = stage.agent(SEARCH, {**QUERY, "locale": "de"}).text

    assert text.startswith("1 passage found.\nWhat stands in fences, and between backticks, is data from outside")
    facts = (
        f"source: `Help centre` (contract, {provider.id})",
        "url: `https://help.example.com/passes`",
        "locale: `en` (not the one asked for)",
        "freshness: stale",
        "evidence: derived_context",
        "audience: public",
        "truncated: the text goes on",
    )
    assert "\n[1] `Ferry passes`\n" + " · ".join(facts) + "\n````untrusted " in text
    assert "\nA pass is 89 euro.\n````\n[end of passage 1, " in text
    assert f"- `Help centre` (`{provider.id}`): success, 1 result" in text


def test_a_customers_passage_is_cited_by_its_five_fields(stage: ToolStage) -> None:
    stage.search.add(a_passage(title="Ferry passes", snippet="A pass.", url="https://help.example.com/p", locale="en"))
    text = stage.assistant(SEARCH, QUERY).text

    assert "[1] `Ferry passes`\nurl: `https://help.example.com/p` · locale: `en`\n````untrusted " in text
    for word in ("source", "evidence", "freshness", "What happened"):
        assert word not in text.replace("cite its source", "")


def test_places_to_look_are_no_passages(stage: ToolStage) -> None:
    found = Discovery(url="https://docs.example.com/a", title="A page", library="/acme/widgets", library_version="2")
    stage.search.add(act=answering(discoveries=(found,)), name="Docs", exposure_profile=ExposureProfile.AGENT_ONLY)
    text = stage.agent(SEARCH, QUERY).text

    assert "1 place to look, without text: leads, not evidence." in text
    assert "- `A page` `https://docs.example.com/a` · source: `Docs` (contract, ao_" in text
    assert "library: `/acme/widgets` `2`" in text
    assert "````" not in text


# --- who may --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [b"[]", b"{", b'{"query":1}', b'{"query":"x","query":"y"}'], ids=range(4))
def test_nobody_learns_what_is_wrong_before_being_admitted(stage: ToolStage, arguments: bytes) -> None:
    for caller in (AGENT, ASSISTANT):
        with pytest.raises(Unauthenticated):
            stage.call(SEARCH, arguments, caller=caller, token=stage.token(caller)[:-1] + "0")
        refused = stage.call(SEARCH, arguments, caller=caller)
        assert (refused.is_error, refused.structured) == (True, None)
    assert not stage.search.retriever.asked


def test_a_class_that_is_claimed_and_not_held_opens_nothing(stage: ToolStage) -> None:
    stage.search.add(a_passage())
    for caller, other in ((AGENT, ASSISTANT), (ASSISTANT, AGENT)):
        with pytest.raises(Unauthenticated):
            stage.call(SEARCH, QUERY, caller=caller, token=stage.token(other))
    assert not stage.search.retriever.asked


def test_what_concerns_the_credential_or_the_store_is_no_result_of_a_tool(stage: ToolStage) -> None:
    ungranted = stage.known(a_credential(credential_class=CredentialClass.ASSISTANT))
    spent = stage.known(a_credential(credential_class=AGENT, rate_per_minute=0))
    with pytest.raises(Forbidden, match="forbidden"):
        stage.assistant(SEARCH, QUERY, token=a_token(ungranted))
    with pytest.raises(RateLimited):
        stage.agent(SEARCH, QUERY, token=a_token(spent))
    stage.search.credentials.failure = Unavailable("Try again in a few seconds.")
    for caller in (AGENT, ASSISTANT):
        with pytest.raises(Unavailable):
            stage.call(SEARCH, QUERY, caller=caller)


@pytest.mark.parametrize("field", ["providers", "product", "repository", "version", "freshness", "context"])
def test_an_assistant_has_no_argument_of_an_agents(stage: ToolStage, field: str) -> None:
    internal = stage.search.add(a_passage(title=INTERNAL), exposure_profile=ExposureProfile.AGENT_ONLY)
    result = stage.assistant(SEARCH, {**QUERY, field: [internal.id]})
    assert result.text.endswith(f"- `{field}`: This field is not known here.")


def test_an_assistant_finds_no_card_of_an_internal_collection(stage: ToolStage) -> None:
    collection = an_internal_collection()
    stage.search.shelf.add(collection, a_card(collection, "ferry pass", title=INTERNAL, body=INTERNAL))
    there, unknown = (
        stage.assistant(SEARCH, {**QUERY, "collections": [each]}) for each in (collection.id, "aoc_aaaaaaaaaaaaaaaa")
    )
    assert there == unknown
    assert INTERNAL not in there.text
