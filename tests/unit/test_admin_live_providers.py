"""Registering and changing hosted live services: what may be set, what may not, and what is shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from shared.domain.exposure import ExposureProfile
from shared.domain.live_configs import (
    CONFIG_OF,
    ENDPOINTS,
    Context7Config,
    ExaConfig,
    ExaSearchType,
    MintlifyConfig,
    MintlifyEndpoint,
)
from shared.domain.registration_rules import check_exposure
from shared.domain.registrations import LIVE_KINDS, ProviderKind
from shared.errors import Invalid
from tests.support.admin_stage import AUDIT, LIVE, PROVIDERS, AdminStage, a_live_provider

HOSTS = ["docs.example.com"]


@pytest.fixture
def stage() -> Iterator[AdminStage]:
    stage = AdminStage()
    yield stage
    stage.close()


def with_config(kind: str, **fields: Any) -> dict[str, Any]:
    whole = a_live_provider(kind)
    return {**whole, "config": {**whole["config"], **fields}}


# --- registering ---------------------------------------------------------------------------------


def test_every_live_kind_can_be_registered(stage: AdminStage) -> None:
    assert set(LIVE) == LIVE_KINDS == set(CONFIG_OF)
    for kind in LIVE:
        created = stage.register_live(kind)
        shown = stage.call("GET", created.headers["Location"])
        stored = stage.store.registrations[created.json["id"]]

        assert created.json == shown.json
        assert (created.json["kind"], created.json["exposureProfile"]) == (kind, "agent_only")
        assert created.json["id"].startswith("ao_")
        assert (created.json["status"], created.json["needsTest"], created.etag) == ("disabled", True, '"1"')
        assert type(stored.source.config) is CONFIG_OF[ProviderKind(kind)]


def test_a_live_kind_has_no_secret_and_nothing_that_only_the_contract_needs(stage: AdminStage) -> None:
    created = stage.register_live("exa")

    assert set(created.json) == {
        "id",
        "name",
        "kind",
        "exposureProfile",
        "baseUrl",
        "module",
        "priority",
        "status",
        "statusReason",
        "needsTest",
        "generation",
        "config",
        "createdAt",
        "updatedAt",
    }
    assert stage.store.registrations[created.json["id"]].source.signing is None


def test_a_contract_answer_has_no_config(stage: AdminStage) -> None:
    created = stage.register(kind="contract")

    assert "config" not in created.json
    assert "secret" in created.json


def test_without_a_kind_a_provider_speaks_the_contract(stage: AdminStage) -> None:
    assert stage.register().json["kind"] == "contract"
    refused = stage.call("POST", PROVIDERS, {key: v for key, v in a_live_provider("exa").items() if key != "kind"})

    assert refused.status == 422
    assert {"/baseUrl", "/config"} <= set(refused.pointers)


@pytest.mark.parametrize("kind", LIVE)
def test_where_a_service_is_cannot_be_set(stage: AdminStage, kind: str) -> None:
    refused = stage.call("POST", PROVIDERS, a_live_provider(kind) | {"baseUrl": "https://elsewhere.example.com"})
    created = stage.register_live(kind)

    assert (refused.status, refused.pointers) == (422, ["/baseUrl"])
    assert created.json["baseUrl"] == ENDPOINTS[ProviderKind(kind)]
    assert stage.address_check.asked == []


@pytest.mark.parametrize("kind", LIVE)
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("allowPrivateNetwork", False),
        ("capabilities", {}),
        ("sendConversationId", False),
        ("secret", "k-demo"),
        ("status", "active"),
    ],
    ids=["allowPrivateNetwork", "capabilities", "sendConversationId", "secret", "status"],
)
def test_what_a_live_kind_has_not_is_an_unknown_field(stage: AdminStage, kind: str, field: str, value: object) -> None:
    refused = stage.call("POST", PROVIDERS, a_live_provider(kind) | {field: value})

    assert (refused.status, refused.pointers) == (422, [f"/{field}"])
    assert refused.json["errors"][0]["detail"] == "This field is not known here."


@pytest.mark.parametrize("kind", LIVE)
def test_a_live_kind_is_never_customer_safe(stage: AdminStage, kind: str) -> None:
    refused = stage.call("POST", PROVIDERS, a_live_provider(kind) | {"exposureProfile": "customer_safe"})

    assert (refused.status, refused.pointers) == (422, ["/exposureProfile"])
    assert refused.json["errors"][0]["detail"] == "A live kind is agent_only."
    assert stage.store.registrations == {}


@pytest.mark.parametrize("kind", sorted(ProviderKind))
def test_whoever_registers_a_live_kind_is_held_to_its_exposure(kind: ProviderKind) -> None:
    check_exposure(kind, ExposureProfile.AGENT_ONLY)
    if kind in LIVE_KINDS:
        with pytest.raises(Invalid):
            check_exposure(kind, ExposureProfile.CUSTOMER_SAFE)
    else:
        check_exposure(kind, ExposureProfile.CUSTOMER_SAFE)


def test_the_exposure_of_a_live_kind_has_to_be_said(stage: AdminStage) -> None:
    wanted = {key: value for key, value in a_live_provider("exa").items() if key != "exposureProfile"}

    assert stage.call("POST", PROVIDERS, wanted).pointers == ["/exposureProfile"]


@pytest.mark.parametrize("kind", ["wiki", "difyExternal", "Exa", "", None, 5])
def test_a_kind_that_cannot_be_registered_is_refused_by_name(stage: AdminStage, kind: object) -> None:
    refused = stage.call("POST", PROVIDERS, a_live_provider("exa") | {"kind": kind})

    assert (refused.status, refused.pointers) == (422, ["/kind"])


def test_a_config_is_stored_as_it_was_set_with_its_defaults(stage: AdminStage) -> None:
    exa = stage.register_live("exa", config={"approvedHosts": HOSTS, "searchType": "auto", "results": 3})
    context7 = stage.register_live("context7", config={"approvedHosts": HOSTS, "library": "/acme/widgets"})
    mintlify = stage.register_live("mintlify", config={"approvedHosts": HOSTS, "endpoint": "root", "product": "acme"})
    configs = [stage.store.registrations[each.json["id"]].source.config for each in (exa, context7, mintlify)]

    assert configs == [
        ExaConfig(approved_hosts=("docs.example.com",), search_type=ExaSearchType.AUTO, results=3),
        Context7Config(approved_hosts=("docs.example.com",), library="/acme/widgets"),
        MintlifyConfig(approved_hosts=("docs.example.com",), endpoint=MintlifyEndpoint.ROOT, product="acme"),
    ]
    assert exa.json["config"] == {
        "approvedHosts": HOSTS,
        "searchType": "auto",
        "results": 3,
        "maxCharacters": 10_000,
    }


def test_hosts_are_stored_in_their_one_form_and_once(stage: AdminStage) -> None:
    hosts = ["Docs.Example.COM", "docs.example.com", "bücher.example.org", "a.example.net"]
    created = stage.register_live("firecrawl", config={"approvedHosts": hosts})

    assert created.json["config"]["approvedHosts"] == ["docs.example.com", "xn--bcher-kva.example.org", "a.example.net"]


def test_repositories_are_stored_once_whatever_their_case(stage: AdminStage) -> None:
    created = stage.register_live(
        "deepwiki", config={"repositories": ["Acme/Widgets", "acme/widgets", "acme/gears.js"]}
    )

    assert created.json["config"]["repositories"] == ["Acme/Widgets", "acme/gears.js"]


@pytest.mark.parametrize(
    "host",
    [
        "",
        "localhost",
        "intranet",
        "10.0.0.1",
        "[::1]",
        "0x7f.1",
        "docs.example.com.",
        "https://docs.example.com",
        "docs.example.com/guide",
        "docs.example.com:8443",
        "user@docs.example.com",
        "*.example.com",
        "printer.local",
        "db.internal",
        "docs.example.com\n",
        "docs.exam\u00adple.com",
        "docs.exam\u200bple.com",
        "example.onion",
        "a.arpa",
        "7.0.0.10.in-addr.arpa",
        "example.alt",
        "d" * 250 + ".com",
        None,
        5,
    ],
    ids=ascii,
)
def test_a_host_that_is_no_exact_public_name_is_refused(stage: AdminStage, host: object) -> None:
    refused = stage.call("POST", PROVIDERS, with_config("exa", approvedHosts=["docs.example.com", host]))
    alone = stage.call("POST", PROVIDERS, with_config("exa", approvedHosts=[host]))

    assert (refused.status, refused.pointers) == (422, ["/config/approvedHosts/1"])
    assert (alone.status, alone.pointers) == (422, ["/config/approvedHosts/0"])
    assert host is None or len(str(host)) < 2 or str(host) not in refused.text


@pytest.mark.parametrize(
    ("kind", "change", "pointer"),
    [
        ("exa", {"approvedHosts": []}, "/config/approvedHosts"),
        ("exa", {"approvedHosts": [f"h{n}.example.com" for n in range(101)]}, "/config/approvedHosts"),
        ("exa", {"approvedHosts": "docs.example.com"}, "/config/approvedHosts"),
        ("exa", {"approvedHosts": None}, "/config/approvedHosts"),
        ("exa", {"searchType": "deep"}, "/config/searchType"),
        ("exa", {"results": 0}, "/config/results"),
        ("exa", {"results": 11}, "/config/results"),
        ("exa", {"results": "5"}, "/config/results"),
        ("exa", {"maxCharacters": 100_001}, "/config/maxCharacters"),
        ("exa", {"library": "/acme/widgets"}, "/config/library"),
        ("exa", {"apiKey": "k-demo"}, "/config/apiKey"),
        ("exa", {"approved_hosts": HOSTS}, "/config/approved_hosts"),
        ("context7", {"library": "acme/widgets"}, "/config/library"),
        ("context7", {"library": "/acme"}, "/config/library"),
        ("context7", {"library": "/../.."}, "/config/library"),
        ("context7", {"library": "/acme/widgets\n"}, "/config/library"),
        ("context7", {"results": 5}, "/config/results"),
        ("firecrawl", {"formats": ["html"]}, "/config/formats"),
        ("mintlify", {"endpoint": "https://elsewhere.example.com"}, "/config/endpoint"),
        ("mintlify", {"tokenBudget": 499}, "/config/tokenBudget"),
        ("mintlify", {"tokenBudget": 6_001}, "/config/tokenBudget"),
        ("mintlify", {"product": "  "}, "/config/product"),
        ("mintlify", {"product": "a\x00b"}, "/config/product"),
        ("deepwiki", {"approvedHosts": HOSTS}, "/config/approvedHosts"),
        ("deepwiki", {"repositories": []}, "/config/repositories"),
        ("deepwiki", {"repositories": [f"acme/w{n}" for n in range(101)]}, "/config/repositories"),
        ("deepwiki", {"repositories": ["widgets"]}, "/config/repositories/0"),
        ("deepwiki", {"repositories": ["acme/.."]}, "/config/repositories/0"),
        ("deepwiki", {"repositories": ["https://github.com/acme/widgets"]}, "/config/repositories/0"),
        ("deepwiki", {"repositories": ["acme/widgets\n"]}, "/config/repositories/0"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_wrong_setting_is_refused_by_name(
    stage: AdminStage, kind: str, change: dict[str, object], pointer: str
) -> None:
    refused = stage.call("POST", PROVIDERS, with_config(kind, **change))

    assert refused.status == 422
    assert refused.pointers == [pointer]
    assert stage.store.registrations == {}


def test_hosts_under_test_are_approved_in_the_embedded_default_alone(stage: AdminStage) -> None:
    wanted = with_config("exa", approvedHosts=["docs.example.com", "docs.acme.test"])
    refused = stage.call("POST", PROVIDERS, wanted)
    created = stage.register_live("exa")
    changed = stage.call("PATCH", created.headers["Location"], {"config": wanted["config"]}, if_match='"1"')

    for each in (refused, changed):
        assert (each.status, each.pointers) == (422, ["/config/approvedHosts"])
    assert stage.store.registrations[created.json["id"]].source.config.approved_hosts == ("docs.example.com",)


def test_the_embedded_default_approves_hosts_under_test() -> None:
    stage = AdminStage(allow_loopback_http=True)
    created = stage.register_live("exa", config={"approvedHosts": ["docs.acme.test"]})
    changed = stage.call(
        "PATCH", created.headers["Location"], {"config": {"approvedHosts": ["a.acme.test"]}}, if_match='"1"'
    )
    stage.close()

    assert (created.status, changed.status) == (201, 200)


@pytest.mark.parametrize("config", [None, [], "docs.example.com", {}], ids=["null", "list", "text", "empty"])
def test_a_config_has_to_be_there_and_whole(stage: AdminStage, config: object) -> None:
    assert stage.call("POST", PROVIDERS, a_live_provider("exa") | {"config": config}).status == 422


def test_as_many_sources_as_may_be_are_taken(stage: AdminStage) -> None:
    hosts = [f"h{n}.example.com" for n in range(100)]
    created = stage.register_live("context7", config={"approvedHosts": hosts})

    assert created.json["config"]["approvedHosts"] == hosts


def test_a_repeated_registration_shows_the_same_thing_and_no_warning(stage: AdminStage) -> None:
    first = stage.call("POST", PROVIDERS, a_live_provider("exa"), key="register-exa")
    again = stage.call("POST", PROVIDERS, a_live_provider("exa"), key="register-exa")

    assert (first.status, again.status) == (201, 201)
    assert again.json == first.json
    assert len(stage.store.registrations) == 1


def test_a_list_shows_every_kind_in_its_own_shape(stage: AdminStage) -> None:
    stage.register()
    for kind in LIVE:
        stage.register_live(kind)
    shown = stage.call("GET", PROVIDERS).json["providers"]

    assert {each["kind"]: "config" in each for each in shown} == {"contract": False} | dict.fromkeys(LIVE, True)


# --- changing ------------------------------------------------------------------------------------


def test_everything_of_a_live_kind_that_may_change_can_be_changed(stage: AdminStage) -> None:
    created = stage.register_live("exa", module="billing")
    wanted = {
        "name": "Renamed",
        "priority": 3,
        "module": None,
        "config": {"approvedHosts": ["blog.example.com"], "results": 8},
    }
    changed = stage.call("PATCH", created.headers["Location"], wanted, if_match='"1"')

    assert changed.status == 200
    assert {name: changed.json[name] for name in ("name", "priority", "module")} == {
        "name": "Renamed",
        "priority": 3,
        "module": None,
    }
    assert changed.json["config"] == {
        "approvedHosts": ["blog.example.com"],
        "searchType": "fast",
        "results": 8,
        "maxCharacters": 10_000,
    }


def test_a_config_is_replaced_whole_or_left(stage: AdminStage) -> None:
    created = stage.register_live("context7", config={"approvedHosts": HOSTS, "library": "/acme/widgets"})
    where = created.headers["Location"]
    renamed = stage.call("PATCH", where, {"name": "Renamed"}, if_match='"1"')
    partly = stage.call("PATCH", where, {"config": {"library": "/acme/gears"}}, if_match='"2"')
    replaced = stage.call("PATCH", where, {"config": {"approvedHosts": HOSTS}}, if_match='"2"')

    assert renamed.json["config"]["library"] == "/acme/widgets"
    assert partly.pointers == ["/config/approvedHosts"]
    assert replaced.json["config"]["library"] is None


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"kind": "firecrawl"}, "/kind"),
        ({"exposureProfile": "customer_safe"}, "/exposureProfile"),
        ({"baseUrl": "https://elsewhere.example.com"}, "/baseUrl"),
        ({"allowPrivateNetwork": True}, "/allowPrivateNetwork"),
        ({"sendConversationId": True}, "/sendConversationId"),
        ({"capabilities": {"scoring": True}}, "/capabilities"),
        ({"config": None}, "/config"),
        ({"config": {"repositories": ["acme/widgets"]}}, "/config/repositories"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_what_of_a_live_kind_cannot_change_is_refused_by_name(
    stage: AdminStage, change: dict[str, object], pointer: str
) -> None:
    created = stage.register_live("exa")
    refused = stage.call("PATCH", created.headers["Location"], change, if_match='"1"')

    assert refused.status == 422
    assert pointer in refused.pointers
    assert stage.call("GET", created.headers["Location"]).json == created.json


def test_a_contract_provider_takes_no_config(stage: AdminStage) -> None:
    created = stage.register()
    refused = stage.call("PATCH", created.headers["Location"], {"config": {"approvedHosts": HOSTS}}, if_match='"1"')

    assert (refused.status, refused.pointers) == (422, ["/config"])


def test_a_live_kind_is_active_once_a_test_has_passed(stage: AdminStage) -> None:
    created = stage.register_live("exa")
    where = created.headers["Location"]
    by_hand = stage.call("PATCH", where, {"status": "active"}, if_match='"1"')
    active = stage.activate(created)
    off = stage.call("PATCH", where, {"status": "disabled"}, if_match=active.etag)
    on = stage.call("PATCH", where, {"status": "active"}, if_match=off.etag)

    assert (by_hand.status, by_hand.code) == (409, "test_required")
    assert [each.json["status"] for each in (active, off, on)] == ["active", "disabled", "active"]


def test_a_changed_config_does_not_switch_a_provider_off(stage: AdminStage) -> None:
    created = stage.register_live("exa")
    active = stage.activate(created)
    config = {"approvedHosts": ["blog.example.com"]}
    changed = stage.call("PATCH", created.headers["Location"], {"config": config}, if_match=active.etag)

    assert (changed.json["status"], changed.json["needsTest"]) == ("active", False)


def test_the_same_config_again_writes_nothing(stage: AdminStage) -> None:
    created = stage.register_live("exa")
    audited = len(stage.store.audit)
    same = stage.call("PATCH", created.headers["Location"], {"config": {"approvedHosts": HOSTS}}, if_match='"1"')

    assert (same.status, same.etag, len(stage.store.audit)) == (200, '"1"', audited)


def test_the_audit_keeps_which_sources_were_approved_before_and_after(stage: AdminStage) -> None:
    exa, wiki = stage.register_live("exa"), stage.register_live("deepwiki")
    stage.call("PATCH", exa.headers["Location"], {"config": {"approvedHosts": ["blog.example.com"]}}, if_match='"1"')
    stage.call("PATCH", wiki.headers["Location"], {"config": {"repositories": ["acme/gears"]}}, if_match='"1"')
    entries = {each["resource"]: each for each in stage.call("GET", AUDIT).json["entries"] if each["before"]}

    of_exa, of_wiki = entries[f"provider/{exa.json['id']}"], entries[f"provider/{wiki.json['id']}"]
    assert (of_exa["before"], of_exa["after"]) == (
        {"approvedHosts": ["docs.example.com"]},
        {"approvedHosts": ["blog.example.com"]},
    )
    assert (of_wiki["before"], of_wiki["after"]) == (
        {"repositories": ["acme/widgets"]},
        {"repositories": ["acme/gears"]},
    )


def test_the_audit_of_a_registration_names_its_sources(stage: AdminStage) -> None:
    stage.register_live("exa")
    (entry,) = stage.call("GET", AUDIT).json["entries"]

    assert (entry["action"], entry["after"]["approvedHosts"]) == ("provider.created", ["docs.example.com"])


def test_a_live_kind_can_be_deleted_and_its_name_is_free_again(stage: AdminStage) -> None:
    created = stage.register_live("exa")
    taken = stage.call("POST", PROVIDERS, a_live_provider("context7") | {"name": "live EXA"})
    gone = stage.call("DELETE", created.headers["Location"], if_match='"1"')

    assert (taken.status, taken.code) == (409, "name_taken")
    assert gone.status == 204
    assert stage.register_live("exa").status == 201


@pytest.mark.parametrize("kind", LIVE)
@pytest.mark.parametrize(
    ("action", "code"), [("rotate-secret", "no_signing_secret"), ("capabilities", "no_capabilities")]
)
def test_what_a_live_kind_does_not_have_cannot_be_rotated_or_read(
    stage: AdminStage, kind: str, action: str, code: str
) -> None:
    created = stage.register_live(kind)
    refused = stage.call("POST", f"{created.headers['Location']}/{action}")

    assert (refused.status, refused.code) == (409, code)
    assert stage.call("GET", created.headers["Location"]).etag == '"1"'
