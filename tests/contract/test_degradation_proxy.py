"""The proxy before the backend does what its rules say, to the calls that they are about and to no others."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
    ReadTimeoutError,
)

from shared.adapters import aws
from shared.adapters.batches import rows_of
from shared.adapters.rows import row
from shared.errors import Unavailable
from tests.support.fault_proxy import (
    CONFLICTS,
    DENIES,
    FAILS,
    THROTTLES,
    Breaks,
    FaultProxy,
    Garbles,
    Hangs,
    Late,
    LeavesForLater,
    Rule,
    Says,
    fault_proxy,
)

pytestmark = [pytest.mark.emulator]

_ONCE = Config(retries={"total_max_attempts": 1}, connect_timeout=1, read_timeout=0.5)


class Tables:
    """One client without retries, and two tables."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.dynamodb = boto3.client("dynamodb", config=_ONCE)
        self.kms = boto3.client("kms", config=_ONCE)
        self.secrets = boto3.client("secretsmanager", config=_ONCE)
        self.cards, self.ledger = environment["KG_TABLE_CARDS"], environment["KG_TABLE_LEDGER_PUBLIC"]
        self.secret_id, self.key_id = environment["KG_ROOT_SECRET"], environment["KG_KEY_PUBLIC"]

    def write(self, table: str, partition: str = "a") -> None:
        self.dynamodb.put_item(TableName=table, Item={"pk": {"S": partition}, "sk": {"S": "-"}})

    def is_there(self, table: str, partition: str = "a") -> bool:
        key = {"pk": {"S": partition}, "sk": {"S": "-"}}
        return "Item" in self.dynamodb.get_item(TableName=table, Key=key, ConsistentRead=True)


@pytest.fixture
def proxy(emulator: str) -> Iterator[FaultProxy]:
    with fault_proxy(emulator) as running:
        yield running


@pytest.fixture
def tables(proxy: FaultProxy, aws_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Tables:
    monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.url)
    return Tables(aws_environment)


def code_of(refusal: pytest.ExceptionInfo[ClientError]) -> str:
    return str(refusal.value.response["Error"]["Code"])


