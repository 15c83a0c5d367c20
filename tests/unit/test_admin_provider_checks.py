"""Testing a provider and reading its capabilities again: what an operator sees, and what it leaves untouched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from shared.domain.exposure import Audience
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import Retrieval, Warning_
from shared.domain.registrations import Capabilities, ProviderStatus
from shared.errors import BlockedAddress, Conflict, ExchangeTimeout, Refused
from shared.ports.retriever import Declaration
from tests.support.admin_stage import PROVIDERS, AdminStage, Answered
from tests.support.builders import a_passage

PUBLIC = a_passage(title="Ferry passes", score=0.5)
INTERNAL = a_passage(title="Refund override codes", audience=Audience.INTERNAL)


@pytest.fixture
def stage() -> Iterator[AdminStage]:
    stage = AdminStage()
    yield stage
    stage.close()


def try_out(stage: AdminStage, created: Answered, **body: object) -> Answered:
    return stage.call("POST", f"{created.headers['Location']}/test", {"query": "ferry pass"} | body)


def test_a_test_tells_what_came_back_and_under_what(stage: AdminStage) -> None:
    created = stage.register(capabilities={"scoring": True})
    stage.kind.retrieval = Retrieval(passages=(PUBLIC,), warnings=(Warning_.URL_DROPPED,))
    report = try_out(stage, created)

    assert report.status == 200
    assert report.json["status"] == "success"
    assert (report.json["errorCode"], report.json["explanation"]) == (None, None)
    assert report.json["durationMs"] == 250
    assert report.json["resultCount"] == 1
    shown = report.json["results"][0]
    assert (shown["title"], shown["audience"], shown["providerScore"]) == ("Ferry passes", "public", 0.5)
    assert report.json["warnings"] == ["url_dropped"]
    effective = report.json["effective"]
    assert effective["baseUrl"] == "https://kb.fern-desk.test/v1"
    assert (effective["timeoutMs"], effective["limit"], effective["signatures"]) == (10_000, 10, 1)
    assert effective["capabilities"]["scoring"] is True


def test_an_internal_result_of_a_customer_safe_provider_is_shown_as_dropped(stage: AdminStage) -> None:
    created = stage.register()
    stage.kind.retrieval = Retrieval(passages=(PUBLIC, INTERNAL))
    report = try_out(stage, created).json

    assert [each["title"] for each in report["results"]] == ["Ferry passes"]
    assert report["dropped"] == [
        {
            "documentId": INTERNAL.document_id,
            "title": "Refund override codes",
            "audience": "internal",
            "reason": "internal_dropped",
        }
    ]
    assert report["warnings"] == ["internal_dropped"]


def test_an_agent_only_provider_may_keep_both(stage: AdminStage) -> None:
    created = stage.register(exposureProfile="agent_only")
    stage.kind.retrieval = Retrieval(passages=(PUBLIC, INTERNAL))
    report = try_out(stage, created).json

    assert report["resultCount"] == 2
    assert report["dropped"] == []


def test_zero_hits_are_an_empty_answer_and_no_failure(stage: AdminStage) -> None:
    report = try_out(stage, stage.register(), activate=True).json

    assert (report["status"], report["activated"], report["provider"]["status"]) == ("empty", True, "active")


@pytest.mark.parametrize("code", sorted(set(OutcomeCode) - {OutcomeCode.INTERNAL_ERROR}))
def test_a_failure_is_a_report_with_its_code_in_words(stage: AdminStage, code: OutcomeCode) -> None:
    created = stage.register()
    stage.kind.retrieval = Refused(code)
    report = try_out(stage, created, activate=True)

    assert report.status == 200
    assert (report.json["status"], report.json["errorCode"]) == ("failed", code)
    assert len(report.json["explanation"]) > 20
    assert (report.json["activated"], report.json["provider"]["status"]) == (False, "disabled")
    assert "www-authenticate" not in {name.lower() for name in report.headers}


def test_a_failure_by_a_code_that_is_nowhere_documented_is_the_upstreams(stage: AdminStage) -> None:
    created = stage.register()
    stage.kind.retrieval = stage.kind.declaration = Refused("unheard_of")
    tested = try_out(stage, created)
    read = stage.call("POST", f"{created.headers['Location']}/capabilities")

    assert [(each.status, each.json["errorCode"]) for each in (tested, read)] == [(200, "upstream_error")] * 2


def test_a_rejected_signature_points_at_the_secret(stage: AdminStage) -> None:
    created = stage.register()
    stage.kind.retrieval = Refused("unauthorized")
    explanation = try_out(stage, created).json["explanation"]

    assert "signature" in explanation
    assert "secretFingerprint" in explanation


@pytest.mark.parametrize(("failure", "code"), [(ExchangeTimeout(), "timeout"), (BlockedAddress(), "blocked_address")])
def test_the_network_fails_by_code_too(stage: AdminStage, failure: ExchangeTimeout, code: str) -> None:
    created = stage.register()
    stage.kind.retrieval = failure

    assert try_out(stage, created).json["errorCode"] == code


def test_a_test_that_succeeds_activates_when_asked(stage: AdminStage) -> None:
    created = stage.register()
    report = try_out(stage, created, activate=True)

    assert (report.json["activated"], report.json["provider"]["status"], report.etag) == (True, "active", '"2"')
    assert stage.store.registrations[created.json["id"]].status is ProviderStatus.ACTIVE
    assert [entry.action for entry in stage.store.audit.values()].count("provider.activated") == 1


def test_a_test_changes_nothing_unless_asked(stage: AdminStage) -> None:
    created = stage.register()
    before = dict(stage.store.registrations), dict(stage.store.audit)
    try_out(stage, created)

    assert (dict(stage.store.registrations), dict(stage.store.audit)) == before


def test_a_test_that_passed_without_being_asked_to_activate_leaves_the_next_one_needed(stage: AdminStage) -> None:
    created = stage.register()
    stage.kind.retrieval = Retrieval(passages=(PUBLIC,))
    report = try_out(stage, created, activate=False)
    by_hand = stage.call("PATCH", created.headers["Location"], {"status": "active"}, if_match='"1"')

    assert (report.json["status"], report.json["provider"]["needsTest"]) == ("success", True)
    assert (by_hand.status, by_hand.code) == (409, "test_required")


def test_a_test_that_failed_leaves_the_next_one_needed(stage: AdminStage) -> None:
    created = stage.register()
    stage.kind.retrieval = Refused("unauthorized")
    try_out(stage, created, activate=True)
    by_hand = stage.call("PATCH", created.headers["Location"], {"status": "active"}, if_match='"1"')

    assert (by_hand.status, by_hand.code) == (409, "test_required")


def test_an_active_provider_is_not_activated_again(stage: AdminStage) -> None:
    created = stage.register()
    try_out(stage, created, activate=True)
    again = try_out(stage, created, activate=True)

    assert (again.json["activated"], again.etag) == (False, '"2"')


def test_a_provider_that_changed_during_its_test_is_not_activated(stage: AdminStage) -> None:
    created = stage.register()
    provider_id = created.json["id"]

    def change_it() -> None:
        provider = stage.store.registrations[provider_id]
        stage.store.registrations[provider_id] = provider.with_source(
            base_url="https://elsewhere.fern-desk.test", generation=2
        )

    stage.kind.meanwhile = change_it
    stage.kind.retrieval = Retrieval(passages=(PUBLIC,), warnings=(Warning_.URL_DROPPED,))
    report = try_out(stage, created, activate=True)

    assert (report.status, report.json["status"], report.json["resultCount"]) == (200, "success", 1)
    assert report.json["warnings"] == ["url_dropped", "activation_lost"]
    assert (report.json["activated"], report.etag) == (False, '"1"')
    assert report.json["provider"]["baseUrl"] == report.json["effective"]["baseUrl"] == created.json["baseUrl"]
    assert stage.store.registrations[provider_id].status is ProviderStatus.DISABLED
    assert "provider.activated" not in {entry.action for entry in stage.store.audit.values()}


def test_a_provider_that_was_removed_during_its_test_is_still_reported(stage: AdminStage) -> None:
    created = stage.register()
    stage.kind.meanwhile = stage.store.registrations.clear
    report = try_out(stage, created, activate=True)

    assert (report.status, report.json["activated"], report.json["warnings"]) == (200, False, ["activation_lost"])
    assert stage.store.registrations == {}


def test_a_store_too_busy_to_activate_does_not_cost_the_report(stage: AdminStage) -> None:
    created = stage.register()

    def crowd() -> None:
        stage.registry.failure = Conflict("Others are changing the same things.", code="busy", retry_after_s=1)

    stage.kind.meanwhile = crowd
    report = try_out(stage, created, activate=True)

    assert (report.status, report.json["activated"], report.json["warnings"]) == (200, False, ["activation_lost"])


def test_a_change_during_a_test_that_activates_nothing_is_no_warning(stage: AdminStage) -> None:
    created = stage.register()
    stage.kind.meanwhile = stage.store.registrations.clear

    assert try_out(stage, created).json["warnings"] == []


def test_a_query_longer_than_the_kind_takes_is_not_cut(stage: AdminStage) -> None:
    created = stage.register()
    report = try_out(stage, created, query="x" * 1025)

    assert report.json["errorCode"] == "query_too_long"
    assert stage.kind.asked == []


def test_both_secrets_sign_a_test_inside_a_rotation_window(stage: AdminStage) -> None:
    created = stage.register()
    stage.call("POST", f"{created.headers['Location']}/rotate-secret")

    assert try_out(stage, created).json["effective"]["signatures"] == 2


@pytest.mark.parametrize("body", [{}, {"query": ""}, {"query": "x" * 4001}, {"query": 5}, {"query": "x", "limit": 5}])
def test_a_wrong_test_is_refused(stage: AdminStage, body: dict[str, object]) -> None:
    created = stage.register()

    assert stage.call("POST", f"{created.headers['Location']}/test", body).status == 422


def test_a_test_may_name_the_version_that_it_was_meant_for(stage: AdminStage) -> None:
    created = stage.register()
    path = f"{created.headers['Location']}/test"

    assert stage.call("POST", path, {"query": "x"}, if_match='"2"').status == 412
    assert stage.call("POST", path, {"query": "x"}, if_match='"1"').status == 200


@pytest.mark.parametrize("action", ["test", "capabilities"])
def test_an_unknown_provider_cannot_be_asked(stage: AdminStage, action: str) -> None:
    body = {"query": "x"} if action == "test" else None

    assert stage.call("POST", f"{PROVIDERS}/ao_aaaaaaaaaaaaaaaa/{action}", body).status == 404


# --- capabilities --------------------------------------------------------------------------------


def test_capabilities_are_read_again_and_kept(stage: AdminStage) -> None:
    created = stage.register(capabilities={"locale": True})
    stage.kind.declaration = Declaration(
        contract_version=1, capabilities=Capabilities(locale=True, scoring=True, semantic_search=True)
    )
    reading = stage.call("POST", f"{created.headers['Location']}/capabilities")

    assert reading.status == 200
    assert (reading.json["status"], reading.json["listed"]) == ("success", True)
    assert reading.json["changed"] == ["semanticSearch", "scoring"]
    assert reading.etag == '"2"'
    assert stage.call("GET", created.headers["Location"]).json["capabilities"]["scoring"] is True


def test_a_provider_without_that_page_declares_nothing(stage: AdminStage) -> None:
    created = stage.register(capabilities={"locale": True})
    stage.kind.declaration = Declaration(contract_version=1, capabilities=Capabilities(), listed=False)
    reading = stage.call("POST", f"{created.headers['Location']}/capabilities").json

    assert (reading["listed"], reading["changed"]) == (False, ["locale"])
    assert reading["provider"]["capabilities"]["locale"] is False


def test_unchanged_capabilities_write_nothing(stage: AdminStage) -> None:
    created = stage.register()
    reading = stage.call("POST", f"{created.headers['Location']}/capabilities")

    assert (reading.json["changed"], reading.etag) == ([], '"1"')


def test_a_reading_that_fails_keeps_what_was_known(stage: AdminStage) -> None:
    created = stage.register(capabilities={"locale": True})
    stage.kind.declaration = Refused("unsupported_version")
    reading = stage.call("POST", f"{created.headers['Location']}/capabilities")

    assert reading.status == 200
    assert (reading.json["status"], reading.json["errorCode"]) == ("failed", "unsupported_version")
    assert reading.json["provider"]["capabilities"]["locale"] is True
    assert reading.etag == '"1"'


def test_a_provider_that_changed_during_the_reading_is_left_alone(stage: AdminStage) -> None:
    created = stage.register()
    provider_id = created.json["id"]

    def change_it() -> None:
        provider = stage.store.registrations[provider_id]
        stage.store.registrations[provider_id] = replace(provider.with_source(generation=2), module="changed")

    stage.kind.meanwhile = change_it
    stage.kind.declaration = Declaration(contract_version=1, capabilities=Capabilities(scoring=True))
    refused = stage.call("POST", f"{created.headers['Location']}/capabilities")

    assert refused.status == 412
    assert stage.store.registrations[provider_id].source.capabilities == Capabilities()


def test_a_moved_customer_safe_provider_is_turned_on_by_a_passed_test_alone(stage: AdminStage) -> None:
    created = stage.register()
    where = created.headers["Location"]
    active = stage.activate(created)
    moved = stage.call("PATCH", where, {"baseUrl": "https://elsewhere.fern-desk.test"}, if_match=active.etag)
    by_hand = stage.call("PATCH", where, {"status": "active"}, if_match=moved.etag)
    stage.kind.retrieval = Retrieval(passages=(PUBLIC,))
    tested = try_out(stage, created, activate=True)
    now = stage.call("GET", where)

    assert (active.json["needsTest"], moved.json["needsTest"], moved.json["status"]) == (False, True, "disabled")
    assert (by_hand.status, by_hand.code) == (409, "test_required")
    assert tested.json["activated"] is True
    assert (now.json["status"], now.json["needsTest"]) == ("active", False)
