"""Providers, as an admin meets them: through the function's own routes, with API Gateway events."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from shared.domain.registrations import ProviderStatus
from shared.errors import BlockedAddress, ConnectionFailed, ExchangeTimeout, Unavailable
from tests.support.admin_stage import A_PROVIDER, PROVIDERS, AdminStage, event_of


@pytest.fixture
def stage() -> Iterator[AdminStage]:
    stage = AdminStage()
    yield stage
    stage.close()


# --- registering ---------------------------------------------------------------------------------


def test_a_registered_provider_is_disabled_and_shows_its_secret_once(stage: AdminStage) -> None:
    created = stage.send(event_of("admin_create_provider"))

    assert created.status == 201
    assert created.json["status"] == "disabled"
    assert created.json["secret"].startswith("kgs_")
    assert created.json["warnings"] == []
    assert created.json["id"].startswith("cs_")
    assert created.headers["Location"] == f"{PROVIDERS}/{created.json['id']}"
    assert created.etag == '"1"'
    later = stage.call("GET", created.headers["Location"])
    assert "secret" not in later.json
    assert later.json["secretFingerprint"] == created.json["secretFingerprint"]


def test_the_stored_secret_opens_to_the_one_that_was_shown(stage: AdminStage) -> None:
    created = stage.register(exposureProfile="agent_only")
    provider = stage.store.registrations[created.json["id"]]
    unsealer = stage.unsealers[provider.exposure_profile]
    opened = stage.loop.run(unsealer.unseal(provider.source.signing, owner_id=provider.id, purpose="signing"))

    assert opened == created.json["secret"]


def test_everything_that_was_asked_for_is_stored(stage: AdminStage) -> None:
    created = stage.register(
        name="  Internal wiki ",
        kind="contract",
        exposureProfile="agent_only",
        sendConversationId=True,
        module="billing",
        priority=7,
        capabilities={"scoring": True, "locale": True},
    )

    shown = stage.call("GET", f"{PROVIDERS}/{created.json['id']}").json
    assert shown["name"] == "Internal wiki"
    assert shown["exposureProfile"] == "agent_only"
    assert shown["sendConversationId"] is True
    assert shown["module"] == "billing"
    assert shown["priority"] == 7
    assert shown["capabilities"]["scoring"] is True
    assert shown["capabilities"]["semanticSearch"] is False
    assert shown["contractVersion"] == 1
    assert shown["rotation"] is None


def test_the_base_url_is_stored_in_its_one_normal_form(stage: AdminStage) -> None:
    created = stage.register(baseUrl="https://KB.fern-desk.test:443/v1/")

    assert created.json["baseUrl"] == "https://kb.fern-desk.test/v1"
    assert stage.address_check.asked == [("https://kb.fern-desk.test/v1", False)]


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"name": ""}, "/name"),
        ({"name": "   "}, "/name"),
        ({"name": "\u3164\u200b"}, "/name"),
        ({"name": "x" * 121}, "/name"),
        ({"name": "two\nlines"}, "/name"),
        ({"name": "turned \u202e round"}, "/name"),
        ({"name": None}, "/name"),
        ({"kind": "wiki"}, "/kind"),
        ({"exposureProfile": "public"}, "/exposureProfile"),
        ({"exposureProfile": None}, "/exposureProfile"),
        ({"priority": -1}, "/priority"),
        ({"priority": 1001}, "/priority"),
        ({"priority": "5"}, "/priority"),
        ({"priority": 5.5}, "/priority"),
        ({"priority": True}, "/priority"),
        ({"module": "Billing"}, "/module"),
        ({"allowPrivateNetwork": "yes"}, "/allowPrivateNetwork"),
        ({"sendConversationId": True}, "/sendConversationId"),
        ({"capabilities": {"telepathy": True}}, "/capabilities/telepathy"),
        ({"capabilities": []}, "/capabilities"),
        ({"status": "active"}, "/status"),
        ({"id": "cs_aaaaaaaaaaaaaaaa"}, "/id"),
        ({"base_url": "https://kb.fern-desk.test"}, "/base_url"),
        ({"baseUrl": ""}, "/baseUrl"),
        ({"baseUrl": "https://kb.fern-desk.test/" + "x" * 2048}, "/baseUrl"),
    ],
)
def test_a_wrong_field_is_refused_by_name(stage: AdminStage, change: dict[str, object], pointer: str) -> None:
    refused = stage.call("POST", PROVIDERS, A_PROVIDER | change)

    assert refused.status == 422
    assert refused.code == "invalid_request"
    assert pointer in refused.pointers
    assert stage.store.registrations == {}


@pytest.mark.parametrize("missing", ["name", "exposureProfile", "baseUrl"])
def test_a_missing_field_is_refused_by_name(stage: AdminStage, missing: str) -> None:
    refused = stage.call("POST", PROVIDERS, {name: value for name, value in A_PROVIDER.items() if name != missing})

    assert refused.pointers == [f"/{missing}"]


def test_two_spellings_of_the_exposure_profile_are_refused(stage: AdminStage) -> None:
    refused = stage.call("POST", PROVIDERS, A_PROVIDER | {"exposure_profile": "agent_only"})

    assert refused.status == 422
    assert refused.pointers == ["/exposure_profile"]


def test_the_same_key_twice_is_a_bad_request(stage: AdminStage) -> None:
    body = '{"name": "x", "exposureProfile": "customer_safe", "exposureProfile": "agent_only", "baseUrl": "https://a.test"}'
    refused = stage.call("POST", PROVIDERS, body)

    assert (refused.status, refused.code) == (400, "body_not_json")
    assert stage.store.registrations == {}


@pytest.mark.parametrize(
    "base_url", ["http://kb.fern-desk.test", "https://user:pw@kb.fern-desk.test", "https://127.0.0.1", "ftp://x.test"]
)
def test_an_unusable_base_url_is_refused_before_any_look_up(stage: AdminStage, base_url: str) -> None:
    refused = stage.call("POST", PROVIDERS, A_PROVIDER | {"baseUrl": base_url})

    assert (refused.status, refused.code) == (422, "invalid_base_url")
    assert refused.pointers == ["/baseUrl"]
    assert stage.address_check.asked == []


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (BlockedAddress(), "blocked_address"),
        (ConnectionFailed(), "host_not_resolved"),
        (ExchangeTimeout(), "host_not_resolved"),
    ],
)
def test_a_host_that_may_not_be_dialled_is_refused(stage: AdminStage, failure: ConnectionFailed, code: str) -> None:
    stage.address_check.failure = failure
    refused = stage.call("POST", PROVIDERS, A_PROVIDER)

    assert (refused.status, refused.code) == (422, code)
    assert refused.pointers == ["/baseUrl"]
    assert stage.store.registrations == {}


def test_a_private_network_that_is_not_there_cannot_be_allowed(stage: AdminStage) -> None:
    refused = stage.call("POST", PROVIDERS, A_PROVIDER | {"allowPrivateNetwork": True})

    assert (refused.status, refused.code) == (409, "private_network_unavailable")


def test_a_private_network_can_be_allowed_where_there_is_one() -> None:
    stage = AdminStage(private_network_available=True)
    created = stage.register(allowPrivateNetwork=True, baseUrl="https://10.1.2.3/v1")

    assert created.json["allowPrivateNetwork"] is True
    assert stage.address_check.asked == [("https://10.1.2.3/v1", True)]
    stage.close()


def test_loopback_http_is_taken_in_the_embedded_default_alone(stage: AdminStage) -> None:
    refused = stage.call("POST", PROVIDERS, A_PROVIDER | {"baseUrl": "http://127.0.0.1:9000"})
    embedded = AdminStage(allow_loopback_http=True)

    assert refused.code == "invalid_base_url"
    assert embedded.register(baseUrl="http://127.0.0.1:9000").json["baseUrl"] == "http://127.0.0.1:9000"
    embedded.close()


def test_a_taken_name_is_refused(stage: AdminStage) -> None:
    stage.register()
    names = ("HELP centre", "Help\u00a0centre", "Help centre\u200b", "Ｈelp centre", "help  centre")
    refused = [stage.call("POST", PROVIDERS, A_PROVIDER | {"name": name}) for name in names]

    assert [(each.status, each.code) for each in refused] == [(409, "name_taken")] * len(names)


def test_the_same_name_is_free_under_the_other_exposure(stage: AdminStage) -> None:
    stage.register()

    assert stage.register(exposureProfile="agent_only").status == 201


# --- reading -------------------------------------------------------------------------------------


def test_providers_are_listed_in_pages(stage: AdminStage) -> None:
    ids = sorted(stage.register(name=f"Help centre {n}").json["id"] for n in range(5))
    seen: list[str] = []
    cursor: str | None = None
    for _ in range(3):
        page = stage.call("GET", PROVIDERS, query={"limit": "2"} | ({"cursor": cursor} if cursor else {})).json
        seen += [each["id"] for each in page["providers"]]
        cursor = page["nextCursor"]

    assert seen == ids
    assert cursor is None


def test_a_page_has_25_unless_asked_otherwise(stage: AdminStage) -> None:
    for n in range(26):
        stage.register(name=f"Help centre {n}")

    page = stage.call("GET", PROVIDERS).json
    assert len(page["providers"]) == 25
    assert page["nextCursor"] is not None
    assert len(stage.call("GET", PROVIDERS, query={"limit": "100"}).json["providers"]) == 26


@pytest.mark.parametrize("limit", ["0", "101", "-1", "1.5", "ten", "", "٣", "1,2", "0x10", "9" * 50])
def test_a_limit_outside_its_range_is_refused(stage: AdminStage, limit: str) -> None:
    refused = stage.call("GET", PROVIDERS, query={"limit": limit})

    assert (refused.status, refused.pointers) == (422, ["/limit"])


def test_an_unknown_parameter_is_refused(stage: AdminStage) -> None:
    refused = stage.call("GET", PROVIDERS, query={"exposureProfile": "agent_only"})

    assert (refused.status, refused.pointers) == (422, ["/exposureProfile"])


@pytest.mark.parametrize("provider_id", ["cs_aaaaaaaaaaaaaaaa", "nothing", "cs_", "ROOT", "a" * 500])
@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
def test_an_unknown_provider_is_not_found(stage: AdminStage, method: str, provider_id: str) -> None:
    body = {"name": "x"} if method == "PATCH" else None
    refused = stage.call(method, f"{PROVIDERS}/{provider_id}", body, if_match='"1"')

    assert (refused.status, refused.code) == (404, "not_found")


# --- changing ------------------------------------------------------------------------------------


def test_a_change_needs_the_etag(stage: AdminStage) -> None:
    created = stage.register()
    path = created.headers["Location"]

    assert stage.call("PATCH", path, {"priority": 1}).code == "precondition_required"
    assert stage.call("PATCH", path, {"priority": 1}, if_match="*").status == 428
    assert stage.call("PATCH", path, {"priority": 1}, if_match='"7"').code == "precondition_failed"
    assert stage.call("PATCH", path, {"priority": 1}, if_match='W/"1"').status == 412
    assert stage.call("PATCH", path, {"priority": 1}, if_match='"another-tag"').status == 412
    assert stage.call("PATCH", path, {"priority": 1}, if_match="1").code == "invalid_if_match"
    assert stage.call("PATCH", path, {"priority": 1}, if_match='"1", "2"').code == "invalid_if_match"
    changed = stage.call("PATCH", path, {"priority": 1}, if_match=created.etag)
    assert (changed.status, changed.etag, changed.json["priority"]) == (200, '"2"', 1)


def test_of_two_edits_from_one_version_one_wins(stage: AdminStage) -> None:
    created = stage.register()
    first = stage.call("PATCH", created.headers["Location"], {"priority": 1}, if_match=created.etag)
    second = stage.call("PATCH", created.headers["Location"], {"priority": 2}, if_match=created.etag)

    assert (first.status, second.status) == (200, 412)
    assert stage.call("GET", created.headers["Location"]).json["priority"] == 1


def test_everything_an_operator_may_set_can_be_changed(stage: AdminStage) -> None:
    created = stage.register(exposureProfile="agent_only", module="billing")
    active = stage.activate(created)
    wanted = {
        "name": "Renamed",
        "baseUrl": "https://other.fern-desk.test/kb",
        "priority": 3,
        "status": "disabled",
        "sendConversationId": True,
        "module": None,
        "capabilities": {"freshness": True},
    }
    changed = stage.call("PATCH", created.headers["Location"], wanted, if_match=active.etag)

    assert (active.json["status"], changed.status) == ("active", 200)
    for name in ("name", "baseUrl", "priority", "status", "sendConversationId", "module"):
        assert changed.json[name] == wanted[name]
    assert changed.json["capabilities"]["freshness"] is True
    assert changed.json["secretFingerprint"] == created.json["secretFingerprint"]


@pytest.mark.parametrize("field", ["exposureProfile", "kind"])
@pytest.mark.parametrize("value", ["agent_only", "contract", None])
def test_what_is_fixed_cannot_be_changed(stage: AdminStage, field: str, value: str | None) -> None:
    created = stage.register()
    refused = stage.call("PATCH", created.headers["Location"], {field: value}, if_match='"1"')

    assert (refused.status, refused.pointers) == (422, [f"/{field}"])
    assert "cannot be changed" in refused.json["errors"][0]["detail"]


@pytest.mark.parametrize("field", ["name", "baseUrl", "priority", "status", "allowPrivateNetwork", "capabilities"])
def test_null_is_no_value_for_a_field_that_needs_one(stage: AdminStage, field: str) -> None:
    created = stage.register()
    refused = stage.call("PATCH", created.headers["Location"], {field: None}, if_match='"1"')

    assert (refused.status, refused.pointers) == (422, [f"/{field}"])


def test_auto_disabled_cannot_be_set_by_hand(stage: AdminStage) -> None:
    created = stage.register()
    refused = stage.call("PATCH", created.headers["Location"], {"status": "auto_disabled"}, if_match='"1"')

    assert refused.pointers == ["/status"]


def test_a_change_that_changes_nothing_writes_nothing(stage: AdminStage) -> None:
    created = stage.register()
    audited = len(stage.store.audit)
    same = stage.call("PATCH", created.headers["Location"], {"priority": 100}, if_match='"1"')
    empty = stage.call("PATCH", created.headers["Location"], {}, if_match='"1"')

    assert (same.status, same.etag, empty.etag) == (200, '"1"', '"1"')
    assert len(stage.store.audit) == audited


@pytest.mark.parametrize("base_url", ["https://elsewhere.fern-desk.test/v1", "https://kb.fern-desk.test/other"])
def test_a_customer_safe_provider_that_moves_is_disabled(stage: AdminStage, base_url: str) -> None:
    created = stage.register()
    active = stage.activate(created)
    moved = stage.call("PATCH", created.headers["Location"], {"baseUrl": base_url}, if_match=active.etag)

    assert active.json["status"] == "active"
    assert moved.json["status"] == "disabled"


def test_a_customer_safe_provider_cannot_move_and_be_active_at_once(stage: AdminStage) -> None:
    created = stage.register()
    active = stage.activate(created)
    wanted = {"baseUrl": "https://elsewhere.fern-desk.test", "status": "active"}
    refused = stage.call("PATCH", created.headers["Location"], wanted, if_match=active.etag)

    assert (refused.status, refused.code) == (409, "test_required")
    assert stage.call("GET", created.headers["Location"]).json == active.json


@pytest.mark.parametrize("profile", ["customer_safe", "agent_only"])
def test_a_new_provider_cannot_be_turned_on_without_a_test(stage: AdminStage, profile: str) -> None:
    created = stage.register(exposureProfile=profile)
    path = created.headers["Location"]
    refused = stage.call("PATCH", path, {"status": "active"}, if_match='"1"')
    with_more = stage.call("PATCH", path, {"status": "active", "name": "Renamed"}, if_match='"1"')
    renamed = stage.call("PATCH", path, {"name": "Renamed"}, if_match='"1"')
    moved = stage.call("PATCH", path, {"baseUrl": "https://elsewhere.fern-desk.test"}, if_match=renamed.etag)

    assert (created.json["status"], created.json["needsTest"]) == ("disabled", True)
    assert [(each.status, each.code) for each in (refused, with_more)] == [(409, "test_required")] * 2
    for changed in (renamed, moved):
        assert (changed.json["status"], changed.json["needsTest"]) == ("disabled", True)


@pytest.mark.parametrize("profile", ["customer_safe", "agent_only"])
def test_a_provider_that_has_passed_its_test_is_turned_off_and_on_by_hand(stage: AdminStage, profile: str) -> None:
    created = stage.register(exposureProfile=profile)
    path = created.headers["Location"]
    active = stage.activate(created)
    off = stage.call("PATCH", path, {"status": "disabled"}, if_match=active.etag)
    on = stage.call("PATCH", path, {"status": "active"}, if_match=off.etag)

    assert [(each.json["status"], each.json["needsTest"]) for each in (active, off, on)] == [
        ("active", False),
        ("disabled", False),
        ("active", False),
    ]


def test_an_agent_only_provider_that_moves_stays_active(stage: AdminStage) -> None:
    created = stage.register(exposureProfile="agent_only")
    active = stage.activate(created)
    moved = stage.call("PATCH", created.headers["Location"], {"baseUrl": "https://a.test"}, if_match=active.etag)
    again = {"status": "active", "baseUrl": "https://b.test"}
    moved_again = stage.call("PATCH", created.headers["Location"], again, if_match=moved.etag)

    for each in (moved, moved_again):
        assert (each.json["status"], each.json["needsTest"]) == ("active", False)


def test_an_address_is_looked_up_only_when_it_may_have_changed(stage: AdminStage) -> None:
    created = stage.register()
    stage.address_check.failure = BlockedAddress()
    renamed = stage.call("PATCH", created.headers["Location"], {"name": "Renamed"}, if_match='"1"')
    moved = stage.call(
        "PATCH", created.headers["Location"], {"baseUrl": "https://elsewhere.fern-desk.test"}, if_match=renamed.etag
    )

    assert renamed.status == 200
    assert moved.code == "blocked_address"


def test_conversation_ids_are_for_agent_only_providers(stage: AdminStage) -> None:
    created = stage.register()
    refused = stage.call("PATCH", created.headers["Location"], {"sendConversationId": True}, if_match='"1"')

    assert (refused.status, refused.pointers) == (422, ["/sendConversationId"])


def test_a_private_network_cannot_be_allowed_later_either(stage: AdminStage) -> None:
    created = stage.register()
    refused = stage.call("PATCH", created.headers["Location"], {"allowPrivateNetwork": True}, if_match='"1"')

    assert (refused.status, refused.code) == (409, "private_network_unavailable")


def test_a_name_cannot_be_changed_to_a_taken_one(stage: AdminStage) -> None:
    stage.register()
    other = stage.register(name="Other")
    refused = stage.call("PATCH", other.headers["Location"], {"name": "Help Centre"}, if_match='"1"')

    assert (refused.status, refused.code) == (409, "name_taken")


# --- removing ------------------------------------------------------------------------------------


def test_a_removed_provider_is_gone(stage: AdminStage) -> None:
    created = stage.register()
    path = created.headers["Location"]

    assert stage.call("DELETE", path).status == 428
    assert stage.call("DELETE", path, if_match='"2"').status == 412
    removed = stage.call("DELETE", path, if_match='"1"')
    assert (removed.status, removed.text) == (204, "")
    assert stage.call("GET", path).status == 404
    assert stage.call("DELETE", path, if_match='"1"').status == 404


# --- rotating ------------------------------------------------------------------------------------


def test_a_rotation_shows_the_new_secret_once_and_keeps_the_old_one_signing(stage: AdminStage) -> None:
    created = stage.register()
    path = created.headers["Location"]
    rotated = stage.call("POST", f"{path}/rotate-secret", {"windowHours": 2})

    assert rotated.status == 200
    assert rotated.json["secret"] not in (None, created.json["secret"])
    assert rotated.etag == '"2"'
    assert rotated.json["rotation"]["previousFingerprint"] == created.json["secretFingerprint"]
    stage.call("POST", f"{path}/test", {"query": "ferry"})
    _, _, secrets = stage.kind.asked[-1]
    assert (secrets.current, secrets.previous) == (rotated.json["secret"], created.json["secret"])


def test_a_rotation_takes_24_hours_unless_told_otherwise(stage: AdminStage) -> None:
    created = stage.register()
    rotated = stage.call("POST", f"{created.headers['Location']}/rotate-secret")
    provider = stage.store.registrations[created.json["id"]]

    assert rotated.status == 200
    assert provider.source.signing_previous_until == stage.clock.now() + 24 * 3600


def test_the_replaced_secret_stops_signing_when_its_window_ends(stage: AdminStage) -> None:
    created = stage.register()
    path = created.headers["Location"]
    stage.call("POST", f"{path}/rotate-secret", {"windowHours": 1})
    stage.clock.advance(3600)
    stage.call("POST", f"{path}/test", {"query": "ferry"})

    assert stage.kind.asked[-1][2].previous is None
    assert stage.call("GET", path).json["rotation"] is None


def test_a_window_of_zero_drops_the_replaced_secret_at_once(stage: AdminStage) -> None:
    created = stage.register()
    rotated = stage.call("POST", f"{created.headers['Location']}/rotate-secret", {"windowHours": 0})

    assert rotated.json["rotation"] is None
    assert stage.store.registrations[created.json["id"]].source.signing_previous is None


def test_a_rotation_inside_an_open_window_needs_a_clear_word(stage: AdminStage) -> None:
    created = stage.register()
    path = f"{created.headers['Location']}/rotate-secret"
    first = stage.call("POST", path)

    assert stage.call("POST", path).code == "rotation_pending"
    assert stage.call("POST", path, {"windowHours": 0}).status == 409
    second = stage.call("POST", path, {"replacePending": True})
    assert second.status == 200
    assert second.json["rotation"]["previousFingerprint"] == first.json["secretFingerprint"]


def test_a_rotation_needs_no_word_after_the_window(stage: AdminStage) -> None:
    created = stage.register()
    path = f"{created.headers['Location']}/rotate-secret"
    stage.call("POST", path, {"windowHours": 168})
    stage.clock.advance(168 * 3600)

    assert stage.call("POST", path).status == 200


@pytest.mark.parametrize("body", [{"windowHours": -1}, {"windowHours": 169}, {"windowHours": 1.5}, {"days": 1}])
def test_a_window_outside_its_range_is_refused(stage: AdminStage, body: dict[str, object]) -> None:
    created = stage.register()

    assert stage.call("POST", f"{created.headers['Location']}/rotate-secret", body).status == 422


def test_a_rotation_may_name_the_version_that_it_was_meant_for(stage: AdminStage) -> None:
    created = stage.register()
    path = f"{created.headers['Location']}/rotate-secret"

    assert stage.call("POST", path, if_match='"9"').status == 412
    assert stage.call("POST", path, if_match='"1"').status == 200


def test_a_rotation_of_nothing_is_not_found(stage: AdminStage) -> None:
    assert stage.call("POST", f"{PROVIDERS}/cs_aaaaaaaaaaaaaaaa/rotate-secret").status == 404


def test_a_secret_that_cannot_be_opened_leaves_everything_as_it_was(stage: AdminStage) -> None:
    created = stage.register()
    provider = stage.store.registrations[created.json["id"]]
    stage.unsealers[provider.exposure_profile].failure = Unavailable(code="secrets_unavailable", retry_after_s=5)
    refused = stage.call("POST", f"{created.headers['Location']}/rotate-secret")

    assert (refused.status, refused.code) == (503, "secrets_unavailable")
    assert refused.headers["Retry-After"] == "5"
    assert stage.store.registrations[provider.id] == provider


def test_a_store_that_is_down_is_a_503(stage: AdminStage) -> None:
    stage.registry.failure = Unavailable(retry_after_s=3)
    refused = stage.call("POST", PROVIDERS, A_PROVIDER)

    assert (refused.status, refused.code, refused.headers["Retry-After"]) == (503, "store_unavailable", "3")


def test_a_new_provider_starts_disabled_in_the_store_too(stage: AdminStage) -> None:
    created = stage.register()

    assert stage.store.registrations[created.json["id"]].status is ProviderStatus.DISABLED
