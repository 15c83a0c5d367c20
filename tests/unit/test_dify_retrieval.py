"""The gateway as Dify's external knowledge, through its real route and services, over fakes."""

from __future__ import annotations

import asyncio
import copy
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from shared.domain.credentials import Credential, CredentialStatus
from shared.domain.exposure import Audience, CredentialClass, ExposureProfile, Grant
from shared.domain.passages import Discovery, Evidence, Question, Retrieval
from shared.domain.registrations import ProviderStatus
from shared.errors import ExchangeTimeout, Refused, Unavailable
from shared.observability import REQUEST_FAULT, REQUEST_REFUSED, SEARCH_ANSWERED
from shared.web.answer_size import MAX_ANSWER_BYTES, delivered_bytes
from tests.support.admin_stage import AUDIT, AdminStage
from tests.support.builders import NOW, a_passage, a_token
from tests.support.published import faults_of
from tests.support.search_stage import Answered, Stage, event_of, passages, raising

AGENT_ONLY = ExposureProfile.AGENT_ONLY
PATH = "/api/v1/dify/retrieval"
NOT_ACCEPTED = (403, 1002)
UNKNOWN_ID = "cs_" + "a" * 16


@pytest.fixture
def stage() -> Iterator[Stage]:
    made = Stage()
    yield made
    made.close()


@pytest.fixture
def granted(stage: Stage) -> str:
    """The token of an agent that may be used as external knowledge."""
    return a_token(_an_agent(stage))


def _an_agent(stage: Stage, **over: Any) -> Credential:
    grants = frozenset({Grant.EXTERNAL_KNOWLEDGE_AGENT})
    return stage.add_credential(**{"credential_class": CredentialClass.AGENT, "grants": grants, **over})


def refusal(answer: Answered) -> tuple[int, int]:
    """Status and code of an answer that has Dify's shape of errors, and no other."""
    assert answer.headers["Content-Type"] == "application/json"
    assert set(answer.json) == {"error_code", "error_msg"}
    assert isinstance(answer.json["error_msg"], str)
    assert answer.json["error_msg"]
    assert faults_of("POST", PATH, answer.status, answer.headers, answer.text) == []
    return answer.status, answer.json["error_code"]


def records(answer: Answered) -> list[dict[str, Any]]:
    assert answer.status == 200, answer.text
    assert set(answer.json) == {"records"}
    assert faults_of("POST", PATH, answer.status, answer.headers, answer.text) == []
    found: list[dict[str, Any]] = answer.json["records"]
    return found


def the_key_alone(token: str | None) -> dict[str, Any]:
    """What Dify sends when a key is typed in: the key, and nothing else."""
    event = event_of("dify_retrieval")
    event["headers"] = {"accept": "*/*", "content-length": "0"} | (
        {"authorization": f"Bearer {token}"} if token is not None else {}
    )
    del event["body"]
    return event


def sent_as(event: dict[str, Any], token: str, **body: Any) -> dict[str, Any]:
    """The recorded retrieval with this key and these fields in place of its own."""
    event = copy.deepcopy(event)
    event["headers"]["authorization"] = f"Bearer {token}"
    event["body"] = json.dumps(json.loads(event["body"]) | body)
    return event


# --- what an assistant's key gives ---------------------------------------------------------------


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


# --- what an agent's key gives -------------------------------------------------------------------


def test_an_agents_key_is_refused_without_the_grant_and_nobody_is_asked(stage: Stage) -> None:
    stage.add(*passages(1))
    for knowledge_id in ("all", "public"):
        refused = stage.dify(token=a_token(stage.agent_credential), knowledge_id=knowledge_id)
        assert refusal(refused) == NOT_ACCEPTED
        assert "external_knowledge:agent" in refused.json["error_msg"]
    assert stage.retriever.asked == []


@pytest.mark.parametrize("grants", [frozenset({Grant.READ_PUBLIC}), frozenset({Grant.READ_INTERNAL})])
def test_no_other_grant_stands_for_it(stage: Stage, grants: frozenset[Grant]) -> None:
    assert refusal(stage.dify(token=a_token(_an_agent(stage, grants=grants)), knowledge_id="all")) == NOT_ACCEPTED


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
    token = a_token(_an_agent(stage, allowed_providers=(allowed.id, switched_off.id)))
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
    token = a_token(_an_agent(stage, allowed_providers=(allowed.id,)))
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


