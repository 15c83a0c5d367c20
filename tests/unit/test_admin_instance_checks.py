"""Testing self-hosted servers and reading what is on them: each thing apart, and nothing of the server's words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from shared.domain.instance_findings import after_listing, after_retrieval
from shared.domain.instances import Finding, InstanceReport
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import Question, Retrieval
from shared.domain.remote_catalogs import EntryKind, NotSearchable, RemoteEntry
from shared.errors import (
    BlockedAddress,
    ConnectionFailed,
    ExchangeError,
    ExchangeTimeout,
    Refused,
    ResponseTooLarge,
    Unavailable,
)
from tests.support.admin_stage import REMOTE_ID, AdminStage, Answered
from tests.support.builders import a_passage

SAMPLE = {"query": "night ferry", "remoteId": REMOTE_ID}
FINDINGS = ("reachable", "authenticated", "listReadable", "retrieval")


@pytest.fixture
def stage() -> Iterator[AdminStage]:
    stage = AdminStage()
    stage.server.entries = (RemoteEntry(id=REMOTE_ID, name="Ferries"),)
    stage.server.reported_version = "1.14.2"
    yield stage
    stage.close()


def tried(stage: AdminStage, body: object = None, **over: Any) -> Answered:
    return stage.call("POST", f"{stage.install(**over).headers['Location']}/test", body)


def found(answered: Answered) -> list[str]:
    return [answered.json[name] for name in FINDINGS]


def finds(stage: AdminStage, instance_id: str, count: int) -> None:
    async def act(_question: Question) -> Retrieval:
        return Retrieval(passages=tuple(a_passage() for _ in range(count)))

    stage.server.acts[instance_id] = act


# --- testing -------------------------------------------------------------------------------------


def test_without_a_query_the_list_is_read_and_retrieval_stays_untested(stage: AdminStage) -> None:
    report = tried(stage)

    assert found(report) == ["passed", "passed", "passed", "untested"]
    assert (report.json["version"], report.json["errorCode"], report.json["warnings"]) == ("1.14.2", None, [])
    assert stage.server.asked == []


def test_with_a_query_one_knowledge_base_is_searched(stage: AdminStage) -> None:
    instance = stage.install()
    finds(stage, instance.json["id"], 3)
    report = stage.call("POST", f"{instance.headers['Location']}/test", SAMPLE)

    assert found(report) == ["passed"] * 4
    assert (report.json["resultCount"], report.json["warnings"]) == (3, ["upstream_may_bill_or_log"])
    assert "Ferry passes" not in report.text


def test_zero_hits_are_a_success(stage: AdminStage) -> None:
    report = tried(stage, SAMPLE)

    assert (report.json["retrieval"], report.json["resultCount"], report.json["errorCode"]) == ("passed", 0, None)


def test_a_failure_by_a_code_that_is_nowhere_documented_is_the_servers(stage: AdminStage) -> None:
    stage.server.failures = dict.fromkeys(("catalog", "detail", "retrieve"), Refused("unheard_of"))
    report = tried(stage, SAMPLE)

    assert (report.status, report.json["errorCode"]) == (200, "upstream_error")


def test_a_list_that_is_forbidden_is_fine_where_searching_works(stage: AdminStage) -> None:
    stage.server.failures = {"catalog": Refused("forbidden"), "detail": Refused("forbidden")}
    report = tried(stage, SAMPLE)

    assert found(report) == ["passed", "passed", "failed", "passed"]
    assert (report.json["errorCode"], report.json["explanation"]) == (None, None)
    assert report.json["warnings"] == ["upstream_may_bill_or_log", "list_forbidden"]


def test_a_list_that_is_forbidden_alone_does_not_prove_the_credential(stage: AdminStage) -> None:
    stage.server.failures = {"catalog": Refused("forbidden")}
    report = tried(stage)

    assert found(report) == ["passed", "untested", "failed", "untested"]
    assert (report.json["errorCode"], report.json["warnings"]) == ("forbidden", ["list_forbidden"])


@pytest.mark.parametrize(
    ("error", "findings"),
    [
        (ConnectionFailed(), ["failed", "untested", "untested", "untested"]),
        (BlockedAddress(), ["failed", "untested", "untested", "untested"]),
        (Refused("unauthorized"), ["passed", "failed", "failed", "failed"]),
        (Refused("upstream_error"), ["passed", "untested", "failed", "failed"]),
        (Refused("invalid_response"), ["passed", "untested", "failed", "failed"]),
        (Refused("rate_limited"), ["passed", "untested", "failed", "failed"]),
        (ResponseTooLarge(), ["passed", "untested", "failed", "failed"]),
        (Refused("not_configured"), ["untested", "untested", "untested", "untested"]),
    ],
    ids=lambda value: value.code if isinstance(value, ExchangeError) else "",
)
def test_nothing_is_claimed_that_was_not_seen(stage: AdminStage, error: ExchangeError, findings: list[str]) -> None:
    stage.server.failures = dict.fromkeys(("catalog", "detail", "retrieve", "version"), error)
    report = tried(stage, SAMPLE)

    assert found(report) == findings
    assert (report.json["errorCode"], report.json["version"]) == (error.code, None)
    assert report.json["explanation"]


def test_a_list_that_is_too_slow_does_not_keep_a_search_from_being_tried(stage: AdminStage) -> None:
    stage.server.failures = {"catalog": ExchangeTimeout()}
    report = tried(stage, SAMPLE)

    assert found(report) == ["passed", "passed", "failed", "passed"]
    assert (report.json["errorCode"], bool(report.json["explanation"])) == ("timeout", True)
    assert "version" not in [what for what, _ in stage.server.credentials]


@pytest.mark.parametrize("code", ["upstream_error", "invalid_response", "rate_limited", "timeout"])
def test_what_was_wrong_with_the_list_stays_said_when_a_search_comes_through(stage: AdminStage, code: str) -> None:
    stage.server.failures = {"catalog": Refused(code)}
    report = tried(stage, SAMPLE)

    assert (found(report), report.json["errorCode"]) == (["passed", "passed", "failed", "passed"], code)
    assert report.json["warnings"] == ["upstream_may_bill_or_log"]


def test_a_failed_search_leaves_standing_what_the_list_has_shown(stage: AdminStage) -> None:
    """Some servers call every failed search an authentication error."""
    stage.server.failures = {"retrieve": Refused("unauthorized")}
    report = tried(stage, SAMPLE)

    assert found(report) == ["passed", "passed", "passed", "failed"]
    assert report.json["errorCode"] == "unauthorized"


def test_without_a_credential_none_has_been_accepted(stage: AdminStage) -> None:
    assert found(tried(stage, SAMPLE, credential=None)) == ["passed", "untested", "passed", "passed"]


def test_an_id_that_the_server_does_not_know_fails_the_search_alone(stage: AdminStage) -> None:
    report = tried(stage, SAMPLE | {"remoteId": "another"})

    assert found(report) == ["passed", "passed", "passed", "failed"]
    assert report.json["errorCode"] == "not_found"


def test_what_cannot_be_searched_is_not_asked(stage: AdminStage) -> None:
    stage.server.entries = (RemoteEntry(id=REMOTE_ID, name="Elsewhere", not_searchable=NotSearchable.EXTERNAL),)
    report = tried(stage, SAMPLE)

    assert (report.json["errorCode"], stage.server.asked) == ("capability_unavailable", [])


def test_a_query_that_is_too_long_is_not_sent(stage: AdminStage) -> None:
    report = tried(stage, SAMPLE | {"query": "x" * 1_025})

    assert found(report) == ["passed", "passed", "passed", "untested"]
    assert (report.json["errorCode"], stage.server.asked) == ("query_too_long", [])


def test_a_test_says_under_what_the_server_was_asked(stage: AdminStage) -> None:
    effective = tried(stage).json["effective"]

    assert (effective["baseUrl"], effective["kind"]) == ("https://dify.fern-desk.test/v1", "dify")
    assert (effective["timeoutMs"], effective["acknowledged"], effective["hasPrivateAuthority"]) == (25_000, [], False)


@pytest.mark.parametrize("body", [{"query": "night ferry"}, {"remoteId": REMOTE_ID}, {"activate": True}], ids=str)
def test_a_search_needs_both_a_query_and_a_place(stage: AdminStage, body: dict[str, Any]) -> None:
    assert tried(stage, body).code == "invalid_request"


def test_a_test_writes_nothing_and_touches_no_binding(stage: AdminStage) -> None:
    instance = stage.install()
    stage.bind(instance)
    before = (dict(stage.store.registrations), dict(stage.store.instances), len(stage.store.audit))
    stage.server.failures = dict.fromkeys(("catalog", "detail", "retrieve"), Refused("unauthorized"))
    stage.call("POST", f"{instance.headers['Location']}/test", SAMPLE)

    assert (stage.store.registrations, stage.store.instances, len(stage.store.audit)) == before


def test_a_credential_that_cannot_be_opened_is_the_gateways_own_fault(stage: AdminStage) -> None:
    path = stage.install().headers["Location"]
    for unsealer in stage.unsealers.values():
        unsealer.failure = Unavailable("A secret could not be opened.", code="secrets_unavailable")

    assert stage.call("POST", f"{path}/test").code == "secrets_unavailable"
    assert stage.server.credentials == []


@pytest.mark.parametrize("code", sorted(OutcomeCode))
def test_whatever_a_step_ends_in_no_finding_is_lost(code: OutcomeCode) -> None:
    listed = after_listing(InstanceReport(), None, has_credential=True)
    report = after_retrieval(listed, code, has_credential=True)

    assert (report.reachable, report.authenticated, report.list_readable) == (Finding.PASSED,) * 3
    assert report.retrieval is not Finding.PASSED


# --- the catalog ---------------------------------------------------------------------------------


def catalog(stage: AdminStage, path: str = "", **query: str) -> Answered:
    location = stage.install(name=f"Dify {len(stage.store.instances)}").headers["Location"]
    return stage.call("GET", f"{location}/catalog{path}", query=query or None)


def test_a_catalog_shows_what_is_there_and_why_something_cannot_be_bound(stage: AdminStage) -> None:
    stage.server.entries = (
        RemoteEntry(id="a", name="Ferries", documents=3, is_economy=True),
        RemoteEntry(id="b", name="Drawer", kind=EntryKind.FOLDER, not_searchable=NotSearchable.FOLDER),
        RemoteEntry(id="c", name="Elsewhere", not_searchable=NotSearchable.EXTERNAL),
    )
    shown = catalog(stage).json

    assert [each["notSearchable"] for each in shown["entries"]] == [None, "folder", "external"]
    assert shown["entries"][0] == {
        "id": "a",
        "name": "Ferries",
        "kind": "knowledge_base",
        "description": "",
        "notSearchable": None,
        "documents": 3,
        "isEconomy": True,
        "hasGraph": None,
    }
    assert (shown["page"], shown["hasMore"], shown["total"], shown["isCut"]) == (1, False, 3, False)


def test_a_catalog_has_pages_and_ends_after_five_hundred(stage: AdminStage) -> None:
    stage.server.entries = tuple(RemoteEntry(id=f"r{n:04}", name=f"Book {n:04}") for n in range(640))
    pages = [catalog(stage, page=str(n)).json for n in range(1, 6)]
    ids = [entry["id"] for page in pages for entry in page["entries"]]

    assert len(set(ids)) == len(ids) == 500
    assert [page["hasMore"] for page in pages] == [True] * 4 + [False]
    assert [page["isCut"] for page in pages] == [False] * 4 + [True]


def test_a_catalog_is_narrowed_by_name(stage: AdminStage) -> None:
    stage.server.entries = (RemoteEntry(id="a", name="Ferries"), RemoteEntry(id="b", name="Trams"))

    assert [each["id"] for each in catalog(stage, search="tram").json["entries"]] == ["b"]


@pytest.mark.parametrize(
    "query",
    [
        {"page": "0"},
        {"page": "6"},
        {"page": "-1"},
        {"page": "1000000000"},
        {"page": "two"},
        {"search": " "},
        {"search": "x" * 121},
        {"parent": ""},
        {"parent": "x" * 129},
        {"limit": "10"},
    ],
    ids=lambda query: next(iter(query)) + "=" + next(iter(query.values()))[:12],
)
def test_a_catalog_is_asked_within_bounds(stage: AdminStage, query: dict[str, str]) -> None:
    refused = catalog(stage, **query)

    assert (refused.code, refused.pointers) == ("invalid_request", [f"/{next(iter(query))}"])
    assert stage.server.credentials == []


@pytest.mark.parametrize("path", ["", f"/{REMOTE_ID}"], ids=["list", "detail"])
@pytest.mark.parametrize(
    ("error", "status", "code", "outcome"),
    [
        (ExchangeTimeout(), 504, "provider_timeout", None),
        (ConnectionFailed(), 502, "provider_failed", "connection_failed"),
        (Refused("unauthorized"), 502, "provider_failed", "unauthorized"),
        (Refused("forbidden"), 502, "provider_failed", "forbidden"),
        (Refused("invalid_response"), 502, "provider_failed", "invalid_response"),
        (Refused("capability_unavailable"), 502, "provider_failed", "capability_unavailable"),
        (ResponseTooLarge(), 502, "provider_failed", "response_too_large"),
        (Refused("rate_limited"), 503, "provider_rate_limited", None),
        (Refused("not_configured"), 503, "not_configured", None),
        (Refused("not_found"), 404, "not_found", None),
    ],
    ids=lambda value: value.code if isinstance(value, ExchangeError) else "",
)
def test_a_server_that_fails_is_a_problem_of_its_own(
    stage: AdminStage, path: str, error: ExchangeError, status: int, code: str, outcome: str | None
) -> None:
    stage.server.failures = dict.fromkeys(("catalog", "detail"), error)
    refused = catalog(stage, path)

    assert (refused.status, refused.code, refused.json.get("outcome")) == (status, code, outcome)
    assert "WWW-Authenticate" not in refused.headers
    assert code == "not_found" or refused.json["instance"].startswith("aoi_")
    assert "provider" not in refused.json
    assert "service" not in refused.json["detail"]


def test_an_id_of_the_path_is_the_servers_own_letters(stage: AdminStage) -> None:
    """Paths come decoded."""
    stage.server.entries = (RemoteEntry(id="café 渡轮", name="Ferries"),)
    location = stage.install().headers["Location"]
    asked = len(stage.server.credentials)

    assert stage.call("GET", f"{location}/catalog/café 渡轮").json["id"] == "café 渡轮"
    for path in ("a\nb", "café 渡轮\n", "\u202efles", " "):
        assert stage.call("GET", f"{location}/catalog/{path}").status == 404, ascii(path)
    assert len(stage.server.credentials) == asked + 1


def test_one_knowledge_base_is_described(stage: AdminStage) -> None:
    assert catalog(stage, f"/{REMOTE_ID}").json["name"] == "Ferries"
    assert catalog(stage, "/another").code == "not_found"
