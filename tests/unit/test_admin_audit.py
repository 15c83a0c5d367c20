"""The audit: every admin write leaves one entry, with what changed and never a secret."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from shared.domain.audit import AUDITED_FIELDS
from shared.errors import Unavailable
from tests.support.admin_stage import A_PROVIDER, AUDIT, CREDENTIALS, PROVIDERS, AdminStage


@pytest.fixture
def stage() -> Iterator[AdminStage]:
    stage = AdminStage(private_network_available=True)
    yield stage
    stage.close()


def newest(stage: AdminStage) -> dict[str, Any]:
    entry: dict[str, Any] = stage.call("GET", AUDIT, query={"limit": "1"}).json["entries"][0]
    return entry


def test_a_registration_is_audited_with_what_was_set(stage: AdminStage) -> None:
    created = stage.register()
    entry = newest(stage)

    assert entry["actor"] == "root"
    assert entry["action"] == "provider.created"
    assert entry["resource"] == f"provider/{created.json['id']}"
    assert (entry["generationBefore"], entry["generationAfter"]) == (None, 1)
    assert entry["at"] == created.json["createdAt"]
    assert entry["before"] == {}
    assert entry["after"] == {
        "baseUrl": "https://kb.fern-desk.test/v1",
        "allowPrivateNetwork": False,
        "sendConversationId": False,
        "status": "disabled",
    }


def test_a_change_is_audited_with_old_and_new_values_of_what_differs(stage: AdminStage) -> None:
    created = stage.register()
    _, token = stage.an_admin(id="aaaaaaaaaaaaaaaa")
    stage.activate(created)
    wanted = {"allowPrivateNetwork": True, "status": "disabled", "name": "Renamed"}
    stage.clock.advance(1)
    stage.call("PATCH", created.headers["Location"], wanted, if_match='"2"', token=token)
    entry = newest(stage)

    assert (entry["actor"], entry["action"]) == ("aaaaaaaaaaaaaaaa", "provider.updated")
    assert entry["before"] == {"allowPrivateNetwork": False, "status": "active"}
    assert entry["after"] == {"allowPrivateNetwork": True, "status": "disabled"}
    assert (entry["generationBefore"], entry["generationAfter"]) == (2, 3)


def test_origins_and_grants_are_audited(stage: AdminStage) -> None:
    issued = stage.issue(**{"class": "pub"}, origins=["https://help.fern-desk.test"])
    stage.clock.advance(1)
    stage.call("PATCH", issued.headers["Location"], {"origins": ["https://new.fern-desk.test"]}, if_match='"1"')
    entry = newest(stage)

    assert entry["before"] == {"origins": ["https://help.fern-desk.test"]}
    assert entry["after"] == {"origins": ["https://new.fern-desk.test"]}


def test_every_kind_of_write_has_its_own_word(stage: AdminStage) -> None:
    provider = stage.register().headers["Location"]
    credential = stage.issue().headers["Location"]
    admin = stage.issue(**{"class": "adm"})
    steps: list[tuple[str, str, Any, str | None]] = [
        ("PATCH", provider, {"priority": 1}, '"1"'),
        ("POST", f"{provider}/rotate-secret", {"windowHours": 0}, None),
        ("POST", f"{provider}/test", {"query": "x", "activate": True}, None),
        ("DELETE", provider, None, '"4"'),
        ("PATCH", credential, {"name": "x"}, '"1"'),
        ("POST", f"{credential}/rotate", None, None),
        ("DELETE", credential, None, '"3"'),
        ("PATCH", f"{CREDENTIALS}/root", {"status": "disabled"}, '"1"'),
    ]
    for method, path, body, etag in steps:
        stage.clock.advance(1)
        answered = stage.call(method, path, body, if_match=etag)
        assert answered.status in (200, 204), answered.text

    entries = stage.call("GET", AUDIT, token=admin.json["token"]).json["entries"]
    assert [entry["action"] for entry in reversed(entries[:-3])] == [
        "provider.updated",
        "provider.secret_rotated",
        "provider.activated",
        "provider.deleted",
        "credential.updated",
        "credential.rotated",
        "credential.deleted",
        "credential.updated",
    ]
    assert entries[0]["resource"] == "credential/root"
    assert (entries[0]["before"], entries[0]["after"]) == ({"status": "active"}, {"status": "disabled"})
    assert all({*entry["before"], *entry["after"]} <= set(AUDITED_FIELDS) for entry in entries)


@pytest.mark.parametrize(
    "body", [A_PROVIDER | {"priority": -1}, A_PROVIDER | {"sendConversationId": True}, A_PROVIDER | {"baseUrl": "x"}]
)
def test_a_refused_write_is_not_audited(stage: AdminStage, body: dict[str, Any]) -> None:
    stage.call("POST", PROVIDERS, body)

    assert stage.store.audit == {}


def test_a_write_that_the_store_refuses_is_not_audited(stage: AdminStage) -> None:
    stage.registry.failure = Unavailable()
    stage.call("POST", PROVIDERS, A_PROVIDER)

    assert stage.store.audit == {}


def test_the_newest_entries_come_first_in_pages_without_gaps(stage: AdminStage) -> None:
    for n in range(7):
        stage.register(name=f"Help centre {n}")
        stage.clock.advance(0.001)
    seen: list[str] = []
    query = {"limit": "3"}
    while True:
        page = stage.call("GET", AUDIT, query=query).json
        seen += [entry["id"] for entry in page["entries"]]
        if page["nextCursor"] is None:
            break
        query["cursor"] = page["nextCursor"]

    assert seen == sorted(stage.store.audit, reverse=True)
    assert len(seen) == 7


def test_the_audit_cannot_be_written_through_the_api(stage: AdminStage) -> None:
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        assert stage.call(method, AUDIT, {}).status == 404


def test_neither_reading_nor_testing_is_logged_as_a_change(stage: AdminStage) -> None:
    created = stage.register()
    stage.call("GET", PROVIDERS)
    stage.call("POST", f"{created.headers['Location']}/test", {"query": "ferry"})

    assert [line["message"] for line in stage.log_lines].count("admin.changed") == 1


def test_a_change_is_logged_by_who_and_where(stage: AdminStage) -> None:
    created = stage.register()
    line = next(line for line in stage.log_lines if line["message"] == "admin.changed")

    assert (line["actor"], line["method"], line["route"], line["status"]) == ("root", "POST", PROVIDERS, 201)
    assert created.headers["X-Request-Id"] == line["request_id"]
