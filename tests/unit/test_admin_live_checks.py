"""Testing hosted live services: one real operation, reserved, keyed and counted like any other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from shared.domain.acquisitions import Acquired, Wanted
from shared.domain.live_configs import ENDPOINTS
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import Discovery, Question, Retrieval, Warning_
from shared.domain.pools import POOL_OF, Pool
from shared.domain.registrations import ProviderKind, ProviderStatus
from shared.errors import ExchangeTimeout, KeyRefused, NeverConnected, Refused, Unavailable, Unclear
from shared.ports.meter import Attempt, Meter
from tests.support.admin_stage import KEYS, LIVE, PROVIDERS, AdminStage, Answered
from tests.support.builders import NOW, a_passage

SEARCHING = tuple(kind for kind in LIVE if kind != "firecrawl")
FOUND = Retrieval(
    passages=(a_passage(title="Widgets"),),
    discoveries=(Discovery(url="https://docs.example.com/w", title="W", library="/acme/widgets", library_version="2"),),
    warnings=(Warning_.SOURCE_NOT_APPROVED,),
)
PAGE = "https://docs.example.com/widgets"


@pytest.fixture
def stage() -> Iterator[AdminStage]:
    stage = AdminStage()
    yield stage
    stage.close()


def try_out(stage: AdminStage, created: Answered, **body: object) -> Answered:
    asked = {"url": PAGE} if created.json["kind"] == "firecrawl" else {"query": "open a widget"}
    return stage.call("POST", f"{created.headers['Location']}/test", asked | body)


def answers_with(stage: AdminStage, created: Answered, result: Retrieval | Acquired | Exception) -> list[str | None]:
    """Lets the service answer, or fail, at each attempt. The keys that it got, in order."""
    got: list[str | None] = []

    async def operation(_wish: Question | Wanted, meter: Meter) -> Any:
        async def work(attempt: Attempt) -> Any:
            got.append(attempt.key)
            stage.clock.advance(0.5)
            if isinstance(result, Exception):
                raise result
            return result

        return await meter.perform(work)

    stage.service.acts[created.json["id"]] = operation
    stage.service.fetches[created.json["id"]] = operation
    return got


def fetched(text: str = "Open a widget once.") -> Acquired:
    return Acquired(url=PAGE, final_url=PAGE, title="Widgets", text=text, warnings=(Warning_.SOURCE_REDIRECTED,))


def test_a_test_tells_what_came_back_discoveries_too(stage: AdminStage) -> None:
    created = stage.register_live("exa")
    answers_with(stage, created, FOUND)
    report = try_out(stage, created)

    assert (report.status, report.json["status"], report.json["errorCode"]) == (200, "success", None)
    assert report.json["results"][0]["title"] == "Widgets"
    assert report.json["discoveries"] == [
        {"url": "https://docs.example.com/w", "title": "W", "library": "/acme/widgets", "libraryVersion": "2"}
    ]
    assert report.json["warnings"] == ["source_not_approved"]
    assert (report.json["durationMs"], report.json["resultCount"], report.json["fetched"]) == (500, 1, None)
    assert report.json["effective"] == {"timeoutMs": 25_000, "limit": 10}
    assert report.json["provider"] == created.json


@pytest.mark.parametrize("kind", LIVE)
def test_a_test_is_one_operation_at_the_services_own_endpoint(stage: AdminStage, kind: str) -> None:
    created = stage.register_live(kind)
    pool = POOL_OF[ProviderKind(kind)]
    got = answers_with(stage, created, fetched() if kind == "firecrawl" else FOUND)
    report = try_out(stage, created, activate=True)
    ((source, _),) = stage.service.asked

    assert (report.json["status"], report.json["activated"]) == ("success", True)
    assert source.base_url == ENDPOINTS[ProviderKind(kind)]
    assert got == [next(iter(KEYS[pool].values())) if pool in KEYS else None]
    assert stage.allowances.of(pool).confirmed_at(stage.clock.now()) == 1
    assert stage.store.registrations[created.json["id"]].status is ProviderStatus.ACTIVE


def test_discoveries_alone_are_a_success(stage: AdminStage) -> None:
    created = stage.register_live("context7")
    answers_with(stage, created, Retrieval(discoveries=FOUND.discoveries))

    assert try_out(stage, created).json["status"] == "success"


def test_nothing_found_is_empty_and_activates_too(stage: AdminStage) -> None:
    created = stage.register_live("exa")
    answers_with(stage, created, Retrieval())
    report = try_out(stage, created, activate=True).json

    assert (report["status"], report["activated"], report["provider"]["needsTest"]) == ("empty", True, False)


def test_what_only_fetches_is_tested_with_a_source(stage: AdminStage) -> None:
    created = stage.register_live("firecrawl")
    answers_with(stage, created, fetched())
    report = try_out(stage, created, url="https://docs.example.com:443/widgets#install")
    plain = try_out(stage, created, url=f"{PAGE}#install")

    assert (report.status, report.code) == (422, "invalid_source_url")
    assert [wish for _, wish in stage.service.asked] == [Wanted(url=PAGE)]
    assert plain.json["fetched"] == {
        "url": PAGE,
        "finalUrl": PAGE,
        "title": "Widgets",
        "text": "Open a widget once.",
        "characters": 19,
        "evidence": "source_excerpt",
        "acquisition": "cached_or_unknown",
    }
    assert (plain.json["status"], plain.json["warnings"]) == ("success", ["source_redirected"])


def test_of_a_long_text_the_beginning_is_shown(stage: AdminStage) -> None:
    created = stage.register_live("firecrawl")
    answers_with(stage, created, fetched("word " * 1_000))
    shown = try_out(stage, created).json["fetched"]

    assert (len(shown["text"]), shown["characters"]) == (2_000, 5_000)


@pytest.mark.parametrize("kind", ["deepwiki", "firecrawl"])
@pytest.mark.parametrize(
    ("code", "shown"),
    [*((str(code), str(code)) for code in OutcomeCode), ("source_not_approved",) * 2, ("unheard_of", "upstream_error")],
    ids=lambda value: value,
)
def test_a_kind_may_name_any_failure_in_plain_text(stage: AdminStage, kind: str, code: str, shown: str) -> None:
    created = stage.register_live(kind)
    answers_with(stage, created, Refused(code))
    report = try_out(stage, created)

    assert (report.status, report.json["status"], report.json["errorCode"]) == (200, "failed", shown)
    assert report.json["explanation"]


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://docs.example.com/widgets", "invalid_source_url"),
        ("https://10.0.0.1/widgets", "invalid_source_url"),
        ("https://docs.example.com/widgets?api_key=k", "invalid_source_url"),
        ("https://user@docs.example.com/", "invalid_source_url"),
        ("file:///etc/passwd", "invalid_source_url"),
        ("https://blog.example.com/widgets", "source_not_approved"),
        ("https://docs.example.com.evil.example.org/", "source_not_approved"),
    ],
    ids=["http", "address", "credential", "userinfo", "file", "other-host", "longer-host"],
)
def test_a_source_that_may_not_be_fetched_costs_nothing(stage: AdminStage, url: str, code: str) -> None:
    created = stage.register_live("firecrawl")
    refused = try_out(stage, created, url=url)

    assert (refused.status, refused.code) == (422, code)
    assert stage.service.asked == []
    assert stage.allowances.all == {}


@pytest.mark.parametrize("kind", [*SEARCHING, "contract"])
def test_what_answers_searches_takes_no_url(stage: AdminStage, kind: str) -> None:
    created = stage.register() if kind == "contract" else stage.register_live(kind)
    refused = stage.call("POST", f"{created.headers['Location']}/test", {"url": PAGE})

    assert refused.status == 422
    assert set(refused.pointers) == {"/query", "/url"}


def test_what_only_fetches_takes_no_query(stage: AdminStage) -> None:
    created = stage.register_live("firecrawl")
    refused = stage.call("POST", f"{created.headers['Location']}/test", {"query": "open a widget"})

    assert refused.status == 422
    assert set(refused.pointers) == {"/query", "/url"}


@pytest.mark.parametrize(
    ("kind", "beside"),
    [
        ("context7", {"product": "widgets", "repository": "acme/widgets", "version": "2.1.0"}),
        ("mintlify", {"product": "widgets"}),
        ("deepwiki", {"repository": "acme/widgets"}),
    ],
    ids=["context7", "mintlify", "deepwiki"],
)
def test_a_test_may_carry_what_its_kind_needs(stage: AdminStage, kind: str, beside: dict[str, str]) -> None:
    created = stage.register_live(kind)
    answers_with(stage, created, FOUND)
    report = try_out(stage, created, **beside)
    ((_, asked),) = stage.service.asked

    assert report.json["status"] == "success"
    assert asked == Question(query="open a widget", limit=10, **beside)


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("exa", "product"),
        ("exa", "repository"),
        ("mintlify", "repository"),
        ("mintlify", "version"),
        ("deepwiki", "product"),
        ("deepwiki", "version"),
        ("firecrawl", "product"),
        ("contract", "product"),
        ("contract", "version"),
    ],
)
def test_what_a_kind_cannot_use_is_an_unknown_field(stage: AdminStage, kind: str, field: str) -> None:
    created = stage.register() if kind == "contract" else stage.register_live(kind)
    refused = try_out(stage, created, **{field: "acme/widgets"})

    assert (refused.status, refused.pointers) == (422, [f"/{field}"])


@pytest.mark.parametrize("code", sorted(set(OutcomeCode) - {OutcomeCode.INTERNAL_ERROR}))
def test_a_failure_is_a_report_with_its_code_in_words(stage: AdminStage, code: OutcomeCode) -> None:
    created = stage.register_live("exa")
    answers_with(stage, created, Refused(code, retry_at=NOW + 90))
    report = try_out(stage, created, activate=True)

    assert (report.status, report.json["status"], report.json["errorCode"]) == (200, "failed", code)
    assert len(report.json["explanation"]) > 20
    assert "signature" not in report.json["explanation"]
    assert report.json["retryAt"] == "2026-09-21T14:14:50.000Z"
    assert (report.json["activated"], report.json["provider"]["status"]) == (False, "disabled")


def test_a_source_that_leads_elsewhere_is_a_failure_in_words(stage: AdminStage) -> None:
    created = stage.register_live("firecrawl")
    answers_with(stage, created, Refused("source_not_approved"))
    report = try_out(stage, created, activate=True).json

    assert (report["errorCode"], report["activated"], report["fetched"]) == ("source_not_approved", False, None)
    assert "not approved" in report["explanation"]


def test_a_refused_key_rests_and_the_next_one_is_tried(stage: AdminStage) -> None:
    created = stage.register_live("exa")
    got = answers_with(stage, created, KeyRefused("quota", until=NOW + 3_600))
    report = try_out(stage, created)

    assert got == ["k-demo-exa-zero", "k-demo-exa-one", "k-demo-exa-two"]
    assert (report.json["errorCode"], report.json["retryAt"]) == ("keys_exhausted", "2026-09-21T15:13:20.000Z")
    assert stage.allowances.of(Pool.EXA).used_at(stage.clock.now()) == 0


def test_a_pool_without_keys_is_not_configured(stage: AdminStage) -> None:
    stage.pool_keys.entries = {}
    created = stage.register_live("exa")
    got = answers_with(stage, created, FOUND)
    report = try_out(stage, created).json

    assert (report["errorCode"], got) == ("not_configured", [])
    assert "no key" in report["explanation"]


def test_a_closed_pool_is_not_tested(stage: AdminStage) -> None:
    stage.allowances.set_limit(Pool.EXA, 0)
    created = stage.register_live("exa")
    got = answers_with(stage, created, FOUND)

    assert (try_out(stage, created).json["errorCode"], got) == ("allowance_exhausted", [])


@pytest.mark.parametrize("failing", ["pool_keys", "pool_ledger", "allowances"])
def test_a_store_that_is_down_is_not_configured_and_nothing_was_sent(stage: AdminStage, failing: str) -> None:
    created = stage.register_live("exa")
    got = answers_with(stage, created, FOUND)
    getattr(stage, failing).failure = Unavailable("Try again.", code="secrets_unavailable", retry_after_s=5)

    assert (try_out(stage, created).json["errorCode"], got) == ("not_configured", [])


@pytest.mark.parametrize(
    ("failure", "unknown", "confirmed"),
    [(ExchangeTimeout(), 1, 0), (Unclear(), 1, 0), (NeverConnected(), 0, 0), (Refused("forbidden"), 0, 1)],
    ids=["timeout", "unclear", "never-connected", "refused"],
)
def test_a_failed_test_is_counted_as_what_it_was(
    stage: AdminStage, failure: Exception, unknown: int, confirmed: int
) -> None:
    created = stage.register_live("deepwiki")
    answers_with(stage, created, failure)
    try_out(stage, created)
    stage.clock.advance(61)
    allowance, now = stage.allowances.of(Pool.DEEPWIKI), stage.clock.now()

    assert (allowance.unknown_at(now), allowance.confirmed_at(now)) == (unknown, confirmed)


def test_a_query_longer_than_the_kind_takes_is_not_cut(stage: AdminStage) -> None:
    created = stage.register_live("exa")
    report = try_out(stage, created, query="x" * 1025)

    assert report.json["errorCode"] == "query_too_long"
    assert stage.service.asked == []


def test_a_provider_that_changed_during_its_test_is_not_activated(stage: AdminStage) -> None:
    created = stage.register_live("exa")

    async def change_it(_question: Question, _meter: Meter) -> Retrieval:
        stage.store.registrations.clear()
        return FOUND

    stage.service.acts[created.json["id"]] = change_it
    report = try_out(stage, created, activate=True).json

    assert (report["activated"], report["warnings"]) == (False, ["source_not_approved", "activation_lost"])


def test_a_test_may_name_the_version_that_it_was_meant_for(stage: AdminStage) -> None:
    created = stage.register_live("firecrawl")
    answers_with(stage, created, fetched())
    path = f"{created.headers['Location']}/test"

    assert stage.call("POST", path, {"url": PAGE}, if_match='"2"').status == 412
    assert stage.service.asked == []
    assert stage.call("POST", path, {"url": PAGE}, if_match='"1"').status == 200


def test_no_key_shows_in_a_report_a_log_or_the_audit(stage: AdminStage) -> None:
    created = stage.register_live("exa")
    answers_with(stage, created, KeyRefused("rate", until=NOW + 60))
    report = try_out(stage, created)
    shown = report.text + stage.log.getvalue() + repr(stage.store.audit)

    assert report.json["errorCode"] == "keys_exhausted"
    assert "EXA_API_KEY_1" in stage.log.getvalue()
    assert "k-demo" not in shown
    assert "open a widget" not in shown


def test_an_unknown_provider_cannot_be_tested(stage: AdminStage) -> None:
    assert stage.call("POST", f"{PROVIDERS}/ao_aaaaaaaaaaaaaaaa/test", {"url": PAGE}).status == 404
