"""Servers that implement Dify's External Knowledge API: tried at once, each with its own address and credential."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from shared.domain.bindings import DifyExternalConfig
from shared.domain.identifiers import fingerprint_of
from shared.errors import ConnectionFailed, Refused
from tests.support.admin_stage import AN_INSTANCE, AUDIT, INSTANCES, PROVIDERS, AdminStage, Answered

EXTERNAL: dict[str, Any] = {
    "name": "Harbour notes",
    "kind": "dify_external",
    "baseUrl": "https://harbour.fern-desk.test/knowledge",
    "credential": {"action": "replace", "value": "harbour-demo"},
    "config": {"knowledgeId": "notes"},
    "testQuery": "opening hours",
}
NEW_KEY = {"action": "replace", "value": "harbour-other"}
PUBLIC = {"exposureProfile": "customer_safe", "credentialReachesPublicContentOnly": True}


@pytest.fixture
def stage() -> Iterator[AdminStage]:
    stage = AdminStage(private_network_available=True)
    yield stage
    stage.close()


def register(stage: AdminStage, **over: Any) -> Answered:
    created = stage.call("POST", PROVIDERS, EXTERNAL | over)
    assert created.status == 201, created.text
    return created


def test_it_is_tried_at_once_and_active_after_that(stage: AdminStage) -> None:
    created = register(stage)
    source, question, credential = stage.server.asked[0]

    assert (created.json["status"], created.json["needsTest"]) == ("active", False)
    assert (question.query, credential) == ("opening hours", "harbour-demo")
    assert source.base_url == created.json["baseUrl"] == EXTERNAL["baseUrl"]
    assert created.json["credentialFingerprint"] == fingerprint_of("harbour-demo")
    assert created.json["config"] == {"knowledgeId": "notes", "scoreThreshold": 0.0}
    assert created.json == stage.call("GET", created.headers["Location"]).json


def test_a_failed_test_leaves_nothing_behind(stage: AdminStage) -> None:
    stage.server.failures = {"retrieve": Refused("unauthorized")}
    refused = stage.call("POST", PROVIDERS, EXTERNAL)

    assert (refused.code, refused.json["outcome"]) == ("test_failed", "unauthorized")
    assert (stage.store.registrations, len(stage.store.audit)) == ({}, 0)


def test_it_is_agent_only_unless_somebody_answers_for_its_credential(stage: AdminStage) -> None:
    refused = stage.call("POST", PROVIDERS, EXTERNAL | {"exposureProfile": "customer_safe"})

    assert register(stage).json["exposureProfile"] == "agent_only"
    assert refused.pointers == ["/credentialReachesPublicContentOnly"]
    public = register(stage, **PUBLIC, baseUrl="https://open.fern-desk.test", credential=NEW_KEY)
    assert (public.json["id"][:3], public.json["credentialReachesPublicContentOnly"]) == ("cs_", True)


def test_its_credential_is_not_shared_with_the_other_exposure_profile(stage: AdminStage) -> None:
    register(stage)

    assert stage.call("POST", PROVIDERS, EXTERNAL | PUBLIC).code == "credential_used_elsewhere"
    shared = {"baseUrl": EXTERNAL["baseUrl"], "credential": EXTERNAL["credential"]}
    assert stage.call("POST", INSTANCES, AN_INSTANCE | PUBLIC | shared).code == "credential_used_elsewhere"


def test_a_risk_is_acknowledged_before_anything_is_sent(stage: AdminStage) -> None:
    url = "http://10.1.2.3/knowledge"
    refused = stage.call("POST", PROVIDERS, EXTERNAL | {"baseUrl": url})
    asked_before = len(stage.server.asked)
    acknowledged = {"url": refused.json["baseUrl"], "risks": refused.json["risks"]}
    created = register(stage, baseUrl=url, acknowledge=acknowledged)

    assert (refused.code, asked_before) == ("risk_not_acknowledged", 0)
    assert created.json["acknowledged"] == ["plain_http", "private_network"]


def test_a_repeated_request_shows_the_provider_and_asks_the_server_nothing(stage: AdminStage) -> None:
    first = stage.call("POST", PROVIDERS, EXTERNAL, key="external-1")
    again = stage.call("POST", PROVIDERS, EXTERNAL, key="external-1")

    assert (again.status, again.json, len(stage.server.asked)) == (201, first.json, 1)


@pytest.mark.parametrize(
    "change",
    [
        {"config": {"knowledgeId": "other"}},
        {"config": {"scoreThreshold": 0.5}},
        {"credential": NEW_KEY},
        {"credential": {"action": "clear"}},
        {"baseUrl": "https://harbour.fern-desk.test/other"},
    ],
    ids=["knowledge", "threshold", "replace", "clear", "path"],
)
def test_what_changes_how_it_is_asked_is_tried_first(stage: AdminStage, change: dict[str, Any]) -> None:
    path = register(stage).headers["Location"]
    untried = stage.call("PATCH", path, change, if_match='"1"')
    stage.server.failures = {"retrieve": ConnectionFailed()}
    failed = stage.call("PATCH", path, change | {"testQuery": "boats"}, if_match='"1"')
    stage.server.failures = {}
    changed = stage.call("PATCH", path, change | {"testQuery": "boats"}, if_match='"1"')

    assert (untried.pointers, failed.code) == (["/testQuery"], "test_failed")
    assert (changed.status, changed.etag, stage.server.asked[-1][1].query) == (200, '"2"', "boats")


def test_what_is_left_out_of_a_config_stays(stage: AdminStage) -> None:
    path = register(stage).headers["Location"]
    stage.call("PATCH", path, {"config": {"scoreThreshold": 0.5}, "testQuery": "boats"}, if_match='"1"')
    changed = stage.call("PATCH", path, {"config": {"knowledgeId": "other"}, "testQuery": "boats"}, if_match='"2"')

    assert changed.json["config"] == {"knowledgeId": "other", "scoreThreshold": 0.5}


def test_its_name_and_limits_need_no_test(stage: AdminStage) -> None:
    path = register(stage).headers["Location"]
    changed = stage.call("PATCH", path, {"name": "Renamed", "resultLimit": 2, "status": "disabled"}, if_match='"1"')

    assert (changed.json["name"], changed.json["resultLimit"], changed.json["status"]) == ("Renamed", 2, "disabled")
    assert len(stage.server.asked) == 1


def test_its_credential_is_never_taken_along_to_another_origin(stage: AdminStage) -> None:
    path = register(stage).headers["Location"]
    moved = {"baseUrl": "https://new.fern-desk.test/knowledge", "testQuery": "boats"}
    refused = stage.call("PATCH", path, moved, if_match='"1"')
    changed = stage.call("PATCH", path, moved | {"credential": NEW_KEY}, if_match='"1"')

    assert (refused.code, len(stage.server.asked)) == ("credential_required", 2)
    assert (changed.json["baseUrl"], stage.server.asked[-1][2]) == (moved["baseUrl"], "harbour-other")


def test_what_was_said_of_one_credential_says_nothing_of_the_next(stage: AdminStage) -> None:
    path = register(stage, **PUBLIC).headers["Location"]
    change = {"credential": NEW_KEY, "testQuery": "boats"}
    said = change | {"credentialReachesPublicContentOnly": True}

    assert stage.call("PATCH", path, change, if_match='"1"').pointers == ["/credentialReachesPublicContentOnly"]
    assert stage.call("PATCH", path, said, if_match='"1"').status == 200


@pytest.mark.parametrize(
    "change",
    [
        {"credential": {"action": "clear"}},
        {"baseUrl": "https://new.fern-desk.test/knowledge", "credential": {"action": "clear"}},
        {"baseUrl": "https://harbour.fern-desk.test/another-tenant"},
    ],
    ids=str,
)
def test_what_was_said_of_one_place_says_nothing_of_another(stage: AdminStage, change: dict[str, Any]) -> None:
    path, body = register(stage, **PUBLIC).headers["Location"], change | {"testQuery": "opening hours"}
    asked = len(stage.server.asked)
    silent = stage.call("PATCH", path, body, if_match='"1"')

    assert (silent.status, silent.pointers) == (422, ["/credentialReachesPublicContentOnly"])
    assert len(stage.server.asked) == asked
    said = stage.call("PATCH", path, body | {"credentialReachesPublicContentOnly": True}, if_match='"1"')
    assert (said.status, said.json["credentialReachesPublicContentOnly"]) == (200, True)


def test_defaults_are_restored_and_what_is_asked_for_stays(stage: AdminStage) -> None:
    created = register(stage, config={"knowledgeId": "notes", "scoreThreshold": 0.5}, resultLimit=2)
    restored = stage.call("POST", f"{created.headers['Location']}/restore-defaults", {"testQuery": "boats"})

    assert restored.json["config"] == {"knowledgeId": "notes", "scoreThreshold": 0.0}
    assert restored.json["resultLimit"] == 6
    assert stage.store.registrations[created.json["id"]].source.config == DifyExternalConfig(knowledge_id="notes")


def test_the_audit_knows_address_and_statement_and_no_credential(stage: AdminStage) -> None:
    register(stage, **PUBLIC)
    entry = stage.call("GET", AUDIT).json["entries"][0]

    assert entry["after"]["baseUrl"] == EXTERNAL["baseUrl"]
    assert (entry["after"]["knowledgeId"], entry["after"]["reachesPublicOnly"]) == ("notes", True)
    assert "harbour-demo" not in repr(stage.store.audit) + stage.log.getvalue()