# --- keys ----------------------------------------------------------------------------------------


def _wrong_keys(stage: Stage) -> dict[str, str]:
    def of(credential_class: CredentialClass, **over: Any) -> str:
        return a_token(stage.add_credential(**{"credential_class": credential_class, **over}))

    assistant = CredentialClass.ASSISTANT
    return {
        "not ours": "ragflow-a1b2c3",
        "unknown": f"kg_ast_{'b' * 16}_{'5e' * 32}",
        "unknown agent": f"kg_agt_{'b' * 16}_{'5e' * 32}",
        "wrong secret": a_token(stage.assistant_credential, secret="00" * 32),
        "revoked": of(assistant, grants=frozenset({Grant.READ_PUBLIC}), status=CredentialStatus.DISABLED),
        "expired": of(assistant, grants=frozenset({Grant.READ_PUBLIC}), expires_at=NOW),
        "assistant without the grant": of(assistant),
        "agent without the grant": a_token(stage.agent_credential),
        "admin": of(CredentialClass.ADMIN),
        "widget": a_token(stage.widget_credential),
        "of another class than it says": a_token(stage.assistant_credential).replace("_ast_", "_agt_"),
        "two words": f"Bearer {a_token(stage.assistant_credential)}",
    }


def test_every_key_that_is_not_accepted_gets_the_same_bytes(stage: Stage) -> None:
    stage.add(*passages(1))
    headers = {"x-request-id": "r"}
    answers = {}
    for why, token in _wrong_keys(stage).items():
        answers[why] = stage.dify(token=token, headers=headers)
        answers[why + ", body that is none"] = stage.send_search(
            {**the_key_alone(token), "headers": {**the_key_alone(token)["headers"], **headers}}
        )
    first = answers["unknown"]
    assert refusal(first) == NOT_ACCEPTED
    assert {why: answer for why, answer in answers.items() if answer != first} == {}
    assert stage.retriever.asked == []
    assert "WWW-Authenticate" not in first.headers


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer ", "Basic a2V5", "kg_ast_" + "a" * 16 + "_" + "5e" * 32, "Token x"]
)
def test_a_header_that_is_none_has_a_code_of_its_own(stage: Stage, header: str | None) -> None:
    answer = stage.dify(headers={"authorization": header})
    assert refusal(answer) == (403, 1001)
    assert stage.credentials.reads == 0


def test_an_invented_key_causes_no_write(stage: Stage) -> None:
    stage.dify(token=f"kg_ast_{'b' * 16}_{'5e' * 32}")
    assert not stage.rate_limits.counts


# --- the check of a new key ----------------------------------------------------------------------

# What Dify takes for a reason to refuse the key; it shows every other status as a success.
REJECTS = {403, 404, 502}


def test_a_good_key_passes_difys_check_and_is_told_what_is_missing(stage: Stage, granted: str) -> None:
    for token in (a_token(stage.assistant_credential), granted):
        answer = stage.send_search(the_key_alone(token))
        assert refusal(answer) == (400, 4001)
        assert answer.status not in REJECTS
        assert "The key works." in answer.json["error_msg"]
    assert stage.retriever.asked == []


def test_a_wrong_key_does_not_pass_difys_check(stage: Stage) -> None:
    for token in (None, *_wrong_keys(stage).values()):
        assert stage.send_search(the_key_alone(token)).status in REJECTS


# --- requests as Dify sends them -----------------------------------------------------------------


def test_the_recorded_request_asks_for_what_was_typed(stage: Stage, granted: str) -> None:
    stage.add(*passages(1))
    event = event_of("dify_retrieval")
    records(stage.send_search(sent_as(event, a_token(stage.assistant_credential))))
    records(stage.send_search(sent_as(event, granted, knowledge_id="all")))
    questions = [question for _, question, _ in stage.retriever.asked]
    assert questions == [Question(query='night "ferry" pass', limit=5)] * 2


