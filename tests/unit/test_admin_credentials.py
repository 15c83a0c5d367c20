"""Credentials, as an admin meets them: through the function's own routes, with API Gateway events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from shared.domain.credentials import CredentialStatus
from shared.domain.identifiers import digest_of, parse_token
from shared.domain.root import RootSwitch
from tests.support.admin_stage import CREDENTIALS, AdminStage

ORIGIN = "https://help.fern-desk.test"


@pytest.fixture
def stage() -> Iterator[AdminStage]:
    stage = AdminStage()
    yield stage
    stage.close()


# --- issuing -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "rate"),
    [
        ({"class": "adm"}, 120),
        ({"class": "agt"}, 600),
        ({"class": "ast"}, 300),
        ({"class": "pub", "origins": [ORIGIN]}, 1200),
    ],
)
def test_a_credential_of_each_class_is_issued_with_its_own_rate(
    stage: AdminStage, fields: dict[str, object], rate: int
) -> None:
    issued = stage.issue(**fields)
    token = parse_token(issued.json["token"])

    assert token is not None
    assert (token.credential_class, token.credential_id) == (fields["class"], issued.json["id"])
    assert issued.json["ratePerMinute"] == rate
    assert issued.json["status"] == "active"
    assert issued.json["grants"] == []
    assert issued.headers["Location"] == f"{CREDENTIALS}/{issued.json['id']}"
    assert issued.etag == '"1"'
    stored = stage.store.credentials[issued.json["id"]]
    assert stored.digest == digest_of(token.secret)


def test_a_token_is_shown_once(stage: AdminStage) -> None:
    issued = stage.issue()
    later = stage.call("GET", issued.headers["Location"])

    assert "token" not in later.json
    assert later.json["secretFingerprint"] == issued.json["secretFingerprint"]


def test_an_admins_token_opens_the_admin_api(stage: AdminStage) -> None:
    token = stage.issue(**{"class": "adm"}).json["token"]

    assert stage.call("GET", CREDENTIALS, token=token).status == 200


def test_a_widget_credential_lists_exact_origins(stage: AdminStage) -> None:
    issued = stage.issue(
        **{"class": "pub"},
        origins=["https://HELP.fern-desk.test", ORIGIN, "https://shop.fern-desk.test:8443", "https://a_b.example.com"],
        addressRatePerMinute=10,
    )

    assert issued.json["origins"] == [ORIGIN, "https://shop.fern-desk.test:8443", "https://a_b.example.com"]
    assert issued.json["addressRatePerMinute"] == 10
    assert len(stage.store.credentials[issued.json["id"]].salt) == 32


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "*",
        "https://*.fern-desk.test",
        "http://help.fern-desk.test",
        "https://help.fern-desk.test/",
        "https://help.fern-desk.test/path",
        "https://user@help.fern-desk.test",
        "help.fern-desk.test",
        "https://help.fern-desk.test, https://evil.test",
    ],
)
def test_an_inexact_origin_is_refused(stage: AdminStage, origin: str) -> None:
    body = {"class": "pub", "name": "Widget", "origins": [ORIGIN, origin]}
    refused = stage.call("POST", CREDENTIALS, body)

    assert (refused.status, refused.code) == (422, "invalid_origin")
    assert refused.pointers == ["/origins/1"]


@pytest.mark.parametrize("origins", [None, []])
def test_a_widget_credential_without_origins_is_refused(stage: AdminStage, origins: list[str] | None) -> None:
    body: dict[str, object] = {"class": "pub", "name": "Widget"}
    refused = stage.call("POST", CREDENTIALS, body if origins is None else body | {"origins": origins})

    assert (refused.status, refused.pointers) == (422, ["/origins"])


def test_a_widget_credential_lists_at_most_forty_origins(stage: AdminStage) -> None:
    origins = [f"https://h{n}.fern-desk.test" for n in range(41)]
    refused = stage.call("POST", CREDENTIALS, {"class": "pub", "name": "Widget", "origins": origins})
    issued = stage.issue(**{"class": "pub"}, origins=origins[:40])
    changed = stage.call("PATCH", issued.headers["Location"], {"origins": origins}, if_match=issued.etag)

    assert (refused.status, refused.pointers) == (422, ["/origins"])
    assert issued.json["origins"] == origins[:40]
    assert (changed.status, changed.pointers) == (422, ["/origins"])


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"class": "agt", "origins": [ORIGIN]}, "/origins"),
        ({"class": "ast", "allowedProviders": ["cs_aaaaaaaaaaaaaaaa"]}, "/allowedProviders"),
        ({"class": "agt", "addressRatePerMinute": 5}, "/addressRatePerMinute"),
        ({"class": "agt", "allowedProviders": ["nothing"]}, "/allowedProviders/0"),
        ({"class": "agt", "ratePerMinute": 0}, "/ratePerMinute"),
        ({"class": "agt", "expiresAt": "2020-01-01T00:00:00Z"}, "/expiresAt"),
        ({"class": "agt", "expiresAt": "2200-01-01T00:00:00"}, "/expiresAt"),
        ({"class": "agt", "expiresAt": "9999-12-31T23:59:59-14:00"}, "/expiresAt"),
        ({"class": "agt", "expiresAt": 7258118400}, "/expiresAt"),
        ({"class": "root"}, "/class"),
        ({"class": "agt", "grants": ["knowledge:write"]}, "/grants/0"),
        ({"class": "agt", "name": " "}, "/name"),
        ({"class": "agt", "name": "\ufeff"}, "/name"),
        ({"class": "agt", "token": "x"}, "/token"),
        ({"class": "agt", "audience": "agent"}, "/audience"),
        ({"class": "agt", "credential_class": "adm"}, "/credential_class"),
    ],
)
def test_a_wrong_field_is_refused_by_name(stage: AdminStage, fields: dict[str, object], pointer: str) -> None:
    refused = stage.call("POST", CREDENTIALS, {"name": "x"} | fields)

    assert refused.status == 422
    assert pointer in refused.pointers
    assert stage.store.credentials == {}


@pytest.mark.parametrize("credential_class", ["adm", "agt", "ast", "pub"])
def test_internal_knowledge_cannot_be_granted_to_anything(stage: AdminStage, credential_class: str) -> None:
    body: dict[str, object] = {"class": credential_class, "name": "x", "grants": ["knowledge:read_internal"]}
    refused = stage.call("POST", CREDENTIALS, body | ({"origins": [ORIGIN]} if credential_class == "pub" else {}))

    assert (refused.status, refused.code) == (409, "grant_refused")
    assert "customer" in refused.json["detail"]
    assert stage.store.credentials == {}


@pytest.mark.parametrize(
    ("credential_class", "grant"),
    [
        ("adm", "knowledge:read_public"),
        ("agt", "knowledge:read_public"),
        ("ast", "external_knowledge:agent"),
        ("adm", "external_knowledge:agent"),
    ],
)
def test_a_grant_of_another_class_is_refused(stage: AdminStage, credential_class: str, grant: str) -> None:
    refused = stage.call("POST", CREDENTIALS, {"class": credential_class, "name": "x", "grants": [grant]})

    assert (refused.status, refused.code) == (409, "grant_refused")
    assert refused.json["grants"] == [grant]


@pytest.mark.parametrize(
    ("credential_class", "grant"), [("ast", "knowledge:read_public"), ("agt", "external_knowledge:agent")]
)
def test_a_grant_of_the_class_is_given(stage: AdminStage, credential_class: str, grant: str) -> None:
    assert stage.issue(**{"class": credential_class}, grants=[grant]).json["grants"] == [grant]


def test_an_expiring_and_narrowed_credential_is_issued(stage: AdminStage) -> None:
    issued = stage.issue(expiresAt="2200-01-01T01:00:00+01:00", allowedProviders=["cs_aaaaaaaaaaaaaaaa"] * 2)

    assert issued.json["expiresAt"] == "2200-01-01T00:00:00.000Z"
    assert issued.json["allowedProviders"] == ["cs_aaaaaaaaaaaaaaaa"]


# --- reading -------------------------------------------------------------------------------------


def test_root_is_listed_first_and_every_other_once(stage: AdminStage) -> None:
    ids = sorted(stage.issue(name=f"Tool {n}").json["id"] for n in range(4))
    for limit in (1, 2, 3, 100):
        seen: list[str] = []
        query = {"limit": str(limit)}
        while True:
            page = stage.call("GET", CREDENTIALS, query=query).json
            assert 1 <= len(page["credentials"]) <= limit
            seen += [each["id"] for each in page["credentials"]]
            if page["nextCursor"] is None:
                break
            query["cursor"] = page["nextCursor"]
        assert seen == ["root", *ids]


def test_root_alone_is_a_whole_list(stage: AdminStage) -> None:
    page = stage.call("GET", CREDENTIALS, query={"limit": "1"}).json

    assert [each["id"] for each in page["credentials"]] == ["root"]
    assert page["nextCursor"] is None


def test_root_shows_nothing_of_its_secret(stage: AdminStage) -> None:
    root = stage.call("GET", f"{CREDENTIALS}/root").json

    assert (root["class"], root["status"], root["secretFingerprint"]) == ("adm", "active", None)


@pytest.mark.parametrize("credential_id", ["aaaaaaaaaaaaaaaa", "nothing", "Root"])
@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
def test_an_unknown_credential_is_not_found(stage: AdminStage, method: str, credential_id: str) -> None:
    body = {"name": "x"} if method == "PATCH" else None

    assert stage.call(method, f"{CREDENTIALS}/{credential_id}", body, if_match='"1"').status == 404


# --- changing ------------------------------------------------------------------------------------


def test_everything_an_operator_may_set_can_be_changed(stage: AdminStage) -> None:
    issued = stage.issue(expiresAt="2200-01-01T00:00:00Z", allowedProviders=[])
    wanted = {
        "name": "Renamed",
        "status": "disabled",
        "grants": ["external_knowledge:agent"],
        "allowedProviders": None,
        "ratePerMinute": 5,
        "expiresAt": None,
    }
    changed = stage.call("PATCH", issued.headers["Location"], wanted, if_match='"1"')

    assert changed.status == 200
    assert {name: changed.json[name] for name in wanted} == wanted
    assert changed.etag == '"2"'


def test_a_widgets_origins_can_be_changed_and_not_be_emptied(stage: AdminStage) -> None:
    path = stage.issue(**{"class": "pub"}, origins=[ORIGIN]).headers["Location"]
    changed = stage.call("PATCH", path, {"origins": ["https://new.fern-desk.test"]}, if_match='"1"')

    assert changed.json["origins"] == ["https://new.fern-desk.test"]
    assert stage.call("PATCH", path, {"origins": []}, if_match='"2"').pointers == ["/origins"]
    assert stage.call("PATCH", path, {"origins": ["null"]}, if_match='"2"').code == "invalid_origin"


def test_a_change_needs_the_etag(stage: AdminStage) -> None:
    path = stage.issue().headers["Location"]

    assert stage.call("PATCH", path, {"name": "x"}).status == 428
    assert stage.call("PATCH", path, {"name": "x"}, if_match='"2"').status == 412
    assert stage.call("DELETE", path).status == 428
    assert stage.call("DELETE", path, if_match='"2"').status == 412


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"class": "adm"}, 422),
        ({"grants": ["knowledge:read_internal"]}, 409),
        ({"origins": [ORIGIN]}, 422),
        ({"name": None}, 422),
        ({"grants": None}, 422),
        ({"ratePerMinute": None}, 422),
        ({"status": "gone"}, 422),
        ({"expiresAt": "2020-01-01T00:00:00Z"}, 422),
        ({"unknown": 1}, 422),
    ],
)
def test_a_wrong_change_is_refused(stage: AdminStage, change: dict[str, object], status: int) -> None:
    issued = stage.issue()
    refused = stage.call("PATCH", issued.headers["Location"], change, if_match='"1"')

    assert refused.status == status
    assert stage.call("GET", issued.headers["Location"]).etag == '"1"'


def test_an_expired_credential_can_still_be_renamed(stage: AdminStage) -> None:
    issued = stage.issue(expiresAt="2100-01-01T00:00:00Z")
    stage.clock.advance(5 * 365 * 86_400)

    assert stage.call("PATCH", issued.headers["Location"], {"name": "Old"}, if_match='"1"').status == 200


def test_a_disabled_admin_is_refused_from_the_next_request_on(stage: AdminStage) -> None:
    issued = stage.issue(**{"class": "adm"})
    token = issued.json["token"]
    assert stage.call("GET", CREDENTIALS, token=token).status == 200
    stage.call("PATCH", issued.headers["Location"], {"status": "disabled"}, if_match='"1"')

    assert stage.call("GET", CREDENTIALS, token=token).status == 401


def test_a_deleted_admin_is_refused_from_the_next_request_on(stage: AdminStage) -> None:
    issued = stage.issue(**{"class": "adm"})
    token = issued.json["token"]
    assert stage.call("GET", CREDENTIALS, token=token).status == 200

    assert stage.call("DELETE", issued.headers["Location"], if_match='"1"').status == 204
    assert stage.call("GET", CREDENTIALS, token=token).status == 401


def test_a_rotated_token_replaces_the_old_one_at_once(stage: AdminStage) -> None:
    issued = stage.issue(**{"class": "adm"})
    rotated = stage.call("POST", f"{issued.headers['Location']}/rotate")

    assert rotated.status == 200
    assert rotated.etag == '"2"'
    assert rotated.json["secretFingerprint"] != issued.json["secretFingerprint"]
    assert stage.call("GET", CREDENTIALS, token=issued.json["token"]).status == 401
    assert stage.call("GET", CREDENTIALS, token=rotated.json["token"]).status == 200


def test_a_rotation_may_name_the_version_that_it_was_meant_for(stage: AdminStage) -> None:
    path = f"{stage.issue().headers['Location']}/rotate"

    assert stage.call("POST", path, if_match='"2"').status == 412
    assert stage.call("POST", path, {}, if_match='"1"').status == 200
    assert stage.call("POST", path, {"windowHours": 5}).status == 422


# --- root ----------------------------------------------------------------------------------------


def test_root_can_be_switched_off_once_another_admin_exists(stage: AdminStage) -> None:
    path = f"{CREDENTIALS}/root"
    etag = stage.call("GET", path).etag
    assert stage.call("PATCH", path, {"status": "disabled"}, if_match=etag).code == "last_admin"
    token = stage.issue(**{"class": "adm"}).json["token"]

    assert stage.call("PATCH", path, {"status": "disabled"}).status == 428
    switched = stage.call("PATCH", path, {"status": "disabled"}, if_match=etag)
    assert (switched.status, switched.json["status"]) == (200, "disabled")
    assert stage.call("GET", CREDENTIALS).status == 401
    assert stage.call("GET", path, token=token).json["status"] == "disabled"
    on = stage.call("PATCH", path, {"status": "active"}, if_match=switched.etag, token=token)
    assert on.json["status"] == "active"
    assert stage.call("GET", CREDENTIALS).status == 200
    assert (etag, switched.etag, on.etag) == ('"1"', '"2"', '"3"')


def test_a_stale_switch_of_root_is_refused(stage: AdminStage) -> None:
    token = stage.issue(**{"class": "adm"}).json["token"]
    path = f"{CREDENTIALS}/root"

    assert stage.call("PATCH", path, {"status": "disabled"}, if_match='"2"').status == 412
    for status, if_match in (("disabled", '"1"'), ("active", '"2"')):
        assert stage.call("PATCH", path, {"status": status}, if_match=if_match, token=token).status == 200
    audited = len(stage.store.audit)
    for stale in ('"1"', '"2"', '"4"'):
        for status in ("active", "disabled"):
            assert stage.call("PATCH", path, {"status": status}, if_match=stale).status == 412
    assert len(stage.store.audit) == audited


def test_of_two_switches_that_read_the_same_root_one_wins(stage: AdminStage) -> None:
    """The second one read root before the first one wrote."""
    token = stage.issue(**{"class": "adm"}).json["token"]
    before = stage.store.root
    path = f"{CREDENTIALS}/root"
    assert stage.call("PATCH", path, {"status": "disabled"}, if_match='"1"', token=token).status == 200
    audited = len(stage.store.audit)

    async def read_earlier() -> RootSwitch:
        return before

    stage.credential_store.root_switch = read_earlier
    late = stage.call("PATCH", path, {"status": "disabled"}, if_match='"1"', token=token)

    assert (late.status, late.code, len(stage.store.audit)) == (412, "precondition_failed", audited)


def test_switching_root_to_what_it_is_writes_nothing(stage: AdminStage) -> None:
    same = stage.call("PATCH", f"{CREDENTIALS}/root", {"status": "active"}, if_match='"1"')
    empty = stage.call("PATCH", f"{CREDENTIALS}/root", {}, if_match='"1"')

    assert (same.status, empty.status, stage.store.audit) == (200, 200, {})


@pytest.mark.parametrize(
    ("method", "suffix", "body"), [("DELETE", "", None), ("POST", "/rotate", None), ("PATCH", "", {"name": "x"})]
)
def test_root_is_protected_from_everything_else(
    stage: AdminStage, method: str, suffix: str, body: dict[str, object] | None
) -> None:
    refused = stage.call(method, f"{CREDENTIALS}/root{suffix}", body, if_match='"1"')

    assert (refused.status, refused.code) == (409, "root_protected")


@pytest.mark.parametrize("change", ["delete", "disable", "expire"])
def test_the_last_admin_cannot_leave_while_root_is_off(stage: AdminStage, change: str) -> None:
    admin, token = stage.an_admin()
    stage.store.root = RootSwitch(is_on=False, generation=2)
    path = f"{CREDENTIALS}/{admin.id}"
    if change == "delete":
        refused = stage.call("DELETE", path, if_match='"1"', token=token)
    else:
        wanted = {"status": "disabled"} if change == "disable" else {"expiresAt": "2200-01-01T00:00:00Z"}
        refused = stage.call("PATCH", path, wanted, if_match='"1"', token=token)

    assert (refused.status, refused.code) == (409, "last_admin")
    assert stage.store.credentials[admin.id] == replace(admin, status=CredentialStatus.ACTIVE)
