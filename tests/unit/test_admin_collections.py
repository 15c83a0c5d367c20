"""Collections, as an admin meets them: through the function's own routes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.admin_stage import AUDIT, COLLECTIONS, AdminStage
from tests.support.card_builders import a_card


@pytest.fixture
def stage() -> Iterator[AdminStage]:
    stage = AdminStage()
    yield stage
    stage.close()


@pytest.mark.parametrize(("profile", "prefix"), [("customer_safe", "csc_"), ("agent_only", "aoc_")])
def test_a_new_collection_is_empty_and_its_id_names_its_exposure(stage: AdminStage, profile: str, prefix: str) -> None:
    made = stage.collect(name="  Ferry words ", exposureProfile=profile)

    assert made.json["id"].startswith(prefix)
    assert (made.json["name"], made.json["exposureProfile"]) == ("Ferry words", profile)
    assert (made.json["cardCount"], made.json["generation"], made.etag) == (0, 1, '"1"')
    assert made.headers["Location"] == f"{COLLECTIONS}/{made.json['id']}"
    shown = stage.call("GET", made.headers["Location"])
    assert (shown.status, shown.json, shown.etag) == (200, made.json, '"1"')


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"name": ""}, "/name"),
        ({"name": "\u00ad\u115f"}, "/name"),
        ({"name": "two\nlines"}, "/name"),
        ({"name": None}, "/name"),
        ({"exposureProfile": "public"}, "/exposureProfile"),
        ({"exposureProfile": None}, "/exposureProfile"),
        ({"exposure_profile": "agent_only"}, "/exposure_profile"),
        ({"cardCount": 5}, "/cardCount"),
    ],
)
def test_a_wrong_field_is_named(stage: AdminStage, change: dict[str, object], pointer: str) -> None:
    body = {"name": "Ferry words", "exposureProfile": "customer_safe"} | change
    refused = stage.call("POST", COLLECTIONS, body)

    assert (refused.status, refused.code, refused.pointers) == (422, "invalid_request", [pointer])
    assert not stage.shelf.collections


def test_a_name_is_taken_once_for_each_exposure_profile(stage: AdminStage) -> None:
    stage.collect(name="Words")

    assert stage.call("POST", COLLECTIONS, {"name": "WORDS", "exposureProfile": "customer_safe"}).code == "name_taken"
    assert stage.collect(name="words", exposureProfile="agent_only")


def test_a_repeated_creation_shows_what_the_first_one_made(stage: AdminStage) -> None:
    body = {"name": "Words", "exposureProfile": "customer_safe"}
    first = stage.call("POST", COLLECTIONS, body, key="k")
    again = stage.call("POST", COLLECTIONS, body, key="k")

    assert (again.status, again.json) == (201, first.json)
    assert len(stage.shelf.collections) == 1
    assert stage.call("POST", COLLECTIONS, body | {"name": "Other"}, key="k").code == "idempotency_key_reused"


def test_a_collection_is_renamed_with_the_etag_that_was_read(stage: AdminStage) -> None:
    made = stage.collect()
    path = made.headers["Location"]

    assert stage.call("PATCH", path, {"name": "New"}).code == "precondition_required"
    renamed = stage.call("PATCH", path, {"name": "New"}, if_match=made.etag)
    assert (renamed.json["name"], renamed.etag) == ("New", '"2"')
    assert stage.call("PATCH", path, {"name": "Newer"}, if_match=made.etag).code == "precondition_failed"
    assert stage.call("GET", path).json["name"] == "New"


def test_a_change_that_changes_nothing_writes_nothing(stage: AdminStage) -> None:
    made = stage.collect(name="Words")
    entries = len(stage.store.audit)

    for body in ({}, {"name": "Words"}):
        same = stage.call("PATCH", made.headers["Location"], body, if_match=made.etag)
        assert (same.status, same.etag) == (200, made.etag)
    assert len(stage.store.audit) == entries


@pytest.mark.parametrize("value", ["agent_only", "customer_safe"])
def test_the_exposure_profile_is_fixed(stage: AdminStage, value: str) -> None:
    made = stage.collect(exposureProfile="customer_safe")
    refused = stage.call("PATCH", made.headers["Location"], {"exposureProfile": value}, if_match=made.etag)

    assert (refused.status, refused.pointers) == (422, ["/exposureProfile"])


def test_a_deleted_collection_is_gone_at_once_with_everything_in_it(stage: AdminStage) -> None:
    made = stage.collect(name="Words")
    path, collection_id = made.headers["Location"], made.json["id"]
    card = a_card(collection_id, "pass")
    stage.shelf.add(stage.shelf.collections[collection_id], card)

    assert stage.call("DELETE", path).code == "precondition_required"
    deleted = stage.call("DELETE", path, if_match=made.etag)
    assert (deleted.status, deleted.text) == (202, "")
    for method, rest, body in (
        ("GET", "", None),
        ("PATCH", "", {"name": "x"}),
        ("DELETE", "", None),
        ("GET", "/cards", None),
        ("POST", "/cards", {"keys": ["x"], "body": ""}),
        ("GET", f"/cards/{card.id}", None),
        ("PATCH", f"/cards/{card.id}", {"title": "x"}),
        ("DELETE", f"/cards/{card.id}", None),
        ("GET", "/cards/export", None),
    ):
        assert stage.call(method, path + rest, body, if_match='"1"').code == "not_found", (method, rest)
    lines = {"content-type": "application/x-ndjson"}
    assert stage.call("POST", path + "/cards/import", '{"keys":["x"],"body":""}', headers=lines).code == "not_found"
    assert stage.call("GET", COLLECTIONS).json["collections"] == []
    assert stage.collect(name="Words").json["id"] != collection_id  # its name is free again


def test_a_stale_delete_deletes_nothing(stage: AdminStage) -> None:
    made = stage.collect()
    stage.call("PATCH", made.headers["Location"], {"name": "New"}, if_match=made.etag)

    assert stage.call("DELETE", made.headers["Location"], if_match=made.etag).code == "precondition_failed"
    assert stage.call("GET", made.headers["Location"]).status == 200


@pytest.mark.parametrize("unknown", ["csc_aaaaaaaaaaaaaaaa", "aoc_aaaaaaaaaaaaaaaa", "cs_aaaaaaaaaaaaaaaa", "x"])
def test_an_unknown_and_a_malformed_id_look_the_same(stage: AdminStage, unknown: str) -> None:
    answers = [stage.call("GET", f"{COLLECTIONS}/{each}").json for each in (unknown, "csc_bbbbbbbbbbbbbbbb")]

    assert answers[0] == answers[1]
    assert answers[0]["code"] == "not_found"


def test_a_list_is_read_page_by_page(stage: AdminStage) -> None:
    ids = sorted(stage.collect(name=f"Words {number}").json["id"] for number in range(5))
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = stage.call("GET", COLLECTIONS, query={"limit": "2"} | ({"cursor": cursor} if cursor else {})).json
        seen += [each["id"] for each in page["collections"]]
        cursor = page["nextCursor"]
        if cursor is None:
            break
    assert seen == ids


def test_a_cursor_of_another_list_is_refused(stage: AdminStage) -> None:
    stage.register(name="a")
    stage.register(name="b")
    foreign = stage.call("GET", "/api/v1/knowledge/providers", query={"limit": "1"}).json["nextCursor"]

    assert stage.call("GET", COLLECTIONS, query={"cursor": foreign}).code == "invalid_cursor"


def test_every_change_of_a_collection_is_audited(stage: AdminStage) -> None:
    made = stage.collect()
    path = made.headers["Location"]
    renamed = stage.call("PATCH", path, {"name": "New"}, if_match=made.etag)
    stage.call("DELETE", path, if_match=renamed.etag)

    entries = stage.call("GET", AUDIT).json["entries"]
    told = {(each["action"], each["generationBefore"], each["generationAfter"]) for each in entries}
    assert told == {
        ("collection.created", None, 1),
        ("collection.updated", 1, 2),
        ("collection.deleted", 2, None),
    }
    assert {each["resource"] for each in entries} == {f"collection/{made.json['id']}"}


@pytest.mark.parametrize("rest", ["", "/cards", "/cards/export"])
def test_nobody_but_an_admin_is_let_in(stage: AdminStage, rest: str) -> None:
    path = stage.collect().headers["Location"] + rest
    agent = stage.issue(**{"class": "agt"}).json["token"]

    assert stage.call("GET", path, token=None).code == "unauthenticated"
    assert stage.call("GET", path, token=agent).code == "unauthenticated"
