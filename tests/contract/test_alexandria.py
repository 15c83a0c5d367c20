"""What `ports.alexandria.Alexandria` promises, kept by the service: recorded shapes, and a real line on loopback."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from shared.adapters.clock import SystemClock
from shared.adapters.exchanges import PinnedExchanges
from shared.adapters.resolver import SystemResolver
from shared.domain.alexandria import Call, Execution, Holder, ReceiptState, Tool, Trouble, canonical, upstream_id_of
from shared.domain.deadlines import Deadline
from shared.domain.pools import Pool
from shared.domain.registrations import ProviderKind
from shared.errors import (
    BlockedAddress,
    ConnectionDropped,
    ConnectionFailed,
    ExchangeError,
    ExchangeTimeout,
    NeverConnected,
    Refused,
    ResponseTooLarge,
)
from shared.ports.exchange import OutboundAnswer
from shared.providers.alexandria import AlexandriaCatalogue
from shared.services.metering import Metering
from tests.support.alexandria_fakes import HOLDER, TOOL
from tests.support.builders import NOW, a_source
from tests.support.fake_exchanges import DROPPED_ONCE, HANGS, FakeExchanges, Step
from tests.support.fakes import FakeClock
from tests.support.live_fakes import FakeAllowances, FakePoolKeys, FakePoolLedger
from tests.support.meters import ScriptedMeter
from tests.support.scripted_service import scripted_service
from tests.support.search_stage import RecordedLog

FIXTURES = Path(__file__).parents[2] / "fixtures" / "providers" / "alexandria"
BASE_URL = "https://api.firecrawl.example/v2"
KEYS = ("k-demo", "k-spare")
UPSTREAM_ID = upstream_id_of(HOLDER, "ferry-report-1")


def recorded(topic: str) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads((FIXTURES / f"{topic}.json").read_text(encoding="utf-8"))["cases"]
    return cases


def cases(topic: str) -> Any:
    return pytest.mark.parametrize("case", recorded(topic), ids=[case["name"] for case in recorded(topic)])


def answer_of(case: dict[str, Any]) -> OutboundAnswer:
    """A body is JSON unless it is recorded raw."""
    body = case["raw"] if "raw" in case else json.dumps(case["body"], ensure_ascii=False)
    headers = {"content-type": "application/json"} | case.get("headers", {})
    return OutboundAnswer(status=case["status"], headers=headers, body=body.encode())


def answer_named(topic: str, name: str) -> OutboundAnswer:
    return next(answer_of(case["answer"]) for case in recorded(topic) if case["name"] == name)


RESULT = answer_named("executions", "a result")
NO_CREDITS = answer_named("refusals", "no credits")
TOO_MANY = answer_named("refusals", "too many requests, without a wait")


class Stage:
    """The service over scripted lines, at a time that stands still, with two keys."""

    def __init__(self, *steps: Step, timeout_s: float = 25.0, keys: tuple[str | None, ...] = KEYS) -> None:
        self.clock = FakeClock()
        self.exchanges = FakeExchanges(clock=self.clock)
        self.source = a_source(kind=ProviderKind.FIRECRAWL, base_url=BASE_URL, signing=None)
        self.exchanges.script(self.source.id, *steps)
        self.meter = ScriptedMeter(self.exchanges, self.source, clock=self.clock, keys=keys, timeout_s=timeout_s)
        self.alexandria = AlexandriaCatalogue(clock=self.clock)

    def search(self, query: str = "ferry passengers", *, limit: int = 10) -> Any:
        return asyncio.run(self.alexandria.search(self.source, query, limit=limit, meter=self.meter))

    def inspect(self) -> Tool:
        return asyncio.run(self.alexandria.inspect(self.source, TOOL, meter=self.meter))

    def execute(self, options: dict[str, Any] | None = None) -> Execution:
        wanted = canonical({"series": "ferry"} if options is None else options)
        call = Call(tool=TOOL, options=wanted, upstream_id=UPSTREAM_ID)
        return asyncio.run(self.alexandria.execute(self.source, call, meter=self.meter))

    @property
    def sent(self) -> list[Any]:
        return self.exchanges.sent


def shown(tool: Tool) -> dict[str, Any]:
    options = [
        {"name": o.name, "type": o.type, "about": o.about, "required": o.required, "rules": o.rules}
        for o in tool.options
    ]
    return {
        "id": tool.id,
        "provider": tool.tool.provider,
        "capability": tool.tool.capability,
        "name": tool.name,
        "description": tool.description,
        "credits": tool.price.credits,
        "perRecord": tool.price.per_record,
        "options": options,
        "requiresOneOf": [list(group) for group in tool.requires_one_of],
    }


# --- requests -------------------------------------------------------------------------------------


@cases("requests")
def test_exactly_this_is_sent(case: dict[str, Any]) -> None:
    stage = Stage(TOO_MANY)
    if case["operation"] == "execute":
        stage.execute(case["options"])
    else:
        with pytest.raises(Refused):
            stage.search(case["query"], limit=case["limit"]) if case["operation"] == "search" else stage.inspect()
    for sent, key in zip(stage.sent, KEYS, strict=True):
        assert (sent.request.method, sent.request.url) == ("POST", BASE_URL + case["path"])
        expected = {
            "authorization": f"Bearer {key}",
            "content-type": "application/json",
            "accept": "application/json",
            "user-agent": "knowledge-gateway/1",
        }
        assert expected.items() <= sent.headers.items()
        assert sent.headers.keys() - expected.keys() == (set() if case["operation"] == "search" else {"x-request-id"})
        if "raw" in case:
            assert sent.request.body.decode() == case["raw"]
        else:
            assert json.loads(sent.request.body) == case["body"]


def test_every_key_gets_the_same_bytes_under_the_same_request_id() -> None:
    for stage, act in ((Stage(TOO_MANY), Stage.execute), (Stage(TOO_MANY), Stage.inspect)):
        try:
            act(stage)
        except Refused:
            assert act is Stage.inspect
        first, second = stage.sent
        assert first.request.body == second.request.body
        assert first.headers["x-request-id"] == second.headers["x-request-id"]
        assert first.headers["authorization"] != second.headers["authorization"]


def test_a_request_id_is_one_that_the_service_takes_and_says_nothing() -> None:
    named = Holder("aaaaaaaaaaaaaaaa", "agent-seven")
    ids = {upstream_id_of(holder, request_id) for holder in (HOLDER, named) for request_id in ("r.1", "r:2" + "-" * 61)}
    assert len(ids) == 4
    assert all(len(each) == 64 and set(each) <= set("0123456789abcdef") for each in ids)
    assert upstream_id_of(HOLDER, "r.1") == upstream_id_of(Holder("aaaaaaaaaaaaaaaa"), "r.1")


def test_each_inspection_has_a_request_id_of_its_own() -> None:
    stage = Stage(answer_named("inspections", "a tool in full"))
    stage.inspect()
    stage.inspect()
    assert len({sent.headers["x-request-id"] for sent in stage.sent}) == 2


def test_the_same_options_are_the_same_bytes_whatever_their_order() -> None:
    assert canonical({"b": [1, {"y": 1, "x": None}], "a": "渡輪"}) == canonical(
        {"a": "渡輪", "b": [1, {"x": None, "y": 1}]}
    )
    assert canonical({"a": 1}) != canonical({"a": 1.0})


def test_each_verb_is_one_operation_of_the_meter() -> None:
    for act, answer in (
        (Stage.search, answer_named("searches", "a tool in full")),
        (Stage.inspect, answer_named("inspections", "a tool in full")),
        (Stage.execute, RESULT),
    ):
        stage = Stage(answer)
        act(stage)
        assert (stage.meter.operations, len(stage.sent)) == (1, 1)


# --- answers --------------------------------------------------------------------------------------


@cases("searches")
def test_a_search_becomes(case: dict[str, Any]) -> None:
    stage, limit = Stage(answer_of(case["answer"])), case.get("limit", 10)
    if "code" in case:
        with pytest.raises(Refused) as refused:
            stage.search(limit=limit)
        assert refused.value.code == case["code"]
        return
    found = stage.search(limit=limit)
    assert [shown(tool) for tool in found.tools] == case["tools"]
    assert list(found.notices) == case["notices"]


@cases("inspections")
def test_an_inspection_becomes(case: dict[str, Any]) -> None:
    stage = Stage(answer_of(case["answer"]))
    if "code" in case:
        with pytest.raises(Refused) as refused:
            stage.inspect()
        assert refused.value.code == case["code"]
        return
    assert shown(stage.inspect()) == case["tool"]


@cases("executions")
def test_an_execution_becomes(case: dict[str, Any]) -> None:
    stage, expected = Stage(answer_of(case["answer"])), case["execution"]
    execution = stage.execute()
    assert (execution.state, execution.credits, execution.trouble) == (
        expected["state"],
        expected["credits"],
        expected["trouble"],
    )
    assert execution.result == expected["result"]
    assert len(stage.sent) == 1


def test_texts_of_a_tool_are_bounded() -> None:
    long = {"name": "n" * 500, "type": "t" * 500, "about": "a" * 5_000, "default": "d" * 5_000, "enum": ["e"] * 200}
    tool = {
        "provider": "acmestats",
        "capability": "series/observations",
        "name": "n" * 5_000,
        "description": "d" * 50_000,
        "options": [long | {f"rule{number}": number for number in range(30)}] * 80,
        "requiresOneOf": [["g" * 300] * 80] * 20,
    }
    body = {"success": True, "data": {"tools": [tool]}}
    (found,) = Stage(answer_of({"status": 200, "body": body})).search().tools
    option = found.options[0]
    assert (len(found.name), len(found.description), len(found.options)) == (200, 2_000, 64)
    assert (len(option.name), len(option.type), len(option.about), len(option.rules)) == (200, 64, 500, 16)
    assert (len(option.rules["default"]), len(option.rules["enum"])) == (200, 100)  # type: ignore[arg-type]
    assert (len(found.requires_one_of), len(found.requires_one_of[0]), len(found.requires_one_of[0][0])) == (
        16,
        64,
        200,
    )


def test_a_result_of_many_values_is_read() -> None:
    """It has been paid for."""
    rows = [[number, number + 1] for number in range(40_000)]
    item = {"provider": TOOL.provider, "capability": TOOL.capability, "creditsCost": 1, "data": rows}
    body = {"success": True, "data": {"alexandria": [item], "creditsCost": 1}}
    execution = Stage(answer_of({"status": 200, "body": body})).execute()
    assert (execution.state, execution.credits, execution.result) == (ReceiptState.DONE, 1, rows)


# --- refusals and failures ------------------------------------------------------------------------


@cases("refusals")
def test_a_refused_execution_becomes(case: dict[str, Any]) -> None:
    stage, expected = Stage(answer_of(case["answer"])), case["execution"]
    execution = stage.execute()
    assert (execution.state, execution.trouble, execution.credits) == (
        expected["state"],
        expected["trouble"],
        expected["credits"],
    )
    assert len(stage.sent) == expected["keys"]
    assert "UPSTREAM-WORDS" not in repr(execution)
    if "restsS" in case:
        assert [round(refusal.until - NOW) for refusal in stage.meter.refusals] == [case["restsS"]] * 2


@cases("refusals")
@pytest.mark.parametrize("verb", ["search", "inspect"])
def test_a_refused_free_call_becomes(case: dict[str, Any], verb: str) -> None:
    stage = Stage(answer_of(case["answer"]))
    with pytest.raises(ExchangeError) as refused:
        getattr(stage, verb)()
    assert (refused.value.code, len(stage.sent)) == (case[verb]["code"], case[verb]["keys"])
    assert "UPSTREAM-WORDS" not in repr(refused.value)


def test_a_rate_limit_concerns_the_account_and_missing_credits_the_key() -> None:
    for answer, reason, scope in ((TOO_MANY, "rate", "account"), (NO_CREDITS, "quota", "key")):
        stage = Stage(answer)
        stage.execute()
        assert {(refusal.reason, refusal.scope) for refusal in stage.meter.refusals} == {(reason, scope)}


def test_a_second_key_executes_after_a_refusal_of_the_first() -> None:
    stage = Stage(NO_CREDITS, RESULT)
    execution = stage.execute()
    assert (execution.state, execution.credits) == (ReceiptState.DONE, 3)
    assert stage.meter.used == list(KEYS)


def test_a_second_key_that_leaves_doubt_makes_the_whole_unknown() -> None:
    stage = Stage(NO_CREDITS, ExchangeTimeout())
    execution = stage.execute()
    assert (execution.state, execution.credits, execution.trouble) == (ReceiptState.UNKNOWN, None, Trouble.TIMEOUT)


def test_zero_is_confirmed_only_where_every_refusal_says_so() -> None:
    assert Stage(NO_CREDITS).execute().credits == 0
    assert Stage(NO_CREDITS, TOO_MANY).execute().credits is None
    assert Stage(TOO_MANY, NO_CREDITS).execute().credits is None


def test_resting_keys_say_when_to_come_back() -> None:
    assert Stage(TOO_MANY).execute().retry_at == NOW + 60


def test_an_unknown_outcome_does_not_say_when_to_come_back() -> None:
    unavailable = OutboundAnswer(status=503, headers={"retry-after": "30"}, body=b"")
    assert Stage(unavailable).execute().retry_at is None


@pytest.mark.parametrize(
    ("failure", "state", "trouble", "spent"),
    [
        (ExchangeTimeout(), ReceiptState.UNKNOWN, Trouble.TIMEOUT, None),
        (ConnectionFailed(), ReceiptState.UNKNOWN, Trouble.CONNECTION_FAILED, None),
        (ConnectionDropped(), ReceiptState.UNKNOWN, Trouble.CONNECTION_FAILED, None),
        (ResponseTooLarge(), ReceiptState.UNKNOWN, Trouble.RESPONSE_TOO_LARGE, None),
        (Refused("invalid_response"), ReceiptState.UNKNOWN, Trouble.INVALID_RESPONSE, None),
        (NeverConnected(), ReceiptState.REFUSED, Trouble.CONNECTION_FAILED, 0),
        (BlockedAddress(), ReceiptState.REFUSED, Trouble.BLOCKED_ADDRESS, 0),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_a_line_that_fails_leaves_doubt_unless_nothing_left(
    failure: ExchangeError, state: ReceiptState, trouble: Trouble, spent: int | None
) -> None:
    stage = Stage(failure)
    execution = stage.execute()
    assert (execution.state, execution.trouble, execution.credits) == (state, trouble, spent)
    assert len(stage.meter.used) == 1


def test_over_a_connection_that_broke_nothing_is_sent_again() -> None:
    stage = Stage(DROPPED_ONCE, RESULT)
    execution = stage.execute()
    assert (execution.state, execution.trouble) == (ReceiptState.UNKNOWN, Trouble.CONNECTION_FAILED)
    free = Stage(DROPPED_ONCE, answer_named("searches", "a tool in full"))
    with pytest.raises(ConnectionFailed):
        free.search()
    assert (len(stage.sent), len(free.sent)) == (1, 1)


def test_a_service_that_never_answers_leaves_doubt() -> None:
    execution = Stage(HANGS, timeout_s=0.05).execute()
    assert (execution.state, execution.trouble) == (ReceiptState.UNKNOWN, Trouble.TIMEOUT)


def test_nothing_is_sent_without_a_key() -> None:
    stage = Stage(RESULT, keys=(None,))
    execution = stage.execute()
    assert (execution.state, execution.trouble, execution.credits) == (ReceiptState.REFUSED, Trouble.NOT_CONFIGURED, 0)
    assert stage.sent == []


# --- against a real server ------------------------------------------------------------------------


class RealStage:
    """The service behind the real meter and the real line."""

    def __init__(self, origin: str, *, attempt_s: float = 15.0) -> None:
        clock = SystemClock()
        self.exchanges = PinnedExchanges(
            resolver=SystemResolver(), clock=clock, allow_loopback_http=True, private_network_available=False
        )
        self.keys = FakePoolKeys({Pool.FIRECRAWL: {"FIRECRAWL_API_KEY": "k-demo", "FIRECRAWL_API_KEY_1": "k-spare"}})
        self.allowances = FakeAllowances(clock=clock)
        self.meters = Metering(
            keys=self.keys,
            ledger=FakePoolLedger(clock=clock),
            allowances=self.allowances,
            exchanges=self.exchanges,
            clock=clock,
            logger=RecordedLog(),  # type: ignore[arg-type]
        ).with_attempts_of(attempt_s)
        self.source = a_source(kind=ProviderKind.FIRECRAWL, base_url=f"{origin}/v2", signing=None)
        self.alexandria = AlexandriaCatalogue(clock=clock)
        self._clock = clock

    async def execute(self) -> Execution:
        deadline = Deadline.after(25.0, now_s=self._clock.monotonic())
        meter = self.meters.open(self.source, Pool.FIRECRAWL, deadline=deadline)
        call = Call(tool=TOOL, options=canonical({"series": "ferry"}), upstream_id=UPSTREAM_ID)
        try:
            return await self.alexandria.execute(self.source, call, meter=meter)
        finally:
            self.exchanges.close()
            await asyncio.sleep(0)


def test_over_a_real_line_the_next_key_executes() -> None:
    with scripted_service(NO_CREDITS, RESULT) as service:
        execution = asyncio.run(RealStage(service.origin).execute())
        first, second = service.asked
    assert (execution.state, execution.credits, execution.result) == (ReceiptState.DONE, 3, {"rows": [[2026, 4.1]]})
    assert first.body == second.body
    assert (first.path, first.headers["x-request-id"]) == ("/v2/scrape", UPSTREAM_ID)
    assert [one.headers["authorization"] for one in (first, second)] == ["Bearer k-demo", "Bearer k-spare"]


def test_over_a_real_line_a_slow_answer_is_unknown_and_its_unit_stays() -> None:
    with scripted_service(RESULT, pause_s=0.05) as service:
        stage = RealStage(service.origin, attempt_s=0.3)
        execution = asyncio.run(stage.execute())
    assert (execution.state, execution.trouble) == (ReceiptState.UNKNOWN, Trouble.TIMEOUT)
    assert len(service.asked) == 1
    assert (stage.allowances.confirmed, stage.allowances.released) == ([], [])


def test_over_a_real_line_a_closed_port_executes_nothing() -> None:
    with scripted_service(RESULT) as service:
        origin = service.origin
    stage = RealStage(origin)
    execution = asyncio.run(stage.execute())
    assert (execution.state, execution.credits) == (ReceiptState.REFUSED, 0)
    assert len(stage.allowances.released) == 1


def test_an_answer_larger_than_the_line_takes_is_unknown() -> None:
    item = {"provider": TOOL.provider, "capability": TOOL.capability, "creditsCost": 1, "data": "x" * 1_048_576}
    body = {"success": True, "data": {"alexandria": [item], "creditsCost": 1}}
    with scripted_service(answer_of({"status": 200, "body": body})) as service:
        execution = asyncio.run(RealStage(service.origin).execute())
    assert (execution.state, execution.trouble) == (ReceiptState.UNKNOWN, Trouble.RESPONSE_TOO_LARGE)
