"""Which provider is asked for a source, what the caller gets, and what a failure becomes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from infra.openapi.problem_words import PROBLEMS
from shared.domain.acquisitions import Acquired, Acquisition, Wanted
from shared.domain.exposure import CredentialClass, Grant
from shared.domain.live_configs import ENDPOINTS, DeepWikiConfig, ExaConfig
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import FreshnessWish, Warning_
from shared.domain.pools import Pool
from shared.domain.registrations import Provider, ProviderKind, ProviderStatus
from shared.errors import (
    BlockedAddress,
    ConnectionFailed,
    ExchangeError,
    ExchangeTimeout,
    KeyRefused,
    Refused,
    ResponseTooLarge,
    Unavailable,
    Unclear,
)
from shared.ports.meter import Attempt, Meter
from shared.services import ask_acquirer
from shared.services.provider_problems import problem_for
from tests.support.builders import NOW, a_token
from tests.support.live_stage import URL, LiveStage
from tests.support.lookup_stage import problem_of

EXA = ProviderKind.EXA
FIRECRAWL = ProviderKind.FIRECRAWL


@pytest.fixture
def stage() -> Iterator[LiveStage]:
    made = LiveStage()
    yield made
    made.close()


def fetched(wanted: Wanted, **over: Any) -> Acquired:
    values: dict[str, Any] = {"url": wanted.url, "final_url": wanted.url, "title": "Ferry passes", "text": "# Passes"}
    return Acquired(**values | over)


def gives(stage: LiveStage, provider: Provider, **over: Any) -> Provider:
    async def fetch(wanted: Wanted, _meter: Meter) -> Acquired:
        return fetched(wanted, **over)

    stage.service.fetches[provider.id] = fetch
    return provider


def fails(stage: LiveStage, provider: Provider, error: BaseException) -> Provider:
    async def fetch(_wanted: Wanted, _meter: Meter) -> Acquired:
        raise error

    stage.service.fetches[provider.id] = fetch
    return provider


def asked_ids(stage: LiveStage) -> list[str]:
    return [source.id for source, _ in stage.service.asked]


# --- what comes back ----------------------------------------------------------------------------------


def test_the_text_comes_with_what_is_known_about_it(stage: LiveStage) -> None:
    final = URL + "/tickets"
    warnings = (Warning_.SOURCE_REDIRECTED, Warning_.NOT_FRESH)
    provider = gives(stage, stage.add(name="Ferry docs"), final_url=final, truncated=True, warnings=warnings)
    answer = stage.acquire(freshness="fresh", headers={"x-request-id": "r-77"})
    assert (answer.status, answer.headers["Cache-Control"]) == (200, "private, no-store")
    assert answer.json == {
        "requestId": "r-77",
        "provider": {"id": provider.id, "name": "Ferry docs", "kind": "firecrawl"},
        "url": URL,
        "finalUrl": final,
        "title": "Ferry passes",
        "text": "# Passes",
        "truncated": True,
        "evidence": "source_excerpt",
        "acquisition": "cached_or_unknown",
        "warnings": ["source_redirected", "not_fresh"],
    }


def test_a_source_without_a_title_has_null(stage: LiveStage) -> None:
    gives(stage, stage.add(), title=None, acquisition=Acquisition.LIVE)
    answer = stage.acquire(freshness="force").json
    assert (answer["title"], answer["acquisition"]) == (None, "live")


@pytest.mark.parametrize("freshness", [None, "normal", "fresh", "force"])
def test_the_wish_reaches_the_service_in_its_normal_form(stage: LiveStage, freshness: str | None) -> None:
    gives(stage, stage.add())
    over = {} if freshness is None else {"freshness": freshness}
    answer = stage.acquire("HTTPS://Docs.Example.COM/ferries/passes#prices", **over)
    assert (answer.status, answer.json["url"]) == (200, URL)
    assert [wanted for _, wanted in stage.service.asked] == [
        Wanted(url=URL, freshness=FreshnessWish(freshness or "normal"))
    ]


def test_a_service_is_asked_at_its_own_endpoint_whatever_the_registration_says(stage: LiveStage) -> None:
    provider = gives(stage, stage.add())
    moved = replace(provider, source=replace(provider.source, base_url="https://elsewhere.example.net"))
    stage.store.registrations[provider.id] = moved
    stage.acquire()
    assert [source.base_url for source, _ in stage.service.asked] == [ENDPOINTS[FIRECRAWL]]


# --- who is asked -------------------------------------------------------------------------------------


def test_the_lowest_priority_that_approves_the_host_is_asked(stage: LiveStage) -> None:
    stage.add(priority=1, hosts=("help.example.com",))
    stage.add(priority=30)
    chosen = gives(stage, stage.add(EXA, priority=20, config=ExaConfig(approved_hosts=("docs.example.com",))))
    stage.add(priority=40)
    assert stage.acquire().json["provider"]["id"] == chosen.id
    assert asked_ids(stage) == [chosen.id]


def test_of_equal_priorities_the_first_registered_is_asked(stage: LiveStage) -> None:
    stage.add(created_at=NOW + 20)
    first = gives(stage, stage.add(created_at=NOW + 10))
    stage.add(created_at=NOW + 30)
    assert stage.acquire().json["provider"]["id"] == first.id


def test_a_named_provider_is_asked_though_another_would_come_first(stage: LiveStage) -> None:
    stage.add(priority=1)
    named = gives(stage, stage.add(EXA, priority=500))
    assert stage.acquire(provider=named.id).json["provider"] == {
        "id": named.id,
        "name": named.source.name,
        "kind": "exa",
    }


def test_when_it_fails_no_other_is_asked_in_its_place(stage: LiveStage) -> None:
    first = fails(stage, stage.add(priority=1), Refused(OutcomeCode.KEYS_EXHAUSTED))
    gives(stage, stage.add(EXA, priority=2))
    assert stage.acquire().status == 503
    assert asked_ids(stage) == [first.id]


def test_without_a_provider_that_approves_the_host_the_source_is_not_approved(stage: LiveStage) -> None:
    stage.add(hosts=("help.example.com", "example.com", "old.docs.example.com"))
    stage.add(status=ProviderStatus.DISABLED)
    stage.add(ProviderKind.DEEPWIKI, config=DeepWikiConfig(repositories=("fern/desk",)))
    stage.add(ProviderKind.MINTLIFY)
    stage.add(is_customers=True)
    stage.add(config=None)
    answer = stage.acquire()
    assert problem_of(answer) == (422, "source_not_approved")
    assert [error["pointer"] for error in answer.json["errors"]] == ["/url"]
    assert asked_ids(stage) == []


def test_a_named_provider_that_does_not_approve_the_host_is_not_asked(stage: LiveStage) -> None:
    named = stage.add(hosts=("help.example.com",))
    stage.add()
    assert problem_of(stage.acquire(provider=named.id)) == (422, "source_not_approved")
    assert asked_ids(stage) == []


def test_a_named_provider_that_may_not_be_asked_looks_like_one_that_is_not_there(stage: LiveStage) -> None:
    allowed = stage.add()
    others = [
        stage.add(),
        stage.add(status=ProviderStatus.DISABLED),
        stage.add(status=ProviderStatus.AUTO_DISABLED),
        stage.add(ProviderKind.MINTLIFY),
        stage.add(ProviderKind.CONTRACT),
        stage.add(is_customers=True),
    ]
    listed = (allowed.id, *(one.id for one in others[1:]))
    stage.agent = stage.add_credential(allowed_providers=listed)
    ids = [one.id for one in others] + ["ao_aaaaaaaaaaaaaaaa", "nothing"]
    answers = [stage.acquire(provider=id_, headers={"x-request-id": "r-1"}) for id_ in ids]
    assert {(answer.status, answer.text) for answer in answers} == {(404, answers[0].text)}
    assert problem_of(answers[0]) == (404, "not_found")
    assert asked_ids(stage) == []


def test_a_credential_with_a_list_has_only_that_asked(stage: LiveStage) -> None:
    stage.add(priority=1)
    allowed = gives(stage, stage.add(priority=9))
    stage.agent = stage.add_credential(allowed_providers=(allowed.id,))
    assert stage.acquire().json["provider"]["id"] == allowed.id
    stage.agent = stage.add_credential(allowed_providers=())
    assert problem_of(stage.acquire()) == (422, "source_not_approved")
    assert asked_ids(stage) == [allowed.id]


# --- who may ask, and what ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "over",
    [
        {"credential_class": CredentialClass.ASSISTANT, "grants": frozenset({Grant.READ_PUBLIC})},
        {"credential_class": CredentialClass.PUBLIC},
        {"credential_class": CredentialClass.ADMIN},
        {"expires_at": NOW - 1},
    ],
    ids=["assistant", "widget", "admin", "expired"],
)
def test_others_than_agents_are_refused_before_anything_is_said_of_the_body(
    stage: LiveStage, over: dict[str, Any]
) -> None:
    gives(stage, stage.add())
    token = a_token(stage.add_credential(**over))
    for body in ({"url": URL}, {"url": 7}, "no json"):
        assert problem_of(stage.send(body, token=token)) == (401, "unauthenticated")
    assert asked_ids(stage) == []


@pytest.mark.parametrize("token", [None, "kg_agt_aaaaaaaaaaaaaaaa_" + "00" * 32], ids=["none", "invented"])
def test_without_a_valid_token_nothing_is_said_of_the_body(stage: LiveStage, token: str | None) -> None:
    assert problem_of(stage.send({"nothing": 1}, token=token)) == (401, "unauthenticated")


def test_an_agent_that_asks_too_often_is_told_when_to_come_back(stage: LiveStage) -> None:
    gives(stage, stage.add())
    stage.agent = stage.add_credential(rate_per_minute=1)
    assert stage.acquire().status == 200
    answer = stage.acquire()
    assert problem_of(answer) == (429, "rate_limited")
    assert int(answer.headers["Retry-After"]) > 0
    assert len(stage.service.asked) == 1


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/url"),
        ({"url": None}, "/url"),
        ({"url": 7}, "/url"),
        ({"url": ""}, "/url"),
        ({"url": URL, "freshness": "newest"}, "/freshness"),
        ({"url": URL, "freshness": True}, "/freshness"),
        ({"url": URL, "provider": ""}, "/provider"),
        ({"url": URL, "provider": 5}, "/provider"),
        ({"url": URL, "provider": ["ao_aaaaaaaaaaaaaaaa"]}, "/provider"),
        ({"url": URL, "deadlineMs": "5000"}, "/deadlineMs"),
        ({"url": URL, "deadlineMs": 5000.5}, "/deadlineMs"),
        ({"url": URL, "deadlineMs": True}, "/deadlineMs"),
        ({"url": URL, "deadlineMs": 0}, "/deadlineMs"),
        ({"url": URL, "deadlineMs": -1}, "/deadlineMs"),
        ({"url": URL, "deadlineMs": 1_000_000_000}, "/deadlineMs"),
        ({"url": URL, "maxAge": 0}, "/maxAge"),
        ({"url": URL, "exposureProfile": "agent_only"}, "/exposureProfile"),
    ],
)
def test_a_wrong_field_is_named_and_nobody_is_asked(stage: LiveStage, body: Any, pointer: str) -> None:
    gives(stage, stage.add())
    answer = stage.send(body)
    assert problem_of(answer) == (422, "invalid_request")
    assert [error["pointer"] for error in answer.json["errors"]] == [pointer]
    assert asked_ids(stage) == []


@pytest.mark.parametrize(
    "url",
    [
        "http://docs.example.com/ferries",
        "https://192.0.2.1/ferries",
        "https://[2001:db8::1]/ferries",
        "https://someone:word@docs.example.com/ferries",
        "https://docs.example.com:8443/ferries",
        "https://docs.example.com./ferries",
        "https://docs.example.com/ferries?api_key=abc",
        "https://docs.example.com/fer\nries",
        "https://localhost/ferries",
        "docs.example.com/ferries",
        "file:///etc/hosts",
    ],
)
def test_a_url_that_no_source_may_have_is_refused_and_not_repeated(stage: LiveStage, url: str) -> None:
    gives(stage, stage.add())
    answer = stage.acquire(url)
    assert problem_of(answer) == (422, "invalid_source_url")
    assert url not in answer.text
    assert asked_ids(stage) == []


@pytest.mark.parametrize("agent_id", ["", "with space", "x" * 129, "ümlaut"])
def test_a_malformed_agent_id_is_refused(stage: LiveStage, agent_id: str) -> None:
    gives(stage, stage.add())
    answer = stage.acquire(headers={"x-helpthread-agent-id": agent_id})
    assert problem_of(answer) == (422, "invalid_request")


# --- what a failure becomes ---------------------------------------------------------------------------

FAILURES: list[tuple[ExchangeError, int, str]] = [
    (Refused("not_found"), 502, "source_not_found"),
    (Refused("capability_unavailable"), 502, "source_not_readable"),
    (ResponseTooLarge(), 502, "source_too_large"),
    (Refused("not_fresh"), 502, "source_not_fresh"),
    (Refused("source_not_approved"), 502, "redirect_not_approved"),
    (Refused("upstream_error"), 502, "provider_failed"),
    (Unclear("upstream_error"), 502, "provider_failed"),
    (Refused("invalid_response"), 502, "provider_failed"),
    (Refused("unauthorized"), 502, "provider_failed"),
    (Refused("forbidden"), 502, "provider_failed"),
    (ConnectionFailed(), 502, "provider_failed"),
    (BlockedAddress(), 502, "provider_failed"),
    (Refused("a_code_of_nobody"), 502, "provider_failed"),
    (ExchangeTimeout(), 504, "provider_timeout"),
    (Unclear("timeout"), 504, "provider_timeout"),
    (Refused("keys_exhausted"), 503, "keys_exhausted"),
    (Refused("allowance_exhausted"), 503, "allowance_exhausted"),
    (Refused("rate_limited"), 503, "provider_rate_limited"),
    (KeyRefused("rate", until=NOW + 25), 503, "provider_rate_limited"),
    (Refused("circuit_open"), 503, "circuit_open"),
    (Refused("not_configured"), 503, "not_configured"),
]


@pytest.mark.parametrize(
    ("error", "status", "code"), FAILURES, ids=[f"{type(error).__name__}_{error.code}" for error, _, _ in FAILURES]
)
def test_a_failure_of_the_service_is_a_problem(stage: LiveStage, error: ExchangeError, status: int, code: str) -> None:
    provider = fails(stage, stage.add(), error)
    answer = stage.acquire()
    assert problem_of(answer) == (status, code)
    assert (answer.headers["Content-Type"], PROBLEMS[code].status) == ("application/problem+json", status)
    assert answer.json["provider"] == provider.id


@pytest.mark.parametrize("code", ["unauthorized", "connection_failed", "invalid_response"])
def test_what_has_no_words_of_its_own_says_its_outcome(stage: LiveStage, code: str) -> None:
    fails(stage, stage.add(), Refused(code))
    assert stage.acquire().json["outcome"] == code


@pytest.mark.parametrize(
    ("wait_s", "header"), [(40.0, "40"), (39.2, "40"), (0.3, "1"), (0.0, "1"), (-7.0, "1"), (86_400.0, "86400")]
)
def test_when_to_come_back_is_told_in_whole_seconds(stage: LiveStage, wait_s: float, header: str) -> None:
    fails(stage, stage.add(), Refused(OutcomeCode.KEYS_EXHAUSTED, retry_at=NOW + wait_s))
    assert stage.acquire().headers["Retry-After"] == header


def test_when_nobody_knows_when_to_come_back_nothing_is_told(stage: LiveStage) -> None:
    fails(stage, stage.add(), Refused(OutcomeCode.ALLOWANCE_EXHAUSTED))
    assert "Retry-After" not in stage.acquire().headers


def test_a_problem_names_no_words_but_the_gateways_own() -> None:
    problem = problem_for(Refused("zq-sentinel"), provider_id="ao_aaaaaaaaaaaaaaaa", now=NOW)
    assert "zq-sentinel" not in repr((problem.code, problem.detail, problem.facts, str(problem)))
    assert problem.facts == {"provider": "ao_aaaaaaaaaaaaaaaa", "outcome": "upstream_error"}


@pytest.mark.parametrize(
    "fault", [KeyError("zq-sentinel"), asyncio.CancelledError("zq-sentinel"), RecursionError()], ids=repr
)
def test_a_fault_of_the_gateway_is_500_and_costs_the_next_call_nothing(stage: LiveStage, fault: BaseException) -> None:
    provider = fails(stage, stage.add(), fault)
    answer = stage.acquire()
    assert problem_of(answer) == (500, "internal_error")
    (line,) = stage.log.of("provider.fault")
    assert (line["provider"], line["fault"].split(" at ")[0]) == (provider.id, type(fault).__name__)
    assert [one["outcome"] for one in stage.log.of("acquire.answered")] == ["internal_error"]
    assert "zq-sentinel" not in answer.text + repr(stage.log.lines)
    gives(stage, provider)
    assert stage.acquire().status == 200


def test_a_call_that_is_cancelled_stays_cancelled(stage: LiveStage) -> None:
    begun = asyncio.Event()

    async def hangs(_wanted: Wanted, _meter: Meter) -> Acquired:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError("never")

    provider = stage.add()
    stage.service.fetches[provider.id] = hangs

    async def cancelled() -> bool:
        task = asyncio.create_task(stage.parts.acquire(stage.request()))
        await begun.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return task.cancelled()

    assert stage.loop.run(cancelled())
    assert stage.log.of("provider.fault") == []


def test_a_store_that_cannot_be_used_is_503_and_nobody_is_asked(stage: LiveStage) -> None:
    gives(stage, stage.add())
    for part in (stage.catalog, stage.credentials):
        part.failure = Unavailable("The store is away.")
        answer = stage.acquire()
        part.failure = None
        assert problem_of(answer) == (503, "store_unavailable")
        assert "Retry-After" in answer.headers
    assert asked_ids(stage) == []


def test_a_kind_that_nobody_wired_is_not_configured() -> None:
    stage = LiveStage(acquirers={})
    stage.add()
    assert problem_of(stage.acquire()) == (503, "not_configured")
    stage.close()


# --- time, reservations and the log -------------------------------------------------------------------


@pytest.mark.parametrize(("body", "seconds"), [({}, 25.0), ({"deadlineMs": 4000}, 4.0), ({"deadlineMs": 9000}, 9.0)])
def test_the_service_has_until_a_moment_before_the_answer_is_due(
    stage: LiveStage, body: dict[str, int], seconds: float
) -> None:
    left_ms: list[int] = []

    async def fetch(wanted: Wanted, meter: Meter) -> Acquired:
        left_ms.append(meter.remaining_ms())
        return fetched(wanted)

    stage.service.fetches[stage.add().id] = fetch
    assert stage.acquire(**body).status == 200
    assert left_ms == [int(seconds * 1000) - 250]


async def _hangs(_wanted: Wanted, _meter: Meter) -> Acquired:
    await asyncio.Event().wait()
    raise AssertionError("never")


def test_a_service_that_never_answers_is_a_timeout_by_the_deadline(
    stage: LiveStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.service.fetches[stage.add().id] = _hangs
    monkeypatch.setattr(ask_acquirer, "Wanted", _wanted_late(stage))
    answer = stage.acquire()
    assert problem_of(answer) == (504, "provider_timeout")
    assert [line["outcome"] for line in stage.log.of("acquire.answered")] == ["timeout"]


def _wanted_late(stage: LiveStage) -> Any:
    """Lets all time but a moment pass before the service is asked."""

    def wanted(**fields: Any) -> Wanted:
        stage.clock.advance(24.95)
        return Wanted(**fields)

    return wanted


def test_what_a_service_does_is_reserved_and_settled(stage: LiveStage) -> None:
    async def fetch(wanted: Wanted, meter: Meter) -> Acquired:
        async def work(attempt: Attempt) -> Acquired:
            assert attempt.key == "k-exa"
            return fetched(wanted)

        return await meter.perform(work)

    stage.service.fetches[stage.add(EXA).id] = fetch
    assert stage.acquire().status == 200
    assert (len(stage.allowances.confirmed), stage.allowances.of(Pool.EXA).used_at(NOW)) == (1, 1)
    assert stage.allowances.of(Pool.FIRECRAWL).used_at(NOW) == 0


def test_a_pool_without_units_asks_nobody(stage: LiveStage) -> None:
    async def fetch(wanted: Wanted, meter: Meter) -> Acquired:
        async def work(_attempt: Attempt) -> Acquired:
            raise AssertionError("nothing may be sent")

        return await meter.perform(work)

    stage.service.fetches[stage.add().id] = fetch
    stage.allowances.set_limit(Pool.FIRECRAWL, 0)
    assert problem_of(stage.acquire()) == (503, "allowance_exhausted")


def test_one_line_says_what_happened_and_nothing_of_what_was_asked(stage: LiveStage) -> None:
    provider = gives(stage, stage.add(), text="zq-text", title="zq-title", warnings=(Warning_.SOURCE_REDIRECTED,))
    headers = {"x-request-id": "r-5", "x-helpthread-agent-id": "desk-7"}
    stage.acquire(URL + "?zq-query=1", headers=headers)
    (line,) = stage.log.of("acquire.answered")
    assert line == {
        "request_id": "r-5",
        "agent_id": "desk-7",
        "provider": provider.id,
        "kind": "firecrawl",
        "outcome": "success",
        "acquisition": "cached_or_unknown",
        "warnings": ["source_redirected"],
        "duration_ms": 0,
    }
    assert "zq-" not in repr(stage.log.lines)


def test_a_failure_has_its_line_too(stage: LiveStage) -> None:
    provider = fails(stage, stage.add(), Refused("unauthorized"))
    stage.acquire(URL + "?zq-query=1")
    (line,) = stage.log.of("acquire.answered")
    assert (line["provider"], line["outcome"], line["acquisition"]) == (provider.id, "unauthorized", None)
    assert "zq-" not in repr(stage.log.lines)


def test_a_request_that_asked_nobody_has_no_line(stage: LiveStage) -> None:
    stage.acquire()
    assert stage.log.of("acquire.answered") == []
