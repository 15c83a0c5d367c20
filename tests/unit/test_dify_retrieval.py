"""The gateway as Dify's external knowledge: what a key gets, through the real route and services, over fakes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from shared.domain.exposure import Audience, ExposureProfile, Grant
from shared.domain.passages import Discovery, Evidence, Question, Retrieval
from shared.domain.registrations import ProviderStatus
from shared.errors import ExchangeTimeout, Refused
from shared.observability import SEARCH_ANSWERED
from tests.support.admin_stage import AUDIT, AdminStage
from tests.support.builders import NOW, a_passage, a_token
from tests.support.dify_calls import NOT_ACCEPTED, an_agent, records, refusal
from tests.support.search_stage import Stage, passages, raising

AGENT_ONLY = ExposureProfile.AGENT_ONLY
UNKNOWN_ID = "cs_" + "a" * 16


@pytest.fixture
def stage() -> Iterator[Stage]:
    made = Stage()
    yield made
    made.close()


@pytest.fixture
def granted(stage: Stage) -> str:
    return a_token(an_agent(stage))


# --- what an assistant's key gives ----------------------------------------------------------------


def test_an_assistants_key_gets_public_passages_in_difys_shape(stage: Stage) -> None:
    stage.add(
        a_passage(
            document_id="handbook-7",
            title="Ferry passes",
            snippet="Valid on every night ferry.",
            url="https://help.fern-desk.example/passes",
            locale="de-AT",
            score=0.93,
            revision="r-1",
            chunk_id="c-1",
        )
    )
    (record,) = records(stage.dify())
    assert record == {
        "content": "Valid on every night ferry.",
        "score": 1.0,
        "title": "Ferry passes",
        "metadata": {
            "document_id": "https://help.fern-desk.example/passes",
            "url": "https://help.fern-desk.example/passes",
            "locale": "de-AT",
        },
    }


def test_metadata_is_an_object_whose_document_id_is_a_string_also_where_nothing_is_known(stage: Stage) -> None:
    stage.add(a_passage(document_id="handbook-7", title="Ferry passes", url=None, locale=None))
    (record,) = records(stage.dify())
    assert record["metadata"] == {"document_id": "Ferry passes"}


def test_an_internal_provider_is_not_even_asked(stage: Stage) -> None:
    public = stage.add(*passages(1))
    stage.add(*passages(1), exposure_profile=AGENT_ONLY)
    records(stage.dify())
    assert stage.retriever.asked_ids == [public.id]


def test_an_internal_result_of_a_public_provider_is_dropped(stage: Stage) -> None:
    stage.add(a_passage(title="slip", audience=Audience.INTERNAL), a_passage(title="fine"))
    (record,) = records(stage.dify())
    assert (record["title"], record["score"]) == ("fine", 1.0)
    assert stage.log.of(SEARCH_ANSWERED)[0]["providers"][0]["warnings"] == ["internal_dropped"]


def test_nothing_found_is_an_empty_list(stage: Stage) -> None:
    assert records(stage.dify()) == []
    stage.add(*passages(1), status=ProviderStatus.DISABLED)
    assert records(stage.dify()) == []


def test_a_failed_source_leaves_no_trace_for_an_assistant(stage: Stage) -> None:
    nothing = stage.dify(headers={"x-request-id": "r"})
    stage.add(act=raising(Refused("unauthorized", retry_at=NOW + 60)))
    assert stage.dify(headers={"x-request-id": "r"}) == nothing


@pytest.mark.parametrize("knowledge_id", ["all", "", "Public", "public,all", UNKNOWN_ID, "x" * 5000])
def test_an_assistant_knows_public_knowledge_alone(stage: Stage, knowledge_id: str) -> None:
    stage.add(*passages(1), id=UNKNOWN_ID)
    assert refusal(stage.dify(knowledge_id=knowledge_id)) == (404, 2001)
    assert stage.retriever.asked == []


def test_spaces_around_the_typed_id_do_not_matter(stage: Stage) -> None:
    stage.add(*passages(1))
    assert len(records(stage.dify(knowledge_id=" public\n"))) == 1


# --- what an agent's key gives --------------------------------------------------------------------


def test_an_agents_key_is_refused_without_the_grant_and_nobody_is_asked(stage: Stage) -> None:
    stage.add(*passages(1))
    for knowledge_id in ("all", "public"):
        refused = stage.dify(token=a_token(stage.agent_credential), knowledge_id=knowledge_id)
        assert refusal(refused) == NOT_ACCEPTED
        assert "external_knowledge:agent" in refused.json["error_msg"]
    assert stage.retriever.asked == []


@pytest.mark.parametrize("grants", [frozenset({Grant.READ_PUBLIC}), frozenset({Grant.READ_INTERNAL})])
def test_no_other_grant_stands_for_it(stage: Stage, grants: frozenset[Grant]) -> None:
    assert refusal(stage.dify(token=a_token(an_agent(stage, grants=grants)), knowledge_id="all")) == NOT_ACCEPTED


def test_the_grant_is_an_admins_act_with_entries_in_the_audit() -> None:
    grant = ["external_knowledge:agent"]
    admin = AdminStage()
    try:
        path = admin.issue(**{"class": "agt"}, grants=grant).headers["Location"]
        admin.clock.advance(1)
        assert admin.call("PATCH", path, {"grants": []}, if_match='"1"').json["grants"] == []
        admin.clock.advance(1)
        assert admin.call("PATCH", path, {"grants": grant}, if_match='"2"').json["grants"] == grant
        entries = admin.call("GET", AUDIT).json["entries"]
    finally:
        admin.close()
    told = [(one["action"], one["actor"], one["before"], one["after"]) for one in entries[:2]]
    assert told == [
        ("credential.updated", "root", {"grants": []}, {"grants": grant}),
        ("credential.updated", "root", {"grants": grant}, {"grants": []}),
    ]
    assert entries[2]["after"]["grants"] == grant


def test_the_grant_changes_nothing_for_a_search(stage: Stage, granted: str) -> None:
    stage.add(*passages(1), exposure_profile=AGENT_ONLY)
    assert len(stage.agent(token=granted).json["results"]) == 1
    assert len(stage.agent().json["results"]) == 1


def test_an_agents_key_with_the_grant_gets_both_kinds_of_sources_and_where_they_come_from(
    stage: Stage, granted: str
) -> None:
    public = stage.add(a_passage(title="Public", url=None, locale=None, document_id="p-1"), priority=1)
    internal = stage.add(
        a_passage(
            title="Internal",
            document_id="i-1",
            audience=Audience.INTERNAL,
            evidence=Evidence.DERIVED_CONTEXT,
            url="https://desk.fern-desk.example/i",
            locale="en",
        ),
        exposure_profile=AGENT_ONLY,
        priority=2,
    )
    found = records(stage.dify(token=granted, knowledge_id="all"))
    assert [(r["title"], r["score"]) for r in found] == [("Public", 1.0), ("Internal", 0.5)]
    assert [r["metadata"] for r in found] == [
        {"document_id": "p-1", "provider_id": public.id, "evidence": "source_excerpt"},
        {
            "document_id": "i-1",
            "url": "https://desk.fern-desk.example/i",
            "locale": "en",
            "provider_id": internal.id,
            "evidence": "derived_context",
        },
    ]


def test_the_id_of_a_provider_asks_that_one_alone(stage: Stage, granted: str) -> None:
    wanted, _other = stage.add(*passages(2)), stage.add(*passages(1))
    assert len(records(stage.dify(token=granted, knowledge_id=wanted.id))) == 2
    assert stage.retriever.asked_ids == [wanted.id]


def test_a_provider_that_may_not_be_asked_looks_like_one_that_is_not_there(stage: Stage) -> None:
    allowed, beyond = stage.add(*passages(1)), stage.add(*passages(1), exposure_profile=AGENT_ONLY)
    switched_off = stage.add(*passages(1), status=ProviderStatus.DISABLED)
    token = a_token(an_agent(stage, allowed_providers=(allowed.id, switched_off.id)))
    answers = {
        stage.dify(token=token, knowledge_id=id_, headers={"x-request-id": "r"}).text
        for id_ in (beyond.id, switched_off.id, UNKNOWN_ID, "who?", "public", "ALL", f"{allowed.id},{beyond.id}")
    }
    assert len(answers) == 1
    assert refusal(stage.dify(token=token, knowledge_id=beyond.id)) == (404, 2001)
    assert stage.retriever.asked == []


def test_the_credentials_own_list_is_a_ceiling_for_all(stage: Stage) -> None:
    allowed = stage.add(*passages(1))
    stage.add(*passages(1), exposure_profile=AGENT_ONLY)
    token = a_token(an_agent(stage, allowed_providers=(allowed.id,)))
    assert len(records(stage.dify(token=token, knowledge_id="all"))) == 1
    assert stage.retriever.asked_ids == [allowed.id]


def test_some_failing_sources_do_not_spoil_the_records_of_the_others(stage: Stage, granted: str) -> None:
    stage.add(act=raising(ExchangeTimeout()))
    stage.add(*passages(2))
    assert len(records(stage.dify(token=granted, knowledge_id="all"))) == 2


@pytest.mark.parametrize("error", [ExchangeTimeout(), Refused("not_found"), Refused("circuit_open"), KeyError("x")])
@pytest.mark.parametrize("named", [True, False])
def test_when_no_source_answered_an_agent_is_told_so_instead_of_that_nothing_was_found(
    stage: Stage, granted: str, error: Exception, named: bool
) -> None:
    provider = stage.add(act=raising(error))
    answer = stage.dify(token=granted, knowledge_id=provider.id if named else "all")
    assert refusal(answer) == (424, 5001)
    assert provider.id not in answer.text


def test_a_source_that_found_nothing_is_no_failure(stage: Stage, granted: str) -> None:
    provider = stage.add()
    assert records(stage.dify(token=granted, knowledge_id=provider.id)) == []


def test_places_without_text_are_no_records(stage: Stage, granted: str) -> None:
    async def cites(_question: Question) -> Retrieval:
        return Retrieval(
            passages=(a_passage(snippet=" \n"), a_passage(title="with text")),
            discoveries=(Discovery(url="https://docs.example.com/x", title="a place"),),
        )

    stage.add(act=cites, exposure_profile=AGENT_ONLY)
    (record,) = records(stage.dify(token=granted, knowledge_id="all"))
    assert (record["title"], record["score"]) == ("with text", 1.0)
    stage.add(a_passage(snippet="\t"), a_passage(title="public text"))
    assert [r["title"] for r in records(stage.dify())] == ["public text"]
