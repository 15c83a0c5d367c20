"""What every `Retriever` promises, kept by the contract kind: over scripted lines, and against a hostile server."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shared.adapters.clock import SystemClock
from shared.adapters.exchanges import PinnedExchanges
from shared.adapters.resolver import SystemResolver
from shared.domain.deadlines import Deadline
from shared.domain.passages import Question, Retrieval, Warning_
from shared.domain.registrations import Capabilities, SigningSecrets, Source
from shared.errors import ConnectionFailed, ExchangeError, ExchangeTimeout, Refused, ResponseTooLarge
from shared.ports.exchange import Exchange, OutboundAnswer
from shared.ports.retriever import Declaration, Retriever
from shared.providers.contract import ContractRetriever
from tests.support.builders import NOW, SIGNING_SECRET, a_source
from tests.support.fake_exchanges import DROPPED_ONCE, FakeExchanges, Sent, Step, json_answer
from tests.support.fakes import FakeClock
from tests.support.hostile_provider import BEHAVIOURS, HostileProvider, answer_of, hostile_provider, result

FIXTURES = Path(__file__).parents[2] / "fixtures" / "providers" / "contract"
STATUSES = json.loads((FIXTURES / "statuses.json").read_text())
GOOD = json_answer(answer_of(result(1), result(2)))
SECRETS = SigningSecrets(SIGNING_SECRET)
QUESTION = Question(query="50% off — naïve café 渡輪", limit=7, locale="de-DE", locale_fallback="en")
ALL = Capabilities(locale=True, locale_fallback=True)


class Stage:
    """The retriever over scripted lines, at a time that stands still."""

    def __init__(self, *steps: Step) -> None:
        self.clock = FakeClock()
        self.exchanges = FakeExchanges(clock=self.clock)
        self.retriever: Retriever = ContractRetriever(clock=self.clock, allow_test_names=False)
        self._steps = steps

    def line(self, source: Source) -> Exchange:
        self.exchanges.script(source.id, *self._steps)
        return self.exchanges.open(source, deadline=Deadline.after(10, now_s=self.clock.monotonic()))

    def retrieve(self, question: Question = QUESTION, *, secrets: SigningSecrets = SECRETS, **source: Any) -> Retrieval:
        asked = a_source(**source)
        return asyncio.run(self.retriever.retrieve(asked, question, secrets=secrets, exchange=self.line(asked)))

    def declare(self, **source: Any) -> Declaration:
        asked = a_source(**source)
        return asyncio.run(self.retriever.declare(asked, secrets=SECRETS, exchange=self.line(asked)))

    @property
    def sent(self) -> list[Sent]:
        return self.exchanges.sent


def signatures_of(sent: Sent) -> dict[str, list[str]]:
    parts: dict[str, list[str]] = {}
    for part in sent.headers["x-helpthread-signature"].split(","):
        name, _, value = part.partition("=")
        parts.setdefault(name, []).append(value)
    return parts


def expected_signature(sent: Sent, secret: str) -> str:
    """From the recorded bytes and headers alone, as a provider computes it."""
    parts = signatures_of(sent)
    signed = f"{parts['t'][0]}.{parts['n'][0]}.".encode() + sent.request.body
    return hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


# --- the request ---
def test_a_retrieval_is_one_signed_post_of_json() -> None:
    stage = Stage(GOOD)
    stage.retrieve(base_url="https://kb.fern-desk.test/v1")
    sent = stage.sent[0]
    assert (sent.request.method, sent.request.url) == ("POST", "https://kb.fern-desk.test/v1/retrieve")
    nonce = sent.headers["x-helpthread-request"]
    assert re.fullmatch(r"[0-9a-f]{32}", nonce)
    assert signatures_of(sent) == {"t": [str(int(NOW))], "n": [nonce], "v1": [expected_signature(sent, SIGNING_SECRET)]}
    assert {name: value for name, value in sent.headers.items() if "nature" not in name and "request" not in name} == {
        "x-helpthread-knowledge-version": "1",
        "x-helpthread-deadline-ms": "10000",
        "accept": "application/json",
        "user-agent": "knowledge-gateway/1",
        "content-type": "application/json",
    }


def test_both_secrets_sign_during_a_rotation() -> None:
    stage = Stage(GOOD)
    old = "kgs_" + "0d" * 32
    stage.retrieve(secrets=SigningSecrets(SIGNING_SECRET, old))
    sent = stage.sent[0]
    assert signatures_of(sent)["v1"] == [expected_signature(sent, SIGNING_SECRET), expected_signature(sent, old)]


def test_a_resend_carries_the_same_bytes_under_a_new_nonce_and_signature() -> None:
    stage = Stage(DROPPED_ONCE, GOOD)
    stage.retrieve()
    first, second = stage.sent
    assert first.request.body is second.request.body
    assert first.headers["x-helpthread-request"] != second.headers["x-helpthread-request"]
    for sent in (first, second):
        assert signatures_of(sent)["v1"] == [expected_signature(sent, SIGNING_SECRET)]


def test_the_text_of_the_query_is_sent_as_it_is() -> None:
    stage = Stage(GOOD)
    stage.retrieve(capabilities=ALL)
    assert "50% off — naïve café 渡輪".encode() in stage.sent[0].request.body


@pytest.mark.parametrize(
    ("capabilities", "question", "body"),
    [
        (Capabilities(), QUESTION, {"query": QUESTION.query, "limit": 7}),
        (Capabilities(locale=True), QUESTION, {"query": QUESTION.query, "limit": 7, "locale": "de-DE"}),
        (Capabilities(locale_fallback=True), QUESTION, {"query": QUESTION.query, "limit": 7, "localeFallback": "en"}),
        (ALL, QUESTION, {"query": QUESTION.query, "limit": 7, "locale": "de-DE", "localeFallback": "en"}),
        (ALL, Question(query="x"), {"query": "x", "limit": 10}),
        (ALL, Question(query="x", limit=500), {"query": "x", "limit": 50}),
        (
            ALL,
            Question(query="x", conversation_id="c1"),
            {"query": "x", "limit": 10, "context": {"conversationId": "c1"}},
        ),
    ],
)
def test_the_body_holds_what_the_provider_declared_and_nothing_else(
    capabilities: Capabilities, question: Question, body: dict[str, object]
) -> None:
    stage = Stage(GOOD)
    stage.retrieve(question, capabilities=capabilities)
    assert json.loads(stage.sent[0].request.body) == body


def test_a_query_over_1024_characters_is_refused_and_not_cut() -> None:
    stage = Stage(GOOD)
    stage.retrieve(Question(query="渡" * 1024))
    with pytest.raises(Refused) as refusal:
        stage.retrieve(Question(query="渡" * 1025))
    assert refusal.value.code == "query_too_long"
    assert len(stage.sent) == 1


def test_the_limits_of_the_kind_are_those_of_the_contract() -> None:
    limits = Stage().retriever.limits
    assert (limits.query_characters, limits.results, limits.timeout_s) == (1024, 50, 10.0)


# --- the answer ---
def test_passages_come_back_in_the_providers_order_and_never_more_than_asked_for() -> None:
    answer = json_answer(answer_of(*(result(n) for n in range(20))))
    retrieval = Stage(answer).retrieve(Question(query="x", limit=3))
    assert [p.document_id for p in retrieval.passages] == ["doc-0", "doc-1", "doc-2"]
    assert retrieval.warnings == (Warning_.SURPLUS_CUT,)


@pytest.mark.parametrize("case", STATUSES, ids=lambda case: f"{case['status']} {case['headers']}")
def test_a_status_means_one_code(case: dict[str, Any]) -> None:
    answer = OutboundAnswer(status=case["status"], headers=case["headers"], body=b'{"words":"UPSTREAM-WORDS"}')
    with pytest.raises(ExchangeError) as refusal:
        Stage(answer).retrieve()
    expected = None if case["retryAfterS"] is None else NOW + case["retryAfterS"]
    assert (refusal.value.code, refusal.value.retry_at) == (case["code"], expected)
    assert "UPSTREAM" not in repr(refusal.value)


@pytest.mark.parametrize(
    "content_type",
    ["application/json", "application/json; charset=utf-8", "Application/JSON", "application/vnd.kb+json"],
)
def test_json_is_read_under_each_of_its_names(content_type: str) -> None:
    assert (
        len(
            Stage(OutboundAnswer(status=200, headers={"content-type": content_type}, body=GOOD.body))
            .retrieve()
            .passages
        )
        == 2
    )


@pytest.mark.parametrize(
    "content_type", ["", "text/html", "text/plain", "text/json", "application/jsonp", "application/x+jsonx"]
)
def test_what_does_not_call_itself_json_is_refused(content_type: str) -> None:
    headers = {"content-type": content_type} if content_type else {}
    for act in (Stage.retrieve, Stage.declare):
        with pytest.raises(Refused) as refusal:
            act(Stage(OutboundAnswer(status=200, headers=headers, body=GOOD.body)))
        assert refusal.value.code == "invalid_response"


@pytest.mark.parametrize("error", [ConnectionFailed(), ExchangeTimeout(), ResponseTooLarge()])
def test_a_failed_line_is_passed_on_as_it_is_and_not_tried_again(error: ExchangeError) -> None:
    stage = Stage(error)
    with pytest.raises(type(error)):
        stage.retrieve()
    assert len(stage.sent) == 1


# --- what a provider says of itself ---
def test_capabilities_are_asked_for_with_a_get_signed_over_no_bytes() -> None:
    stage = Stage(json_answer({"contractVersion": 1, "capabilities": {"scoring": True}}))
    declaration = stage.declare(base_url="https://kb.fern-desk.test/v1")
    sent = stage.sent[0]
    assert (sent.request.method, sent.request.url) == ("GET", "https://kb.fern-desk.test/v1/capabilities")
    assert sent.request.body == b""
    assert "content-type" not in sent.headers
    assert signatures_of(sent)["v1"] == [expected_signature(sent, SIGNING_SECRET)]
    assert declaration == Declaration(contract_version=1, capabilities=Capabilities(scoring=True))


@pytest.mark.parametrize("status", [404, 405])
def test_a_provider_without_a_capabilities_page_is_reachable_and_declares_nothing(status: int) -> None:
    declaration = Stage(OutboundAnswer(status=status, headers={}, body=b"")).declare()
    assert declaration == Declaration(contract_version=1, capabilities=Capabilities(), listed=False)


def test_a_rejected_signature_shows_when_capabilities_are_read() -> None:
    with pytest.raises(Refused) as refusal:
        Stage(OutboundAnswer(status=401, headers={}, body=b"")).declare()
    assert refusal.value.code == "unauthorized"


# --- against a real server ---
@pytest.fixture(scope="module")
def server() -> Iterator[HostileProvider]:
    with hostile_provider() as provider:
        yield provider


class RealStage:
    """The retriever over the real adapter, on one event loop from beginning to end."""

    def __init__(self, server: HostileProvider) -> None:
        self._clock = SystemClock()
        self._server = server
        self._exchanges = PinnedExchanges(
            resolver=SystemResolver(), clock=self._clock, allow_loopback_http=True, private_network_available=False
        )
        self._retriever = ContractRetriever(clock=self._clock, allow_test_names=False)

    async def retrieve(self, name: str, *, seconds: float = 10) -> Retrieval:
        source, line = self._open(name, seconds)
        return await self._retriever.retrieve(source, Question(query="ferry"), secrets=SECRETS, exchange=line)

    async def declare(self, name: str, *, seconds: float = 10) -> Declaration:
        source, line = self._open(name, seconds)
        return await self._retriever.declare(source, secrets=SECRETS, exchange=line)

    async def close(self) -> None:
        self._exchanges.close()
        await asyncio.sleep(0)

    def _open(self, name: str, seconds: float) -> tuple[Source, Exchange]:
        source = a_source(base_url=self._server.url(name))
        return source, self._exchanges.open(source, deadline=Deadline.after(seconds, now_s=self._clock.monotonic()))


def ask_for_real(server: HostileProvider, name: str, *, declare: bool = False) -> Any:
    async def asked() -> object:
        stage = RealStage(server)
        try:
            return await (stage.declare(name) if declare else stage.retrieve(name))
        finally:
            await stage.close()

    return asyncio.run(asked())


CODES = {
    "redirect": "upstream_error",
    "redirect_private": "upstream_error",
    "redirect_to_itself": "upstream_error",
    "nan": "invalid_response",
    "infinity": "invalid_response",
    "overflowing_number": "invalid_response",
    "duplicate_keys": "invalid_response",
    "deep": "invalid_response",
    "not_json": "invalid_response",
    "not_utf8": "invalid_response",
    "no_body": "invalid_response",
    "html": "invalid_response",
    "html_called_json": "invalid_response",
    "json_called_text": "invalid_response",
    "untyped": "invalid_response",
    "lone_surrogate": "invalid_response",
    "no_version": "invalid_response",
    "wrong_type": "invalid_response",
    "missing_field": "invalid_response",
    "wrong_version": "unsupported_version",
    "unauthorized": "unauthorized",
    "forbidden": "forbidden",
    "not_found": "not_found",
    "rate_limited": "rate_limited",
    "unavailable": "upstream_error",
    "error": "upstream_error",
    "teapot": "upstream_error",
    "lie_about_size": "invalid_response",
    "gzip_bomb": "response_too_large",
    "close_in_body": "connection_failed",
}


@pytest.mark.parametrize(("name", "code"), CODES.items(), ids=CODES)
def test_a_hostile_answer_becomes_one_code(server: HostileProvider, name: str, code: str) -> None:
    before = len(server.requests)
    with pytest.raises(ExchangeError) as refusal:
        ask_for_real(server, name)
    assert refusal.value.code == code
    assert len(server.requests) == before + 1


def test_the_bytes_that_arrive_are_the_bytes_that_were_signed(server: HostileProvider) -> None:
    for declare in (False, True):
        ask_for_real(server, "good", declare=declare)
        seen = server.requests[-1]
        time, nonce, signature = re.fullmatch(
            r"t=([0-9]+),n=([0-9a-f]{32}),v1=([0-9a-f]{64})", seen.headers["x-helpthread-signature"]
        ).groups()
        signed = f"{time}.{nonce}.".encode() + seen.body
        assert signature == hmac.new(SIGNING_SECRET.encode(), signed, hashlib.sha256).hexdigest()
        assert seen.headers["x-helpthread-request"] == nonce


@pytest.mark.parametrize(
    ("name", "documents", "warnings"),
    [
        ("good", 3, []),
        ("empty", 0, []),
        ("zipped", 1, []),
        ("surplus", 10, [Warning_.SURPLUS_CUT]),
        ("internal", 2, []),
        ("mislabel", 3, [Warning_.AUDIENCE_MISSING]),
        ("no_audience", 2, [Warning_.AUDIENCE_MISSING]),
        ("long_fields", 1, [Warning_.RESULT_DROPPED, Warning_.SNIPPET_CUT]),
        ("dangerous_links", 4, [Warning_.URL_DROPPED]),
        ("markup", 1, []),
        ("secrets_beside", 1, []),
    ],
)
def test_what_can_be_kept_of_an_answer_is_kept(
    server: HostileProvider, name: str, documents: int, warnings: list[Warning_]
) -> None:
    retrieval = ask_for_real(server, name)
    assert len(retrieval.passages) == documents
    assert list(retrieval.warnings) == warnings


def test_a_smallest_provider_declares_nothing(server: HostileProvider) -> None:
    assert ask_for_real(server, "minimal", declare=True).listed is False
    assert ask_for_real(server, "good", declare=True).capabilities.scoring is True


def test_no_behaviour_raises_anything_but_an_exchange_error(server: HostileProvider) -> None:
    async def all_of_them() -> list[object]:
        stage = RealStage(server)
        calls = [call(name, seconds=3) for name in BEHAVIOURS for call in (stage.retrieve, stage.declare)]
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        await stage.close()
        return outcomes

    outcomes = asyncio.run(all_of_them())
    assert len(outcomes) == 2 * len(BEHAVIOURS)
    for outcome in outcomes:
        assert isinstance(outcome, Retrieval | Declaration | ExchangeError), repr(outcome)