@pytest.mark.parametrize(
    ("sent", "asked"),
    [
        (r"ferry \"dawn\"", 'ferry "dawn"'),
        (r"a \\\" b", r"a \\" + '" b'),  # a quote after two backslashes was typed
        ('say "x" and \\"y', 'say "x" and \\"y'),  # not Dify's: a quote of it has no backslash
        (r"C:\ferry", r"C:\ferry"),
        (" 50 % off — naïve café 🚢 ", " 50 % off — naïve café 🚢 "),
    ],
    ids=["quotes", "backslashes", "not-dify", "no-quote", "as-it-is"],
)
def test_difys_backslashes_are_taken_away_and_nothing_else_is(stage: Stage, sent: str, asked: str) -> None:
    stage.add()
    records(stage.dify(sent))
    assert stage.retriever.asked[0][1].query == asked


def test_fields_that_are_not_known_are_ignored(stage: Stage) -> None:
    stage.add(*passages(1))
    setting = {"top_k": 3, "score_threshold": 0.9, "reranking_enable": True, "topK": "x"}
    answer = stage.dify(retrieval_setting=setting, use_kg=True, attachment_ids=[], providers=["ao_x"], audience="agent")
    assert len(records(answer)) == 1
    assert stage.retriever.asked[0][1].limit == 3


@pytest.mark.parametrize(("top_k", "limit"), [(1, 1), (7, 7), (50, 50), (51, 50), (1024, 50), (10**30, 50), (None, 10)])
def test_top_k_is_the_most_records_and_never_more_than_fifty(stage: Stage, top_k: int | None, limit: int) -> None:
    stage.add(*passages(60))
    assert len(records(stage.dify(top_k=top_k))) == limit
    assert stage.retriever.asked[0][1].limit == limit


@pytest.mark.parametrize("setting", [None, {}, {"score_threshold": None}])
def test_a_setting_may_be_left_out(stage: Stage, setting: Any) -> None:
    stage.add(*passages(12))
    assert len(records(stage.dify(retrieval_setting=setting))) == 10


def test_a_flat_request_is_enough(stage: Stage) -> None:
    """As whoever has a plain form of names and values sends it."""
    stage.add(*passages(1))
    event = event_of("dify_retrieval")
    event["headers"]["authorization"] = f"Bearer {a_token(stage.assistant_credential)}"
    event["body"] = json.dumps({"knowledge_id": "public", "query": "ferry"})
    assert len(records(stage.send_search(event))) == 1


@pytest.mark.parametrize("threshold", [0, 0.0, 0.99, 1, None])
def test_a_threshold_keeps_nothing_away(stage: Stage, threshold: float | None) -> None:
    stage.add(*passages(4))
    found = records(stage.dify(retrieval_setting={"top_k": 4, "score_threshold": threshold}))
    assert [record["score"] for record in found] == [1.0, 0.5, 1 / 3, 0.25]


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"query": ""}, "query"),
        ({"query": " \t\n"}, "query"),
        ({"query": None}, "query"),
        ({"query": 5}, "query"),
        ({"query": ["ferry"]}, "query"),
        ({"knowledge_id": None}, "knowledge_id"),
        ({"knowledge_id": 1}, "knowledge_id"),
        ({"top_k": 0}, "retrieval_setting/top_k"),
        ({"top_k": -1}, "retrieval_setting/top_k"),
        ({"top_k": "3"}, "retrieval_setting/top_k"),
        ({"top_k": 2.5}, "retrieval_setting/top_k"),
        ({"top_k": True}, "retrieval_setting/top_k"),
        ({"retrieval_setting": []}, "retrieval_setting"),
        ({"retrieval_setting": {"top_k": 1, "score_threshold": "0.5"}}, "retrieval_setting/score_threshold"),
        ({"metadata_condition": []}, "metadata_condition"),
        ({"metadata_condition": {"conditions": {}}}, "metadata_condition/conditions"),
    ],
    ids=lambda value: json.dumps(value) if isinstance(value, dict) else None,
)
def test_a_field_of_another_type_or_beyond_its_bounds_is_refused_by_name(
    stage: Stage, body: dict[str, Any], named: str
) -> None:
    stage.add(*passages(1))
    answer = stage.dify(**body)
    assert refusal(answer) == (400, 4001)
    assert f"{named}: " in answer.json["error_msg"]
    assert stage.retriever.asked == []


