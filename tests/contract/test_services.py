"""Our client and boto3 beside each other, on the embedded backend: the same questions, the same answers."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any, Final

import boto3
import pytest
from botocore.exceptions import ClientError

from shared.adapters.service_faults import ServiceRefusal
from tests.contract.worlds import StoreWorld

pytestmark = pytest.mark.emulator

KEY: Final = {"pk": {"S": "a"}, "sk": {"S": "-"}}
ITEM: Final = {
    **KEY,
    "text": {"S": 'Fähre "7"  & \\ \u2028'},
    "number": {"N": "1790000000.1234567"},
    "sealed": {"B": b"\x00\x01\xff"},
    "map": {"M": {"list": {"L": [{"BOOL": True}, {"NULL": True}, {"SS": ["a", "b"]}]}}},
}


def plain(value: Any) -> Any:
    """Without metadata; bytes as they are on the wire."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {name: plain(member) for name, member in value.items() if name != "ResponseMetadata"}
    return [plain(member) for member in value] if isinstance(value, list) else value


def outcome(call: Callable[[], Any]) -> Any:
    """An answer, or the code and the reasons of a refusal."""
    try:
        return plain(call())
    except ClientError as refusal:
        found: dict[str, Any] = refusal.response  # type: ignore[assignment]
        return found["Error"]["Code"], _reasons(found)
    except ServiceRefusal as refusal:
        return refusal.code, _reasons(refusal.document)


def _reasons(document: Any) -> Any:
    return [(reason.get("Code"), plain(reason.get("Item"))) for reason in document.get("CancellationReasons") or []]


def both(store: StoreWorld, operation: str, **asked: Any) -> Any:
    """What both of them get, one after the other; it has to be the same."""
    theirs = outcome(lambda: getattr(store.clients.raw, operation)(**asked))
    ours = outcome(lambda: getattr(store.clients.dynamodb, operation)(**asked))
    assert ours == theirs
    return ours


def test_reads_and_writes_of_single_rows(store: StoreWorld) -> None:
    table = store.public_table
    assert both(store, "get_item", TableName=table, Key=KEY) == {}
    both(store, "put_item", TableName=table, Item=ITEM)
    found = both(store, "get_item", TableName=table, Key=KEY, ConsistentRead=True, ReturnConsumedCapacity="TOTAL")
    assert found["Item"] == plain(ITEM)
    updated = both(
        store,
        "update_item",
        TableName=table,
        Key=KEY,
        UpdateExpression="SET #n = :n",
        ExpressionAttributeNames={"#n": "number"},
        ExpressionAttributeValues={":n": {"N": "2"}},
        ReturnValues="ALL_NEW",
    )
    assert updated["Attributes"]["number"] == {"N": "2"}
    both(store, "delete_item", TableName=table, Key=KEY)


def test_queries_with_pages(store: StoreWorld) -> None:
    for number in range(3):
        item = {**ITEM, "sk": {"S": str(number)}}
        store.clients.dynamodb.put_item(TableName=store.public_table, Item=item)
    asked: dict[str, Any] = {
        "TableName": store.public_table,
        "KeyConditionExpression": "pk = :pk",
        "ExpressionAttributeValues": {":pk": {"S": "a"}},
        "Limit": 2,
    }
    first = both(store, "query", **asked)
    assert first["Count"] == 2
    assert both(store, "query", **asked, ExclusiveStartKey=first["LastEvaluatedKey"])["Count"] == 1


def test_batches(store: StoreWorld) -> None:
    request = {store.public_table: [{"PutRequest": {"Item": ITEM}}]}
    assert both(store, "batch_write_item", RequestItems=request)["UnprocessedItems"] == {}
    read = both(store, "batch_get_item", RequestItems={store.public_table: {"Keys": [KEY], "ConsistentRead": True}})
    assert read["Responses"] == {store.public_table: [plain(ITEM)]}


def test_transactions_and_why_they_fail(store: StoreWorld) -> None:
    put = {"Put": {"TableName": store.public_table, "Item": ITEM}}
    assert both(store, "transact_write_items", TransactItems=[put]) == {}
    refused = {
        "Put": put["Put"]
        | {"ConditionExpression": "attribute_not_exists(pk)", "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    }
    other = {"Put": {"TableName": store.public_table, "Item": ITEM | {"sk": {"S": "other"}}}}
    code, reasons = both(store, "transact_write_items", TransactItems=[other, refused])
    assert code == "TransactionCanceledException"
    assert reasons == [("None", None), ("ConditionalCheckFailed", plain(ITEM))]


@pytest.mark.parametrize(
    ("operation", "asked", "code"),
    [
        (
            "put_item",
            {"Item": KEY, "ConditionExpression": "attribute_exists(pk)"},
            "ConditionalCheckFailedException",
        ),
        ("get_item", {"TableName": "no-such-table", "Key": KEY}, "ResourceNotFoundException"),
        ("put_item", {"Item": {"pk": {"S": "a"}}}, "ValidationException"),
    ],
)
def test_refusals(store: StoreWorld, operation: str, asked: dict[str, Any], code: str) -> None:
    assert both(store, operation, **{"TableName": store.public_table, **asked}) == (code, [])


def test_keys_open_what_the_other_sealed(store: StoreWorld, aws_environment: dict[str, str]) -> None:
    theirs, ours = boto3.client("kms"), store.clients.kms
    asked: dict[str, Any] = {"KeyId": aws_environment["KG_KEY_PUBLIC"], "EncryptionContext": {"exposure": "x"}}
    for seals, opens in ((theirs, ours), (ours, theirs), (ours, ours)):
        sealed = seals.encrypt(Plaintext=b"\x00secret", **asked)["CiphertextBlob"]
        assert opens.decrypt(CiphertextBlob=sealed, **asked)["Plaintext"] == b"\x00secret"
        wrong = asked | {"EncryptionContext": {"exposure": "y"}}
        with pytest.raises((ServiceRefusal, ClientError), match="InvalidCiphertext"):
            opens.decrypt(CiphertextBlob=sealed, **wrong)


def test_a_secret_is_read_as_it_was_kept(store: StoreWorld, aws_environment: dict[str, str]) -> None:
    secret_id = aws_environment["KG_ROOT_SECRET"]
    store.clients.raw_secrets.put_secret_value(SecretId=secret_id, SecretString='ä "kept"\n')
    assert store.clients.secrets_manager.get_secret_value(SecretId=secret_id)["SecretString"] == 'ä "kept"\n'
    with pytest.raises(ServiceRefusal, match="ResourceNotFoundException"):
        store.clients.secrets_manager.get_secret_value(SecretId="no-such-secret")