def test_what_no_rule_is_about_goes_through_and_is_noted(proxy: FaultProxy, tables: Tables) -> None:
    tables.write(tables.cards)
    assert tables.is_there(tables.cards)
    assert tables.secrets.get_secret_value(SecretId=tables.secret_id)["SecretString"]
    assert tables.kms.encrypt(KeyId=tables.key_id, Plaintext=b"x")["CiphertextBlob"]
    assert [(call.service, call.operation, call.places) for call in proxy.calls] == [
        ("dynamodb", "PutItem", ((tables.cards, "a", "-"),)),
        ("dynamodb", "GetItem", ((tables.cards, "a", "-"),)),
        ("secretsmanager", "GetSecretValue", ()),
        ("kms", "Encrypt", ()),
    ]


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (THROTTLES, "ProvisionedThroughputExceededException"),
        (Says("ThrottlingException"), "ThrottlingException"),
        (Says("RequestLimitExceeded"), "RequestLimitExceeded"),
        (CONFLICTS, "TransactionConflictException"),
        (DENIES, "AccessDeniedException"),
        (FAILS, "InternalServerError"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_rule_answers_with_an_error_of_the_services(
    proxy: FaultProxy, tables: Tables, fault: Says, code: str
) -> None:
    with proxy.doing(Rule(fault=fault, operation="PutItem", times=1)) as rule:
        with pytest.raises(ClientError) as refusal:
            tables.write(tables.cards)
        assert not tables.is_there(tables.cards), "nothing was done"
        tables.write(tables.cards)
    assert (code_of(refusal), rule.count) == (code, 1)
    assert refusal.value.response["ResponseMetadata"]["HTTPStatusCode"] == fault.status


@pytest.mark.parametrize(
    ("service", "code"),
    [
        ("kms", "ThrottlingException"),
        ("kms", "KMSInternalException"),
        ("secretsmanager", "InternalServiceError"),
    ],
)
def test_a_rule_is_about_one_service(proxy: FaultProxy, tables: Tables, service: str, code: str) -> None:
    calls = {
        "kms": lambda: tables.kms.encrypt(KeyId=tables.key_id, Plaintext=b"x"),
        "secretsmanager": lambda: tables.secrets.get_secret_value(SecretId=tables.secret_id),
    }
    its_own = calls.pop(service)
    with proxy.doing(Rule(fault=Says(code), service=service)) as rule:
        tables.write(tables.cards)
        for call in calls.values():
            call()
        with pytest.raises(ClientError) as refusal:
            its_own()
    assert (code_of(refusal), rule.count) == (code, 1)


def test_a_rule_is_about_one_table_or_one_partition(proxy: FaultProxy, tables: Tables) -> None:
    with proxy.doing(Rule(fault=THROTTLES, table=tables.cards, partition="POOL#")) as rule:
        tables.write(tables.ledger, "POOL#exa")
        tables.write(tables.cards, "CARD")
        with pytest.raises(ClientError):
            tables.write(tables.cards, "POOL#exa")
    assert rule.count == 1
    tables.write(tables.cards, "POOL#exa")


def test_a_transaction_is_cancelled_for_reasons(proxy: FaultProxy, tables: Tables) -> None:
    item = {"pk": {"S": "a"}, "sk": {"S": "-"}}
    reasons = ("None", "TransactionConflict")
    parts = [{"Put": {"TableName": table, "Item": item}} for table in (tables.cards, tables.ledger)]
    cancels = Says("TransactionCanceledException", reasons=reasons)
    with proxy.doing(Rule(fault=cancels, table=tables.ledger)), pytest.raises(ClientError) as refusal:
        tables.dynamodb.transact_write_items(TransactItems=parts)
    assert [reason["Code"] for reason in refusal.value.response["CancellationReasons"]] == list(reasons)
    assert not tables.is_there(tables.cards)


def test_of_a_batch_the_keys_of_one_table_are_left_for_later(proxy: FaultProxy, tables: Tables) -> None:
    places = [(table, "a", "-") for table in (tables.cards, tables.ledger)]
    for table, *_ in places:
        tables.write(table)
    key = {"Keys": [{"pk": {"S": "a"}, "sk": {"S": "-"}}], "ConsistentRead": True}
    with proxy.doing(Rule(fault=LeavesForLater(tables.cards), operation="BatchGetItem", times=2)) as rule:
        answer = tables.dynamodb.batch_get_item(RequestItems={table: key for table, *_ in places})
        assert set(answer["UnprocessedKeys"]) == {tables.cards}
        assert [bool(answer["Responses"].get(table)) for table, *_ in places] == [False, True]
        found = rows_of(tables.dynamodb, places)
    assert (set(found), rule.count) == (set(places), 2)


def test_of_a_batch_the_keys_of_one_kind_of_partition_are_left_for_later(proxy: FaultProxy, tables: Tables) -> None:
    keys = [{"pk": {"S": partition}, "sk": {"S": "-"}} for partition in ("CIRCUITS", "CREDENTIAL")]
    with proxy.doing(Rule(fault=LeavesForLater(partition="CIRC"), operation="BatchGetItem", partition="CIRC")) as rule:
        for wanted, left in ((keys, 1), (keys[1:], 0), (keys[:1], 1)):
            answer = tables.dynamodb.batch_get_item(RequestItems={tables.cards: {"Keys": wanted}})
            assert len(answer["UnprocessedKeys"].get(tables.cards, {"Keys": []})["Keys"]) == left
    assert rule.count == 2


def test_an_answer_comes_late(proxy: FaultProxy, tables: Tables) -> None:
    started_s = time.monotonic()
    with proxy.doing(Rule(fault=Late(0.2), operation="PutItem")):
        tables.write(tables.cards)
    assert time.monotonic() - started_s >= 0.2
    assert tables.is_there(tables.cards)


@pytest.mark.parametrize("is_done", [False, True], ids=["undone", "done"])
def test_an_answer_never_comes(proxy: FaultProxy, tables: Tables, is_done: bool) -> None:
    with proxy.doing(Rule(fault=Hangs(is_done=is_done), operation="PutItem", sort="-")) as rule:
        with pytest.raises(ReadTimeoutError):
            tables.write(tables.cards)
        rule.wait()
    assert tables.is_there(tables.cards) is is_done


def test_whoever_is_held_is_cut_off_when_the_rule_ends(proxy: FaultProxy, tables: Tables) -> None:
    patient = boto3.client("dynamodb", config=Config(retries={"total_max_attempts": 1}, read_timeout=30))
    ends: list[BaseException] = []

    def ask() -> None:
        try:
            patient.describe_table(TableName=tables.cards)
        except (BotoCoreError, HTTPClientError) as end:
            ends.append(end)

    asking = threading.Thread(target=ask)
    with proxy.doing(Rule(fault=Hangs())) as rule:
        asking.start()
        rule.wait()
        assert proxy.is_holding(rule)
    asking.join(10)
    assert not proxy.is_holding(rule)
    assert [type(end) for end in ends] == [ConnectionClosedError]


@pytest.mark.parametrize(
    ("fault", "is_done"),
    [(Breaks(), False), (Breaks(is_done=True), True), (Breaks(in_answer=True), True)],
    ids=["before the work", "after the work", "within the answer"],
)
def test_a_connection_breaks(proxy: FaultProxy, tables: Tables, fault: Breaks, is_done: bool) -> None:
    with (
        proxy.doing(Rule(fault=fault, operation="PutItem")) as rule,
        pytest.raises((BotoCoreError, HTTPClientError)),
    ):
        tables.write(tables.cards)
    assert rule.count == 1
    assert tables.is_there(tables.cards) is is_done


@pytest.mark.parametrize("body", [b"<html>It works</html>", b""], ids=["a page", "nothing"])
def test_what_is_no_answer_is_no_row_that_is_not_there(proxy: FaultProxy, tables: Tables, body: bytes) -> None:
    tables.write(tables.cards)
    with proxy.doing(Rule(fault=Garbles(body), operation="GetItem")) as rule:
        assert not tables.is_there(tables.cards), "the client library alone takes it for one"
        with pytest.raises(Unavailable):
            row(aws.dynamodb(), tables.cards, "a", "-")
    assert rule.count >= 2


def test_nobody_is_there_for_a_while(proxy: FaultProxy, tables: Tables) -> None:
    tables.write(tables.cards)
    with proxy.refusing():
        for _ in range(3):
            with pytest.raises((EndpointConnectionError, ConnectTimeoutError)):
                tables.write(tables.ledger)
    assert tables.is_there(tables.cards)
    assert not tables.is_there(tables.ledger)