@pytest.mark.parametrize("left_out", ["query", "knowledge_id"])
def test_what_is_asked_and_of_what_are_needed(stage: Stage, left_out: str) -> None:
    event = sent_as(event_of("dify_retrieval"), a_token(stage.assistant_credential))
    body = json.loads(event["body"])
    del body[left_out]
    answer = stage.send_search({**event, "body": json.dumps(body)})
    assert refusal(answer) == (400, 4001)
    assert f"{left_out}: This field is required." in answer.json["error_msg"]


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", '"x"', "{", "[" * 20_000 + "]" * 20_000, '{"query":"x","query":"y"}', '{"top_k":NaN}'],
    ids=["empty", "null", "array", "string", "cut", "deep", "twice", "nan"],
)
def test_a_body_that_is_no_object_is_refused_in_difys_shape(stage: Stage, text: str) -> None:
    event = sent_as(event_of("dify_retrieval"), a_token(stage.assistant_credential))
    assert refusal(stage.send_search({**event, "body": text})) == (400, 4001)
    assert refusal(stage.send_search({**event, "body": "!", "isBase64Encoded": True})) == (400, 4001)
    assert refusal(stage.dify(headers={"content-type": "text/plain"})) == (400, 4001)


def test_a_body_beyond_a_mebibyte_is_refused(stage: Stage) -> None:
    assert refusal(stage.dify("x" * 1_048_576)) == (400, 4001)


@pytest.mark.parametrize(("caller", "most"), [("assistant", 1_024), ("agent", 4_000)])
def test_a_query_is_as_long_as_the_class_may_ask_and_is_never_cut(
    stage: Stage, granted: str, caller: str, most: int
) -> None:
    stage.retriever.limits = type(stage.retriever.limits)(query_characters=4_000, results=50, timeout_s=10.0)
    stage.add(*passages(1))
    key: dict[str, Any] = {} if caller == "assistant" else {"token": granted, "knowledge_id": "all"}
    longest = '"' + "é" * (most - 1)
    assert len(records(stage.dify(longest.replace('"', '\\"'), **key))) == 1
    assert stage.retriever.asked[0][1].query == longest
    refused = stage.dify(longest + "é", **key)
    assert refusal(refused) == (400, 4001)
    assert f"At most {most:,} characters" in refused.json["error_msg"]
    assert len(stage.retriever.asked) == 1


CONDITION = {"name": "author", "comparison_operator": "is", "value": "x"}


@pytest.mark.parametrize("condition", [None, {}, {"logical_operator": "and"}, {"conditions": []}, {"conditions": None}])
def test_a_filter_without_conditions_is_none(stage: Stage, condition: Any) -> None:
    stage.add(*passages(1))
    assert len(records(stage.dify(metadata_condition=condition))) == 1


@pytest.mark.parametrize("conditions", [[CONDITION], [CONDITION] * 3, ["?"]], ids=["one", "three", "odd"])
def test_a_filter_is_refused_because_records_that_were_not_filtered_would_be_wrong(
    stage: Stage, granted: str, conditions: list[Any]
) -> None:
    stage.add(*passages(1))
    condition = {"logical_operator": "and", "conditions": conditions}
    for key in ({}, {"token": granted, "knowledge_id": "all"}):
        answer = stage.dify(metadata_condition=condition, **key)
        assert refusal(answer) == (400, 4001)
        assert "Remove the metadata filter." in answer.json["error_msg"]
    assert stage.retriever.asked == []


def test_what_is_wrong_with_a_body_is_told_to_admitted_callers_alone(stage: Stage) -> None:
    answers = {
        stage.dify(q, token="kg_ast_none", headers={"x-request-id": "r"}).text for q in ("ferry", "", "x" * 9000)
    }
    assert len(answers) == 1


# --- manners -------------------------------------------------------------------------------------


def test_an_answer_is_never_stored_by_anybody(stage: Stage) -> None:
    for answer in (stage.dify(), stage.dify(token=None), stage.dify(top_k=0), stage.dify(knowledge_id="x")):
        assert answer.headers["Cache-Control"] == "private, no-store"
        assert answer.headers["X-Request-Id"]


@pytest.mark.parametrize("caller", ["assistant", "agent"])
def test_too_many_retrievals_are_told_when_to_come_back(stage: Stage, caller: str) -> None:
    """429, so that no version of Dify takes it for an empty list. Nobody is asked."""
    if caller == "assistant":
        grants = frozenset({Grant.READ_PUBLIC})
        credential = stage.add_credential(credential_class=CredentialClass.ASSISTANT, grants=grants, rate_per_minute=1)
    else:
        credential = _an_agent(stage, rate_per_minute=1)
    key = {"token": a_token(credential), "knowledge_id": "public" if caller == "assistant" else "all"}
    assert records(stage.dify(**key)) == []
    stage.add(*passages(1))
    answer = stage.dify(**key)
    assert refusal(answer) == (429, 4002)
    assert 1 <= int(answer.headers["Retry-After"]) <= 60
    assert stage.retriever.asked == []


