"""An execution is sent once, whatever happens, and its receipt says what is known of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from shared.domain.alexandria import LEASE_S, QUOTE_LIFE_S, RECEIPT_LIFE_S, SETTINGS_URL, ReceiptState
from shared.domain.pools import Pool
from shared.domain.registrations import ProviderStatus
from shared.errors import ConnectionFailed, ExchangeTimeout, Unavailable
from shared.web.answer_size import delivered_bytes
from tests.support.alexandria_stage import NAME, OPTIONS, AlexandriaStage, priced, ran, refused
from tests.support.fake_exchanges import DROPPED_ONCE, HANGS
from tests.support.lookup_stage import problem_of

NO_CREDITS = refused(402, code="insufficient_credits")


@pytest.fixture
def stage() -> Iterator[AlexandriaStage]:
    made = AlexandriaStage()
    yield made
    made.close()


class Died(BaseException):
    """The process is gone: nothing after this line runs."""


# --- once -----------------------------------------------------------------------------------------


def test_a_result_comes_with_its_receipt(stage: AlexandriaStage) -> None:
    quote_id = stage.quote()
    stage.answers(ran())
    answer = stage.execute(quote_id)
    assert answer.status == 200
    assert answer.json == {
        "receipt": {
            "requestId": "r-1",
            "quoteId": quote_id,
            "tool": NAME,
            "state": "done",
            "cost": {"status": "confirmed", "credits": 3},
            "errorCode": None,
            "retryAt": None,
            "startedAt": "2026-09-21T14:13:20.000Z",
            "settledAt": "2026-09-21T14:13:20.000Z",
            "expiresAt": "2026-10-21T14:13:20.000Z",
            "mayTryAgain": False,
        },
        "result": {"rows": [[2026, 4.1]]},
        "warnings": [],
    }
    (sent,) = stage.sent
    call = json.loads(sent.request.body)
    assert call == {"alexandria": {**NAME, "options": OPTIONS}, "timeout": 20_000}


def test_a_repetition_sends_nothing_and_has_no_result(stage: AlexandriaStage) -> None:
    quote_id = stage.quote()
    stage.answers(ran())
    first = stage.execute(quote_id)
    for answer in (stage.execute(quote_id), stage.execute(quote_id, options={"rows": 2, "series": "ferry"})):
        assert answer.json == {"receipt": first.json["receipt"], "result": None, "warnings": ["result_not_kept"]}
    assert len(stage.sent) == 1


def test_a_repetition_is_answered_when_quote_provider_and_keys_are_gone(stage: AlexandriaStage) -> None:
    quote_id = stage.quote()
    stage.answers(ran())
    first = stage.execute(quote_id)
    stage.clock.advance(QUOTE_LIFE_S)
    stage.store.registrations.clear()
    stage.keys.entries.clear()
    assert stage.execute(quote_id).json["receipt"] == first.json["receipt"]
    assert stage.receipt().json == first.json["receipt"]


def test_the_receipt_is_there_before_anything_is_sent(stage: AlexandriaStage) -> None:
    quote_id = stage.quote()
    seen: list[Any] = []

    class Watching:
        def perform(self, work: Any) -> Any:
            seen.extend(receipt.state for receipt in stage.receipts.kept.values())
            raise Died

    stage.parts.alexandria.execute._way._meters.open = lambda *_, **__: Watching()  # type: ignore[assignment, method-assign]
    with pytest.raises(Died):
        stage.execute(quote_id)
    assert seen == [ReceiptState.STARTED]


@pytest.mark.parametrize(
    ("quote", "options"),
    [("same", {"series": "ferry"}), ("same", {}), ("other", OPTIONS), ("unknown", OPTIONS)],
    ids=["other_options", "no_options", "another_quote", "an_unknown_quote"],
)
def test_a_used_request_id_stands_for_one_request(stage: AlexandriaStage, quote: str, options: Any) -> None:
    quotes = {"same": stage.quote(), "other": stage.quote(), "unknown": "aq_unknown"}
    stage.answers(ran())
    stage.execute(quotes["same"])
    answer = stage.execute(quotes[quote], options=options)
    assert problem_of(answer) == (409, "request_id_reused")
    assert len(stage.sent) == 1


def test_options_that_only_look_alike_are_others(stage: AlexandriaStage) -> None:
    quote_id = stage.quote()
    stage.answers(ran())
    assert stage.execute(quote_id, options={"rows": 1}).status == 200
    assert problem_of(stage.execute(quote_id, options={"rows": "1"})) == (409, "request_id_reused")
    assert problem_of(stage.execute(quote_id, options={"rows": True})) == (409, "request_id_reused")


def test_credentials_and_agents_have_request_ids_of_their_own(stage: AlexandriaStage) -> None:
    other = stage.add_credential()
    callers: list[dict[str, Any]] = [{}, {"agent": "seven"}, {"agent": "eight"}, {"credential": other}]
    for number, caller in enumerate(callers):
        quote_id = stage.quote(**caller)
        stage.answers(ran(number))
        assert stage.execute(quote_id, **caller).json["result"] == number
    ids = [receipt.holder for receipt in stage.receipts.begun]
    assert len(set(ids)) == 4


def test_the_service_knows_a_request_by_an_id_that_stays(stage: AlexandriaStage) -> None:
    quote_id = stage.quote()
    stage.answers(NO_CREDITS, NO_CREDITS, ran())
    stage.execute(quote_id)
    stage.clock.advance(QUOTE_LIFE_S - 1)
    stage.ledger.states.clear()
    stage.execute(quote_id)
    assert [sent.headers["authorization"] for sent in stage.sent] == ["Bearer k-one", "Bearer k-two", "Bearer k-one"]
    assert len({sent.headers["x-request-id"] for sent in stage.sent}) == 1
    assert len({sent.request.body for sent in stage.sent}) == 1


def test_after_thirty_days_a_request_id_is_free_again(stage: AlexandriaStage) -> None:
    stage.answers(ran())
    quote_id = stage.quote()
    stage.answers(ran())
    stage.execute(quote_id)
    stage.clock.advance(RECEIPT_LIFE_S)
    assert problem_of(stage.receipt()) == (404, "not_found")
    quote_id = stage.quote()
    stage.answers(ran())
    assert stage.execute(quote_id, options={}).json["receipt"]["state"] == "done"


# --- quotes ---------------------------------------------------------------------------------------


def test_an_unknown_an_ended_and_a_foreign_quote_look_the_same(stage: AlexandriaStage) -> None:
    foreign = stage.quote(credential=stage.add_credential())
    an_agents = stage.quote(agent="seven")
    ended = stage.quote()
    stage.clock.advance(QUOTE_LIFE_S)
    answers = [stage.execute(quote_id) for quote_id in ("aq_unknown", foreign, an_agents, ended)]
    assert {problem_of(answer) for answer in answers} == {(404, "quote_unknown")}
    assert len({answer.text for answer in answers}) == 1
    assert stage.sent == []
    assert stage.receipts.begun == []


def test_a_quote_can_be_executed_to_its_last_moment(stage: AlexandriaStage) -> None:
    quote_id = stage.quote()
    stage.answers(ran())
    stage.clock.advance(QUOTE_LIFE_S - 0.001)
    assert stage.execute(quote_id).status == 200


def test_a_quote_may_be_executed_more_than_once_under_other_ids(stage: AlexandriaStage) -> None:
    quote_id = stage.quote()
    stage.answers(ran())
    for request_id in ("r-1", "r-2"):
        assert stage.execute(quote_id, request_id).json["receipt"]["state"] == "done"
    assert len({sent.headers["x-request-id"] for sent in stage.sent}) == 2


@pytest.mark.parametrize("status", [ProviderStatus.DISABLED, ProviderStatus.AUTO_DISABLED, None])
def test_a_quote_does_not_outlive_its_provider(stage: AlexandriaStage, status: ProviderStatus | None) -> None:
    quote_id = stage.quote()
    stage.add(name="Another")
    if status is None:
        del stage.store.registrations[stage.provider.id]
    else:
        stage.store.registrations[stage.provider.id] = replace(stage.provider, status=status)
    assert problem_of(stage.execute(quote_id)) == (404, "not_found")
    assert (stage.sent, stage.receipts.begun) == ([], [])


# --- what is not known ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "code"),
    [
        (ExchangeTimeout(), "timeout"),
        (ConnectionFailed(), "connection_failed"),
        (DROPPED_ONCE, "connection_failed"),
        (refused(408, code="SCRAPE_TIMEOUT"), "timeout"),
        (refused(409, code="request_in_flight", chargeId="c-1"), "already_there"),
        (refused(500), "upstream_error"),
        (refused(503, code="request_unresolved", chargeId="c-1"), "upstream_error"),
        (refused(402, code="insufficient_credits", chargeId="c-1"), "credits_refused"),
        (ran(provider="other"), "invalid_response"),
    ],
    ids=["timeout", "broken", "dropped", "408", "409", "500", "unresolved", "402_charged", "another_tools_result"],
)
def test_uncertain_work_is_unknown_and_never_sent_again(stage: AlexandriaStage, step: Any, code: str) -> None:
    quote_id = stage.quote()
    stage.answers(step, ran())
    first = stage.execute(quote_id)
    receipt = first.json["receipt"]
    assert (receipt["state"], receipt["errorCode"], receipt["mayTryAgain"]) == ("unknown", code, False)
    assert receipt["cost"] == {"status": "unknown", "credits": None}
    assert (first.json["result"], first.json["warnings"]) == (None, [])
    for seconds in (0.0, LEASE_S, QUOTE_LIFE_S, 86_400.0):
        stage.clock.advance(seconds)
        assert stage.execute(quote_id).json == first.json
    assert len(stage.sent) == 1


@pytest.mark.parametrize("moment", ["before_sending", "after_sending", "before_settling"])
def test_who_dies_in_between_leaves_a_receipt_that_becomes_unknown(stage: AlexandriaStage, moment: str) -> None:
    quote_id = stage.quote()
    stage.answers(Died() if moment == "after_sending" else ran())
    dying = {"before_sending": stage.allowances, "before_settling": stage.receipts}.get(moment)

    async def dies(*_args: Any, **_named: Any) -> Any:
        raise Died

    with pytest.MonkeyPatch.context() as patch:
        if dying is not None:
            patch.setattr(dying, "reserve" if moment == "before_sending" else "settle", dies)
        with pytest.raises(Died):
            stage.execute(quote_id)
    sent = len(stage.sent)
    stage.answers(ran())
    assert stage.execute(quote_id).json["receipt"]["state"] == "started"
    stage.clock.advance(LEASE_S - 0.001)
    assert stage.receipt().json["state"] == "started"
    stage.clock.advance(0.001)
    for receipt in (stage.receipt().json, stage.execute(quote_id).json["receipt"]):
        assert (receipt["state"], receipt["mayTryAgain"], receipt["settledAt"]) == ("unknown", False, None)
        assert receipt["cost"] == {"status": "unknown", "credits": None}
    assert stage.kept.state is ReceiptState.STARTED
    assert len(stage.sent) == sent == (0 if moment == "before_sending" else 1)


def test_a_fault_of_the_gateway_itself_leaves_doubt(stage: AlexandriaStage) -> None:
    quote_id = stage.quote()
    stage.answers(KeyError("zq-secret"))
    answer = stage.execute(quote_id)
    receipt = answer.json["receipt"]
    assert (receipt["state"], receipt["errorCode"]) == ("unknown", "internal_error")
    assert len(stage.log.of("provider.fault")) == 1
    assert "zq-secret" not in repr(stage.log.lines) + answer.text


def test_an_outcome_that_cannot_be_written_down_is_told_once(stage: AlexandriaStage) -> None:
    quote_id = stage.quote()
    stage.answers(ran())

    async def settle(_receipt: Any) -> None:
        raise Unavailable("Later.")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stage.receipts, "settle", settle)
        answer = stage.execute(quote_id)
    assert answer.json["receipt"]["state"] == "done"
    assert answer.json["result"] == {"rows": [[2026, 4.1]]}
    assert answer.json["warnings"] == ["receipt_not_settled"]
    assert stage.receipt().json["state"] == "started"
    assert len(stage.log.of("alexandria.receipt_unsettled")) == 1


def test_a_store_that_hangs_while_settling_keeps_nobody_waiting(stage: AlexandriaStage) -> None:
    quote_id = stage.quote()
    stage.answers(ran())

    async def settle(_receipt: Any) -> None:
        await asyncio.Event().wait()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stage.receipts, "settle", settle)
        patch.setattr("shared.services.alexandria_execute._SETTLING_S", 0.01)
        assert stage.execute(quote_id).json["warnings"] == ["receipt_not_settled"]


def test_a_store_that_fails_before_sending_is_a_503_and_nothing_is_sent(stage: AlexandriaStage) -> None:
    quote_id = stage.quote()
    stage.answers(ran())
    for port in (stage.receipts, stage.quotes, stage.catalog):
        port.failure = Unavailable("Later.")
        answer = stage.execute(quote_id)
        assert problem_of(answer) == (503, "store_unavailable")
        assert answer.headers["Retry-After"] == "5"
        port.failure = None
    assert stage.sent == []


# --- refusals -------------------------------------------------------------------------------------


def test_a_refused_request_is_tried_again_by_the_same_request_alone(stage: AlexandriaStage) -> None:
    quote_id = stage.quote()
    stage.answers(refused(403, code="paid_plan_required"), ran())
    receipt = stage.execute(quote_id).json["receipt"]
    assert (receipt["state"], receipt["errorCode"], receipt["mayTryAgain"]) == ("refused", "forbidden", True)
    assert receipt["cost"] == {"status": "unknown", "credits": None}
    assert problem_of(stage.execute(quote_id, options={})) == (409, "request_id_reused")
    assert stage.receipt().json == receipt
    again = stage.execute(quote_id).json
    assert (again["receipt"]["state"], again["result"]) == ("done", {"rows": [[2026, 4.1]]})
    assert stage.execute(quote_id).json["warnings"] == ["result_not_kept"]
    assert len(stage.sent) == 2


def test_a_refused_request_whose_quote_has_ended_says_so(stage: AlexandriaStage) -> None:
    quote_id = stage.quote()
    stage.answers(refused(401))
    stage.execute(quote_id)
    stage.clock.advance(QUOTE_LIFE_S)
    assert problem_of(stage.execute(quote_id)) == (404, "quote_unknown")
    assert stage.receipt().json["mayTryAgain"] is True


def test_keys_without_credits_cost_nothing_and_say_when(stage: AlexandriaStage) -> None:
    quote_id = stage.quote()
    stage.answers(NO_CREDITS)
    receipt = stage.execute(quote_id).json["receipt"]
    assert (receipt["state"], receipt["errorCode"], receipt["mayTryAgain"]) == ("refused", "keys_exhausted", True)
    assert receipt["cost"] == {"status": "confirmed", "credits": 0}
    assert receipt["retryAt"] == "2026-09-22T14:13:20.000Z"
    resting = stage.execute(quote_id).json["receipt"]
    assert (resting["errorCode"], resting["cost"]["credits"]) == ("keys_exhausted", 0)
    assert len(stage.sent) == 2
    assert len(stage.allowances.released) == 1


def test_rate_limited_keys_leave_the_cost_unknown(stage: AlexandriaStage) -> None:
    quote_id = stage.quote()
    stage.answers(refused(429))
    receipt = stage.execute(quote_id).json["receipt"]
    assert (receipt["state"], receipt["errorCode"]) == ("refused", "keys_exhausted")
    assert receipt["cost"] == {"status": "unknown", "credits": None}
    assert receipt["retryAt"] == "2026-09-21T14:14:20.000Z"


def test_nothing_is_sent_and_nothing_spent_without_allowance_or_keys(stage: AlexandriaStage) -> None:
    quote_id = stage.quote()
    stage.answers(ran())
    stage.allowances.set_limit(Pool.FIRECRAWL, 0)
    receipt = stage.execute(quote_id).json["receipt"]
    assert (receipt["state"], receipt["errorCode"]) == ("refused", "allowance_exhausted")
    assert receipt["cost"] == {"status": "confirmed", "credits": 0}
    stage.allowances.set_limit(Pool.FIRECRAWL, 10)
    stage.keys.entries.clear()
    assert stage.execute(quote_id).json["receipt"]["errorCode"] == "not_configured"
    assert stage.sent == []


@pytest.mark.parametrize(
    "terms",
    [
        {"code": "THIRD_PARTY_DATA_TERMS_REQUIRED"},
        {"requiresAction": {"type": "accept_terms", "terms": "zq-terms", "url": "https://terms.evil.test/accept"}},
    ],
    ids=["code", "action"],
)
def test_terms_are_accepted_by_a_person_and_then_the_same_request_goes_on(
    stage: AlexandriaStage, terms: dict[str, Any]
) -> None:
    quote_id = stage.quote()
    stage.answers(refused(403, **terms), ran())
    answer = stage.execute(quote_id)
    assert problem_of(answer) == (409, "terms_required")
    assert answer.json["settingsUrl"] == SETTINGS_URL == "https://www.firecrawl.dev/app/settings?tab=data-sources"
    assert "evil" not in answer.text
    assert "zq-" not in answer.text
    receipt = stage.receipt().json
    assert (receipt["state"], receipt["errorCode"], receipt["mayTryAgain"]) == ("refused", "terms_required", True)
    assert stage.execute(quote_id).json["receipt"]["state"] == "done"
    first, second = stage.sent
    assert first.headers["x-request-id"] == second.headers["x-request-id"]
    assert first.request.body == second.request.body


# --- results and costs ----------------------------------------------------------------------------


def test_a_tool_that_failed_is_done_with_what_it_cost(stage: AlexandriaStage) -> None:
    quote_id = stage.quote()
    stage.answers(ran(error={"code": "invalid_options", "message": "UPSTREAM-WORDS"}, cost=0))
    answer = stage.execute(quote_id)
    receipt = answer.json["receipt"]
    assert (receipt["state"], receipt["errorCode"], receipt["mayTryAgain"]) == ("done", "tool_failed", False)
    assert receipt["cost"] == {"status": "confirmed", "credits": 0}
    assert (answer.json["result"], answer.json["warnings"]) == (None, [])
    assert "UPSTREAM-WORDS" not in answer.text
    assert stage.execute(quote_id).json == answer.json


def test_a_cost_that_is_not_confirmed_stays_unknown(stage: AlexandriaStage) -> None:
    quote_id = stage.quote()
    stage.answers(ran(creditsCost=2))
    answer = stage.execute(quote_id)
    assert answer.json["receipt"]["cost"] == {"status": "unknown", "credits": None}
    assert answer.json["result"] == {"rows": [[2026, 4.1]]}
    assert stage.receipt().json["cost"] == {"status": "unknown", "credits": None}


def test_a_result_that_does_not_fit_is_left_out_and_the_receipt_stays(stage: AlexandriaStage) -> None:
    quote_id = stage.quote()
    stage.answers(ran('"' * 1_500_000))
    answer = stage.execute(quote_id)
    assert (answer.json["receipt"]["state"], answer.json["result"]) == ("done", None)
    assert answer.json["warnings"] == ["result_too_large"]
    stage.answers(ran("x" * 900_000))
    fits = stage.execute(quote_id, "r-2")
    assert len(fits.json["result"]) == 900_000
    assert delivered_bytes(fits.text) < 4 * 1024 * 1024


@pytest.mark.parametrize(
    "result",
    [None, 0, False, "", [], {}, "渡輪 – naïve 🛳", [1.5, None, {"a": [[]]}]],
    ids=["null", "zero", "false", "no_text", "no_list", "no_object", "text", "nested"],
)
def test_a_result_is_handed_over_as_it_came(stage: AlexandriaStage, result: Any) -> None:
    quote_id = stage.quote()
    stage.answers(ran(result))
    assert stage.execute(quote_id).json["result"] == result


# --- limits of time -------------------------------------------------------------------------------


def test_a_tool_has_longer_than_the_usual_attempt(stage: AlexandriaStage) -> None:
    quote_id = stage.quote()
    stage.answers(ran())
    left_ms: list[int] = []
    original = type(stage.exchanges).open_once

    def watching(exchanges: Any, source: Any, *, deadline: Any) -> Any:
        left_ms.append(round(deadline.remaining_s(stage.clock.monotonic()) * 1000))
        return original(exchanges, source, deadline=deadline)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(stage.exchanges), "open_once", watching)
        stage.execute(quote_id)
        stage.answers(priced())
        stage.post("inspect", {"tool": NAME})
    assert left_ms == [24_000, 15_000]


def test_an_execution_that_never_ends_is_unknown_by_the_deadline(stage: AlexandriaStage) -> None:
    quote_id = stage.quote()
    stage.answers(HANGS, ran())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("functions.live.alexandria.DEADLINE_S", 3.5)
        patch.setattr("shared.services.metering.LEAST_TIME_S", 0.0)
        patch.setattr("shared.services.open_alexandria._SETTLING_S", 3.4)
        receipt = stage.execute(quote_id).json["receipt"]
    assert (receipt["state"], receipt["errorCode"]) == ("unknown", "timeout")
    assert stage.execute(quote_id).json["receipt"] == receipt


def test_a_store_behind_the_meter_that_hangs_is_not_waited_for(stage: AlexandriaStage) -> None:
    quote_id = stage.quote()
    stage.answers(ran())

    async def configured(_pool: Pool) -> Any:
        await asyncio.sleep(5)
        raise AssertionError("waited for")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stage.keys, "configured", configured)
        patch.setattr("functions.live.alexandria.DEADLINE_S", 0.5)
        patch.setattr("shared.services.alexandria_execute._GRACE_S", 0.01)
        receipt = stage.execute(quote_id).json["receipt"]
    assert (receipt["state"], receipt["errorCode"]) == ("unknown", "timeout")
    assert stage.sent == []


def test_too_little_time_sends_nothing_and_spends_nothing(stage: AlexandriaStage) -> None:
    quote_id = stage.quote()
    stage.answers(ran())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("functions.live.alexandria.DEADLINE_S", 3.0)
        receipt = stage.execute(quote_id).json["receipt"]
    assert (receipt["state"], receipt["errorCode"]) == ("refused", "timeout")
    assert receipt["cost"] == {"status": "confirmed", "credits": 0}
    assert stage.sent == []
