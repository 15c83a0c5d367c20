"""A call of a service: what is sent, what is taken for an answer, and when it is sent again."""

from __future__ import annotations

import json
import zlib
from typing import Any

import pytest

from shared.adapters.service_client import Service, ServiceClient
from shared.adapters.service_faults import (
    AnswerTimedOut,
    ConnectionLost,
    DamagedAnswer,
    NotAnAnswer,
    NotConfigured,
    NotConnected,
    ServiceFault,
    ServiceRefusal,
)
from shared.adapters.service_places import Place
from shared.adapters.service_wire import WireAnswer
from shared.adapters.services import DynamoDBClient, KMSClient
from tests.support.told_wire import ToldWire

KEY = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret"}
PLACE = Place("tables.example.com", 443, is_tls=True)
TABLES = Service("dynamodb", target="Tables_1", json_version="1.0")


def ok(document: object) -> WireAnswer:
    return WireAnswer(200, {}, json.dumps(document).encode())


def says(code: str, status: int = 400) -> WireAnswer:
    return WireAnswer(status, {}, json.dumps({"__type": f"com.amazon.coral#{code}", "message": "words"}).encode())


class Stage:
    """A client, what it sent, and how long it paused for at most (seconds)."""

    def __init__(self, *answers: WireAnswer | ServiceFault, attempts: int = 2, **environment: str) -> None:
        self.wire = ToldWire(*answers)
        self.pauses: list[float] = []
        self.client = ServiceClient(
            TABLES,
            self.wire,
            place=PLACE,
            region="eu-central-1",
            attempts=attempts,
            environment=KEY | environment,
            now=lambda: 1_790_000_000.0,
            pause=self.pauses.append,
        )

    def call(self, **asked: Any) -> dict[str, Any]:
        return self.client.call("GetItem", asked)


def test_a_call_is_a_signed_request_of_the_protocol() -> None:
    stage = Stage(ok({"Item": {"pk": {"S": "a"}}}))
    assert stage.call(TableName="t", Key={"pk": {"S": "a"}}) == {"Item": {"pk": {"S": "a"}}}
    (sent,) = stage.wire.sent
    assert json.loads(sent.body) == {"TableName": "t", "Key": {"pk": {"S": "a"}}}
    assert {name: sent.headers[name] for name in ("host", "content-type", "x-amz-target", "accept-encoding")} == {
        "host": "tables.example.com",
        "content-type": "application/x-amz-json-1.0",
        "x-amz-target": "Tables_1.GetItem",
        "accept-encoding": "identity",
    }
    assert (
        "/eu-central-1/dynamodb/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-target, "
        in (sent.headers["authorization"])
    )


def test_bytes_travel_as_base64_and_come_back_as_they_were() -> None:
    stage = Stage(ok({"Plaintext": "AAH/"}))
    assert KMSClient(stage.client).decrypt(CiphertextBlob=b"\x00\x01\xff", KeyId="k")["Plaintext"] == b"\x00\x01\xff"
    assert json.loads(stage.wire.sent[0].body) == {"CiphertextBlob": "AAH/", "KeyId": "k"}


@pytest.mark.parametrize("document", [{}, {"Plaintext": None}, {"Plaintext": 1}, {"Plaintext": "%"}])
def test_an_answer_that_lacks_its_bytes_is_none(document: object) -> None:
    with pytest.raises(NotAnAnswer):
        KMSClient(Stage(ok(document)).client).decrypt(CiphertextBlob=b"x", KeyId="k")


def test_a_member_that_is_null_is_not_there() -> None:
    assert Stage(ok({"Item": None, "ConsumedCapacity": {"n": None}})).call() == {"ConsumedCapacity": {"n": None}}


def test_what_json_cannot_say_is_never_sent() -> None:
    stage = Stage(ok({}))
    for value in (object(), float("nan"), {1, 2}):
        with pytest.raises((TypeError, ValueError)):
            stage.call(value=value)
    assert stage.wire.sent == []


# --- what is no answer ---
@pytest.mark.parametrize("body", [b"", b"<html>It works</html>", b"[]", b'"text"', b"null", b"\xff", b"[" * 100_000])
def test_a_success_that_is_no_object_is_no_answer_and_not_asked_for_again(body: bytes) -> None:
    stage = Stage(WireAnswer(200, {}, body))
    with pytest.raises(NotAnAnswer):
        stage.call()
    assert len(stage.wire.sent) == 1