def test_retrievals_and_searches_are_counted_together(stage: Stage) -> None:
    stage.dify()
    stage.assistant()
    assert sum(stage.rate_limits.counts.values()) == 2
    assert {subject for subject, _ in stage.rate_limits.counts} == {stage.assistant_credential.id}


@pytest.mark.parametrize("part", ["customer_catalog", "credentials", "rate_limits"])
def test_a_store_that_cannot_be_read_is_a_503_which_dify_asks_again(stage: Stage, part: str) -> None:
    getattr(stage, part).failure = Unavailable()
    answer = stage.dify()
    assert refusal(answer) == (503, 5002)
    assert int(answer.headers["Retry-After"]) >= 1
    assert [line["status"] for line in stage.log.of(REQUEST_REFUSED)] == [503]


def test_the_grant_is_missed_also_while_the_catalogue_is_down(stage: Stage) -> None:
    stage.catalog.failure = Unavailable()
    assert refusal(stage.dify(token=a_token(stage.agent_credential), knowledge_id="all")) == NOT_ACCEPTED


def test_a_fault_nobody_expected_has_difys_shape_too(stage: Stage) -> None:
    async def broken() -> Any:
        raise KeyError("inside words")

    stage.customer_catalog.sources = broken  # type: ignore[method-assign]
    answer = stage.dify()
    assert refusal(answer) == (500, 5003)
    assert "inside words" not in answer.text + str(stage.log.lines)
    assert len(stage.log.of(REQUEST_FAULT)) == 1


def test_the_shape_belongs_to_this_path_alone(stage: Stage) -> None:
    stage.dify(token=None)
    assert stage.assistant(token=None).headers["Content-Type"] == "application/problem+json"


def test_the_log_line_is_that_of_a_search_and_says_nothing_of_what_was_asked_or_found(
    stage: Stage, granted: str
) -> None:
    stage.add(a_passage(title="zqTitle", snippet="zqSnippet"))
    stage.dify("zqQuery")
    stage.dify("zqQuery", token=granted, knowledge_id="all", headers={"x-helpthread-agent-id": "zqAgent"})
    stage.dify("zqQuery", knowledge_id="zqKnowledge")
    stage.dify("zqQuery", token="kg_ast_zqToken")
    lanes = [(line["lane"], line["result_count"], line["agent_id"]) for line in stage.log.of(SEARCH_ANSWERED)]
    assert lanes == [("customer", 1, None), ("agent", 1, None)]
    assert "zq" not in str(stage.log.lines)


def test_no_answer_comes_later_than_dify_waits(stage: Stage, granted: str) -> None:
    """Four seconds of the five, on the gateway's clock; what a caller sends changes nothing."""
    stage.add()
    for key in ({}, {"token": granted, "knowledge_id": "all"}):
        stage.dify(deadlineMs=25_000, deadline_ms=25_000, **key)
    assert [at_s - stage.clock.monotonic() for _, at_s in stage.exchanges.opened] == [4.0, 4.0]


def test_a_slow_source_costs_the_deadline_and_its_own_records(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("functions.search.dify.DEADLINE_MS", 200)

    async def hang(_question: Question) -> Retrieval:
        await asyncio.Event().wait()
        raise AssertionError

    stage.add(*passages(2))
    stage.add(act=hang)
    begun = time.monotonic()
    assert len(records(stage.dify())) == 2
    assert time.monotonic() - begun < 3.0


def test_the_largest_answer_can_be_delivered(stage: Stage, granted: str) -> None:
    wide = {
        "title": "\x01" * 512,
        "document_id": '"' * 512,
        "locale": "x" * 35,
        "url": "https://a.example/" + "\\" * 2030,
    }
    stage.add(*(a_passage(snippet='"' * 8_000, **wide) for _ in range(50)))
    for key in ({}, {"token": granted, "knowledge_id": "all"}):
        answer = stage.dify(top_k=50, **key)
        assert len(records(answer)) == 50
        assert delivered_bytes(answer.text) <= MAX_ANSWER_BYTES
