"""Registering, changing and deleting self-hosted servers: what may be set, what has to be said first, what is shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from shared.domain.identifiers import fingerprint_of
from shared.errors import BlockedAddress, ConnectionFailed
from tests.support.admin_stage import AN_INSTANCE, AUDIT, INSTANCES, AdminStage

PUBLIC = {"exposureProfile": "customer_safe", "credentialReachesPublicContentOnly": True, "name": "Public Dify"}
NEW_KEY = {"action": "replace", "value": "dataset-other"}


@pytest.fixture
def stage() -> Iterator[AdminStage]:
    stage = AdminStage(private_network_available=True)
    yield stage
    stage.close()


def audited(stage: AdminStage, action: str) -> dict[str, Any]:
    entries = stage.call("GET", AUDIT).json["entries"]
    return next(entry for entry in entries if entry["action"] == action)


def acknowledging(url: str, *risks: str) -> dict[str, Any]:
    return {"baseUrl": url, "acknowledge": {"url": url, "risks": list(risks)}}


# --- registering ---------------------------------------------------------------------------------


def test_an_instance_is_shown_as_it_was_registered_in_the_products_own_form(stage: AdminStage) -> None:
    created = stage.install()
    shown = stage.call("GET", created.headers["Location"])

    assert (created.json, created.etag) == (shown.json, '"1"')
    assert created.json["baseUrl"] == "https://dify.fern-desk.test/v1"
    assert created.json["id"].startswith("aoi_")
    assert (created.json["acknowledged"], created.json["bindings"]) == ([], [])
    assert created.json["credentialFingerprint"] == fingerprint_of("dataset-demo")
    assert "dataset-demo" not in created.text


def test_registering_asks_the_server_nothing(stage: AdminStage) -> None:
    stage.install()

    assert (stage.server.credentials, stage.server.asked, stage.exchanges.sent) == ([], [], [])


def test_the_credential_is_kept_sealed_for_this_instance(stage: AdminStage) -> None:
    created = stage.install()
    stored = stage.store.instances[created.json["id"]]
    stage.call("POST", f"{created.headers['Location']}/test")

    assert stored.credential is not None
    assert b"instance" in stored.credential.ciphertext
    assert stage.server.credentials[0] == ("catalog", "dataset-demo")


@pytest.mark.parametrize("value", ["", "  ", "two words", "ключ", "k\nk", "k" * 2_049, 5, None], ids=ascii)
def test_a_credential_that_cannot_be_sent_is_refused_and_not_repeated(stage: AdminStage, value: object) -> None:
    refused = stage.call("POST", INSTANCES, AN_INSTANCE | {"credential": {"action": "replace", "value": value}})

    assert (refused.status, refused.pointers) == (422, ["/credential/value"])
    assert not isinstance(value, str) or len(value.strip()) < 3 or value not in refused.text


@pytest.mark.parametrize("action", ["keep", "clear", "rotate"])
def test_a_new_instance_has_nothing_to_keep_or_to_clear(stage: AdminStage, action: str) -> None:
    assert stage.call("POST", INSTANCES, AN_INSTANCE | {"credential": {"action": action}}).status == 422


def test_without_a_credential_none_is_sent(stage: AdminStage) -> None:
    created = stage.install(credential=None)
    stage.call("POST", f"{created.headers['Location']}/test")

    assert created.json["credentialFingerprint"] is None
    assert stage.server.credentials[0] == ("catalog", None)


@pytest.mark.parametrize("kind", ["contract", "exa", "dify_external", "Dify", "", None])
def test_only_products_with_instances_can_be_registered(stage: AdminStage, kind: object) -> None:
    refused = stage.call("POST", INSTANCES, AN_INSTANCE | {"kind": kind})

    assert (refused.status, refused.pointers) == (422, ["/kind"])


@pytest.mark.parametrize("stated", [None, False])
def test_what_is_customer_safe_needs_a_word_about_its_credential(stage: AdminStage, stated: bool | None) -> None:
    extra = {} if stated is None else {"credentialReachesPublicContentOnly": stated}
    refused = stage.call("POST", INSTANCES, AN_INSTANCE | {"exposureProfile": "customer_safe"} | extra)
    created = stage.install(**PUBLIC)

    assert (refused.status, refused.pointers) == (422, ["/credentialReachesPublicContentOnly"])
    assert created.json["id"].startswith("csi_")
    assert audited(stage, "instance.created")["after"]["reachesPublicOnly"] is True


@pytest.mark.parametrize(
    "base_url",
    [
        AN_INSTANCE["baseUrl"],
        "https://dify.fern-desk.test:8443",
        "https://alias.fern-desk.test",
        "https://8.8.4.4",
    ],
)
def test_two_exposure_profiles_never_share_a_credential_whatever_the_address(stage: AdminStage, base_url: str) -> None:
    stage.install()
    refused = stage.call("POST", INSTANCES, AN_INSTANCE | PUBLIC | {"baseUrl": base_url})
    other = stage.install(**PUBLIC, baseUrl=base_url, credential=NEW_KEY)
    path = other.headers["Location"]
    again = {"credential": AN_INSTANCE["credential"], "credentialReachesPublicContentOnly": True}

    assert (refused.code, other.status) == ("credential_used_elsewhere", 201)
    assert stage.call("PATCH", path, again, if_match='"1"').code == "credential_used_elsewhere"


def test_a_name_is_taken_once_an_exposure_profile(stage: AdminStage) -> None:
    stage.install()

    assert stage.call("POST", INSTANCES, AN_INSTANCE | {"name": "office  DIFY"}).code == "name_taken"


def test_a_repeated_registration_shows_the_same_instance(stage: AdminStage) -> None:
    first = stage.call("POST", INSTANCES, AN_INSTANCE, key="install-1")
    again = stage.call("POST", INSTANCES, AN_INSTANCE, key="install-1")
    other = stage.call("POST", INSTANCES, AN_INSTANCE | {"name": "Other"}, key="install-1")

    assert (first.status, again.status, again.json) == (201, 201, first.json)
    assert other.code == "idempotency_key_reused"
    assert len(stage.store.instances) == 1


@pytest.mark.parametrize(
    "url",
    [
        "ftp://dify.fern-desk.test",
        "https://dify",
        "https://user@dify.fern-desk.test",
        "https://dify.fern-desk.test/v1?x=1",
        "http://127.0.0.1:5001",
        "http://169.254.169.254",
        "https://printer.local",
        "https://metadata.google.internal",
    ],
)
def test_an_address_that_is_never_asked_is_refused(stage: AdminStage, url: str) -> None:
    refused = stage.call("POST", INSTANCES, AN_INSTANCE | acknowledging(url, "plain_http", "private_network"))

    assert (refused.status, refused.code, refused.pointers) == (422, "invalid_base_url", ["/baseUrl"])
    assert stage.address_check.asked == []


def test_a_name_that_leads_to_a_forbidden_address_is_refused(stage: AdminStage) -> None:
    stage.address_check.failure = BlockedAddress()

    assert stage.call("POST", INSTANCES, AN_INSTANCE).code == "blocked_address"


def test_a_name_without_an_address_is_refused(stage: AdminStage) -> None:
    stage.address_check.failure = ConnectionFailed()

    assert stage.call("POST", INSTANCES, AN_INSTANCE).code == "host_not_resolved"


def test_a_private_authority_is_a_certificate(stage: AdminStage) -> None:
    refused = stage.call("POST", INSTANCES, AN_INSTANCE | {"privateAuthority": "-----BEGIN NOTHING-----"})

    assert (refused.status, refused.code) == (422, "invalid_private_authority")


# --- acknowledging -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "normal", "risks"),
    [
        ("HTTP://Dify.Fern-Desk.test:80/", "http://dify.fern-desk.test/v1", ["plain_http"]),
        ("https://10.1.2.3", "https://10.1.2.3/v1", ["private_network"]),
        ("http://dify.office.internal/v1", "http://dify.office.internal/v1", ["plain_http", "private_network"]),
    ],
)
def test_a_risk_is_refused_until_it_is_acknowledged_for_exactly_that_url(
    stage: AdminStage, url: str, normal: str, risks: list[str]
) -> None:
    wanted = AN_INSTANCE | {"baseUrl": url}
    refused = stage.call("POST", INSTANCES, wanted)
    elsewhere = {"acknowledge": {"url": "http://other.fern-desk.test/v1", "risks": risks}}
    created = stage.install(baseUrl=url, acknowledge={"url": refused.json["baseUrl"], "risks": refused.json["risks"]})

    assert (refused.status, refused.code) == (409, "risk_not_acknowledged")
    assert (refused.json["baseUrl"], refused.json["risks"]) == (normal, risks)
    assert stage.call("POST", INSTANCES, wanted | elsewhere).code == "risk_not_acknowledged"
    assert (created.json["baseUrl"], created.json["acknowledged"]) == (normal, risks)
    assert audited(stage, "instance.created")["after"]["acknowledgements"] == risks


def test_a_name_that_leads_into_a_private_network_is_a_risk_too(stage: AdminStage) -> None:
    url = "https://dify.fern-desk.test/v1"
    stage.address_check.private.add(url)
    refused = stage.call("POST", INSTANCES, AN_INSTANCE)

    assert refused.json["risks"] == ["private_network"]
    assert stage.install(**acknowledging(url, "private_network")).status == 201


@pytest.mark.parametrize("risks", [["private_network"], ["plain_http", "private_network"]], ids=["other", "more"])
def test_an_acknowledgement_says_neither_less_nor_more_than_there_is(stage: AdminStage, risks: list[str]) -> None:
    wanted = AN_INSTANCE | acknowledging("http://dify.fern-desk.test/v1", *risks)

    assert stage.call("POST", INSTANCES, wanted).json["risks"] == ["plain_http"]


def test_where_there_is_no_risk_none_can_be_acknowledged(stage: AdminStage) -> None:
    refused = stage.call("POST", INSTANCES, AN_INSTANCE | acknowledging("https://dify.fern-desk.test/v1", "plain_http"))

    assert (refused.status, refused.pointers) == (422, ["/acknowledge"])


def test_a_private_address_needs_a_deployment_that_has_a_private_network() -> None:
    stage = AdminStage()
    refused = stage.call("POST", INSTANCES, AN_INSTANCE | acknowledging("https://10.1.2.3/v1", "private_network"))
    stage.close()

    assert refused.code == "private_network_unavailable"


def test_an_acknowledgement_shows_in_how_the_server_is_reached(stage: AdminStage) -> None:
    created = stage.install(**acknowledging("http://10.1.2.3/v1", "plain_http", "private_network"))
    bound = stage.bind(created)
    source = stage.store.registrations[bound.json["id"]].source

    assert source.link is not None
    assert (source.allow_private_network, source.link.allow_plain_http) == (True, True)


# --- changing ------------------------------------------------------------------------------------


def test_a_credential_is_kept_replaced_and_cleared(stage: AdminStage) -> None:
    path = stage.install().headers["Location"]
    kept = stage.call("PATCH", path, {"name": "Renamed", "credential": {"action": "keep"}}, if_match='"1"')
    replaced = stage.call("PATCH", path, {"credential": NEW_KEY}, if_match='"2"')
    cleared = stage.call("PATCH", path, {"credential": {"action": "clear"}}, if_match='"3"')

    assert kept.json["credentialFingerprint"] == fingerprint_of("dataset-demo")
    assert replaced.json["credentialFingerprint"] == fingerprint_of("dataset-other")
    assert cleared.json["credentialFingerprint"] is None
    assert cleared.etag == '"4"'


@pytest.mark.parametrize(
    "url", ["https://dify.fern-desk.test:8443/v1", "https://other.fern-desk.test/v1", "http://dify.fern-desk.test/v1"]
)
def test_a_credential_is_never_taken_along_to_another_origin(stage: AdminStage, url: str) -> None:
    path = stage.install().headers["Location"]
    moved = acknowledging(url, "plain_http") if url.startswith("http:") else {"baseUrl": url}
    refused = stage.call("PATCH", path, moved, if_match='"1"')
    kept = stage.call("PATCH", path, moved | {"credential": {"action": "keep"}}, if_match='"1"')

    assert (refused.code, kept.code) == ("credential_required", "credential_required")
    assert stage.call("PATCH", path, moved | {"credential": NEW_KEY}, if_match='"1"').json["baseUrl"] == url


def test_another_base_url_voids_what_was_acknowledged_for_the_old_one(stage: AdminStage) -> None:
    path = stage.install(**acknowledging("http://dify.fern-desk.test/v1", "plain_http")).headers["Location"]
    other = "http://other.fern-desk.test/v1"
    refused = stage.call("PATCH", path, {"baseUrl": other, "credential": NEW_KEY}, if_match='"1"')
    safe = {"baseUrl": "https://dify.fern-desk.test/v1", "credential": NEW_KEY}

    assert (refused.code, refused.json["baseUrl"]) == ("risk_not_acknowledged", other)
    assert stage.call("PATCH", path, safe, if_match='"1"').json["acknowledged"] == []


def test_under_the_same_base_url_an_acknowledgement_holds_on(stage: AdminStage) -> None:
    url = "http://dify.fern-desk.test/v1"
    path = stage.install(**acknowledging(url, "plain_http")).headers["Location"]
    changed = stage.call("PATCH", path, {"name": "Renamed", "baseUrl": url}, if_match='"1"')

    assert (changed.status, changed.json["acknowledged"]) == (200, ["plain_http"])


def test_a_moved_instance_switches_its_bindings_off_until_each_has_passed_a_test(stage: AdminStage) -> None:
    instance = stage.install()
    bound = stage.bind(instance)
    path, where = instance.headers["Location"], bound.headers["Location"]
    stage.call("PATCH", path, {"baseUrl": "https://new.fern-desk.test", "credential": NEW_KEY}, if_match='"1"')
    shown = stage.call("GET", where)
    early = stage.call("PATCH", where, {"status": "active"}, if_match=shown.etag)
    tested = stage.call("POST", f"{where}/test", {"query": "night ferry", "activate": True})

    assert (shown.json["status"], shown.json["needsTest"]) == ("disabled", True)
    assert shown.json["baseUrl"] == "https://new.fern-desk.test/v1"
    assert early.code == "test_required"
    assert (tested.json["activated"], tested.json["provider"]["status"]) == (True, "active")
    assert stage.server.asked[-1][2] == "dataset-other"


def test_a_change_that_moves_nothing_leaves_the_bindings_on(stage: AdminStage) -> None:
    instance = stage.install()
    bound = stage.bind(instance)
    stage.call("PATCH", instance.headers["Location"], {"name": "Renamed", "credential": NEW_KEY}, if_match='"1"')
    shown = stage.call("GET", bound.headers["Location"]).json

    assert (shown["status"], shown["needsTest"], shown["generation"]) == ("active", False, 1)


def test_what_was_said_of_one_credential_says_nothing_of_the_next(stage: AdminStage) -> None:
    path = stage.install(**PUBLIC).headers["Location"]
    silent = stage.call("PATCH", path, {"credential": NEW_KEY}, if_match='"1"')
    denied = stage.call("PATCH", path, {"credentialReachesPublicContentOnly": False}, if_match='"1"')
    said = {"credential": NEW_KEY, "credentialReachesPublicContentOnly": True}

    assert silent.pointers == denied.pointers == ["/credentialReachesPublicContentOnly"]
    assert stage.call("PATCH", path, said, if_match='"1"').status == 200
    assert stage.call("PATCH", path, {"name": "Renamed"}, if_match='"2"').status == 200


@pytest.mark.parametrize(
    "change",
    [
        {"credential": {"action": "clear"}},
        {"baseUrl": "https://new.fern-desk.test", "credential": {"action": "clear"}},
        {"baseUrl": "https://new.fern-desk.test", "credential": NEW_KEY},
        {"baseUrl": "https://dify.fern-desk.test/another-tenant"},
        {"baseUrl": "https://dify.fern-desk.test/another-tenant", "credential": {"action": "keep"}},
    ],
    ids=str,
)
def test_what_was_said_of_one_place_says_nothing_of_another(stage: AdminStage, change: dict[str, Any]) -> None:
    path = stage.install(**PUBLIC).headers["Location"]
    silent = stage.call("PATCH", path, change, if_match='"1"')
    said = stage.call("PATCH", path, change | {"credentialReachesPublicContentOnly": True}, if_match='"1"')

    assert (silent.status, silent.pointers) == (422, ["/credentialReachesPublicContentOnly"])
    assert (said.status, said.json["credentialReachesPublicContentOnly"]) == (200, True)


def test_what_stays_where_it_is_needs_no_new_word(stage: AdminStage) -> None:
    made = stage.install(**PUBLIC)
    path, clear = made.headers["Location"], {"credential": {"action": "clear"}}
    same = stage.call("PATCH", path, {"baseUrl": made.json["baseUrl"], "name": "Renamed"}, if_match='"1"')
    stage.call("PATCH", path, clear | {"credentialReachesPublicContentOnly": True}, if_match='"2"')

    assert same.status == 200
    assert stage.call("PATCH", path, clear, if_match='"3"').status == 200


def test_an_agents_instance_that_moves_loses_what_was_said_of_it(stage: AdminStage) -> None:
    path = stage.install(credentialReachesPublicContentOnly=True).headers["Location"]
    moved = stage.call("PATCH", path, {"baseUrl": "https://new.fern-desk.test", "credential": NEW_KEY}, if_match='"1"')
    assert (moved.status, moved.json["credentialReachesPublicContentOnly"]) == (200, False)


@pytest.mark.parametrize(("field", "value"), [("kind", "ragflow"), ("exposureProfile", "customer_safe")])
def test_kind_and_exposure_are_fixed(stage: AdminStage, field: str, value: str) -> None:
    refused = stage.call("PATCH", stage.install().headers["Location"], {field: value}, if_match='"1"')

    assert (refused.status, refused.pointers) == (422, [f"/{field}"])


def test_a_change_names_the_version_that_it_is_meant_for(stage: AdminStage) -> None:
    path = stage.install().headers["Location"]

    assert stage.call("PATCH", path, {"name": "Renamed"}).code == "precondition_required"
    assert stage.call("PATCH", path, {"name": "Renamed"}, if_match='"7"').code == "precondition_failed"
    assert stage.call("DELETE", path).code == "precondition_required"


def test_a_change_of_nothing_writes_nothing(stage: AdminStage) -> None:
    path = stage.install().headers["Location"]
    same = stage.call("PATCH", path, {"name": "Office Dify"}, if_match='"1"')

    assert (same.status, same.etag, len(stage.store.audit)) == (200, '"1"', 1)


def test_the_audit_has_both_addresses_and_never_the_credential(stage: AdminStage) -> None:
    path = stage.install(**acknowledging("http://dify.fern-desk.test/v1", "plain_http")).headers["Location"]
    moved = {"baseUrl": "https://new.fern-desk.test", "credential": NEW_KEY}
    stage.call("PATCH", path, moved, if_match='"1"')
    entry = audited(stage, "instance.updated")

    assert (entry["before"]["baseUrl"], entry["after"]["baseUrl"]) == (
        "http://dify.fern-desk.test/v1",
        "https://new.fern-desk.test/v1",
    )
    assert (entry["before"]["acknowledgements"], entry["after"]["acknowledgements"]) == (["plain_http"], [])
    said = repr(stage.store.audit) + stage.log.getvalue() + stage.call("GET", AUDIT).text
    assert not any(key in said for key in ("dataset-demo", "dataset-other"))


# --- listing and deleting ------------------------------------------------------------------------


def test_a_list_has_pages(stage: AdminStage) -> None:
    made = {stage.install(name=f"Dify {n}", credential=None).json["id"] for n in range(3)}
    first = stage.call("GET", INSTANCES, query={"limit": "2"}).json
    second = stage.call("GET", INSTANCES, query={"limit": "2", "cursor": first["nextCursor"]}).json

    assert {each["id"] for each in first["instances"] + second["instances"]} == made
    assert second["nextCursor"] is None
    assert stage.call("GET", INSTANCES, query={"cursor": "nonsense"}).code == "invalid_cursor"


@pytest.mark.parametrize("instance_id", ["aoi_aaaaaaaaaaaaaaaa", "ao_aaaaaaaaaaaaaaaa", "nonsense"])
def test_an_unknown_instance_is_not_found(stage: AdminStage, instance_id: str) -> None:
    path = f"{INSTANCES}/{instance_id}"
    answers = [
        stage.call("GET", path),
        stage.call("PATCH", path, {"name": "Renamed"}, if_match='"1"'),
        stage.call("DELETE", path, if_match='"1"'),
        stage.call("POST", f"{path}/test"),
        stage.call("GET", f"{path}/catalog"),
        stage.call("GET", f"{path}/catalog/some-id"),
    ]

    assert {answer.code for answer in answers} == {"not_found"}


def test_an_instance_in_use_is_deleted_with_exactly_the_bindings_that_are_named(stage: AdminStage) -> None:
    instance = stage.install()
    ids = sorted(stage.bind(instance, name=f"Book {n}", remoteId=f"remote-{n}").json["id"] for n in range(2))
    path = instance.headers["Location"]
    shown = stage.call("GET", path)
    refused = stage.call("DELETE", path, if_match=shown.etag)
    fewer = stage.call("DELETE", path, if_match=shown.etag, query={"bindings": ids[0]})
    more = stage.call("DELETE", path, if_match=shown.etag, query={"bindings": ",".join([*ids, "ao_" + "a" * 16])})

    assert (refused.status, refused.code, refused.json["bindings"]) == (409, "instance_in_use", ids)
    assert (fewer.code, more.code, shown.json["bindings"]) == ("instance_in_use", "instance_in_use", ids)
    assert len(stage.store.registrations) == 2
    assert stage.call("DELETE", path, if_match=shown.etag, query={"bindings": ",".join(ids)}).status == 204
    assert (stage.store.registrations, stage.store.instances) == ({}, {})
    assert audited(stage, "instance.deleted")["before"]["bindings"] == ids


@pytest.mark.parametrize("query", [{"bindings": ""}, {"bindings": "nonsense"}, {"force": "true"}], ids=str)
def test_what_goes_with_an_instance_is_named_by_id(stage: AdminStage, query: dict[str, str]) -> None:
    path = stage.install().headers["Location"]

    assert stage.call("DELETE", path, if_match='"1"', query=query).code == "invalid_request"


def test_an_instance_without_bindings_is_just_deleted_and_frees_its_credential(stage: AdminStage) -> None:
    assert stage.call("DELETE", stage.install().headers["Location"], if_match='"1"').status == 204
    assert stage.install(**PUBLIC).status == 201