def test_an_answer_with_another_checksum_is_damaged_and_asked_for_again() -> None:
    body = b'{"Item":{}}'
    good = WireAnswer(200, {"x-amz-crc32": str(zlib.crc32(body))}, body)
    bad = WireAnswer(200, {"x-amz-crc32": str(zlib.crc32(body) ^ 1)}, body)
    assert Stage(bad, good).call() == {"Item": {}}
    with pytest.raises(DamagedAnswer):
        Stage(bad).call()


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (says("ConditionalCheckFailedException"), "ConditionalCheckFailedException"),
        (WireAnswer(400, {}, b'{"__type":"Plain:http://words"}'), "Plain"),
        (WireAnswer(403, {}, b"<html>"), "403"),
        (WireAnswer(302, {"location": "http://elsewhere"}, b"{}"), "302"),
        (WireAnswer(400, {}, b'{"__type":null}'), "400"),
    ],
)
def test_a_refusal_has_the_services_own_code_or_else_its_status(answer: WireAnswer, code: str) -> None:
    stage = Stage(answer)
    with pytest.raises(ServiceRefusal) as refused:
        stage.call()
    assert (refused.value.code, str(refused.value)) == (code, code)
    assert len(stage.wire.sent) == 1


# --- when it is sent again ---
PASSING = [
    *(says(code) for code in ("ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded")),
    says("TransactionInProgressException"),
    says("InternalServerError", 500),
    WireAnswer(503, {}, b"busy"),
    WireAnswer(429, {}, b"{}"),
    NotConnected(),
    ConnectionLost(),
    AnswerTimedOut(),
]


@pytest.mark.parametrize("fault", PASSING, ids=lambda fault: getattr(fault, "body", type(fault).__name__))
def test_what_may_pass_is_asked_once_more_after_a_pause(fault: Any) -> None:
    stage = Stage(fault, ok({"Item": {}}))
    assert stage.call() == {"Item": {}}
    assert len(stage.pauses) == 1
    assert 0 <= stage.pauses[0] < 0.5
    stage = Stage(fault)
    with pytest.raises(ServiceFault):
        stage.call()
    assert len(stage.wire.sent) == 2
    stage = Stage(fault, ok({}), attempts=1)
    with pytest.raises(ServiceFault):
        stage.call()
    assert (len(stage.wire.sent), stage.pauses) == (1, [])


@pytest.mark.parametrize("code", ["ValidationException", "AccessDeniedException", "TransactionCanceledException"])
def test_what_will_not_pass_is_not_asked_again(code: str) -> None:
    stage = Stage(says(code), ok({}))
    with pytest.raises(ServiceRefusal):
        stage.call()
    assert len(stage.wire.sent) == 1


def test_a_transaction_that_is_sent_again_says_that_it_is_the_same() -> None:
    stage = Stage(ConnectionLost(), ok({}), ok({}))
    tables = DynamoDBClient(stage.client)
    tables.transact_write_items(TransactItems=[])
    tables.transact_write_items(TransactItems=[])
    first, again, other = (json.loads(sent.body)["ClientRequestToken"] for sent in stage.wire.sent)
    assert first == again != other


# --- who asks ---
def test_the_key_of_the_moment_signs_and_its_token_goes_along() -> None:
    environment = dict(KEY)
    wire = ToldWire(ok({}))
    client = ServiceClient(TABLES, wire, place=PLACE, region="r", attempts=1, environment=environment)
    client.call("GetItem", {})
    environment |= {"AWS_ACCESS_KEY_ID": "ASIANEXT", "AWS_SESSION_TOKEN": "token"}
    client.call("GetItem", {})
    first, second = wire.sent
    assert "Credential=AKIDEXAMPLE/" in first.headers["authorization"]
    assert "x-amz-security-token" not in first.headers
    assert "Credential=ASIANEXT/" in second.headers["authorization"]
    assert second.headers["x-amz-security-token"] == "token"
    assert "x-amz-security-token" in second.headers["authorization"]


@pytest.mark.parametrize(
    "broken",
    [
        {"AWS_ACCESS_KEY_ID": ""},
        {"AWS_SECRET_ACCESS_KEY": ""},
        {"AWS_ACCESS_KEY_ID": "a\r\nx: y"},
        {"AWS_SESSION_TOKEN": "a\nb"},
        {"AWS_SESSION_TOKEN": "ä"},
    ],
)
def test_without_a_key_that_can_be_sent_nothing_is(broken: dict[str, str]) -> None:
    stage = Stage(ok({}), **broken)
    with pytest.raises(NotConfigured):
        stage.call()
    assert stage.wire.sent == []


def test_the_trace_goes_along_and_breaks_no_line() -> None:
    stage = Stage(ok({}), _X_AMZN_TRACE_ID="Root=1-5;Parent=2\r\nx-evil: 1")
    stage.call()
    assert stage.wire.sent[0].headers["x-amzn-trace-id"] == "Root=1-5;Parent=2%0D%0Ax-evil:%201"
