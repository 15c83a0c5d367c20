"""What the widget's credentials are tried on: everything internal, and what they must still be able to do."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from infra.pools import POOL_VARIABLES
from infra.tables import PARTITION_KEY, SORT_KEY
from shared.domain.pools import Pool

_KEY = {PARTITION_KEY: {"S": "REHEARSAL"}, SORT_KEY: {"S": "-"}}
_INTERNAL_TABLES = ("RegistrationsInternal", "LedgerInternal", "Cards")
# Rows of live services: the use of keys, and what agents were offered and have run.
_LIVE_ROWS = (
    *((f"POOL#{pool}", sort) for pool in POOL_VARIABLES for sort in ("KEYS", "ALLOWANCE")),
    ("QUOTE#rehearsal", "-"),
    ("RECEIPT#rehearsal", "-"),
)


@dataclass(frozen=True, slots=True)
class Call:
    """One call, by the names that boto3 uses. `about` is what it is aimed at."""

    about: str
    service: str
    operation: str
    parameters: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.service}.{self.operation} on {self.about}"


@dataclass(frozen=True, slots=True)
class Sealed:
    """A ciphertext under the key of an exposure, with the context it was sealed under."""

    key_arn: str
    ciphertext: bytes
    context: dict[str, str]


def as_event(calls: list[Call]) -> dict[str, Any]:
    return {"calls": [asdict(call) for call in calls]}


def allowed(outputs: Mapping[str, str], sealed: Sealed) -> list[Call]:
    """What the widget needs."""
    registrations = outputs["TableRegistrationsPublicName"]
    ledger = outputs["TableLedgerPublicName"]
    return [
        Call("registrations-public", "dynamodb", "get_item", {"TableName": registrations, "Key": _KEY}),
        Call("registrations-public", "dynamodb", "batch_get_item", {"RequestItems": {registrations: {"Keys": [_KEY]}}}),
        Call("registrations-public", "dynamodb", "query", _query(registrations)),
        Call("ledger-public", "dynamodb", "batch_get_item", {"RequestItems": {ledger: {"Keys": [_KEY]}}}),
        Call("ledger-public", "dynamodb", "put_item", {"TableName": ledger, "Item": _KEY}),
        Call("ledger-public", "dynamodb", "update_item", _update(ledger)),
        Call("the public key", "kms", "decrypt", _decrypt(sealed)),
    ]


def forbidden(outputs: Mapping[str, str], *, public: Sealed, internal: Sealed) -> list[Call]:
    """Everything about internal tables, key and secret; on public things, what only other functions do."""
    registrations = outputs["TableRegistrationsPublicName"]
    return [
        *(call for name in _INTERNAL_TABLES for call in _every_use(name, outputs[f"Table{name}Name"])),
        *_every_key_use("the internal key", internal),
        *_every_secret_use("the root secret", outputs["RootSecretArn"], "The secret part of the root admin token."),
        *(call for pool in POOL_VARIABLES for call in _every_pool_use(pool, outputs)),
        *(
            call
            for partition, sort in _LIVE_ROWS
            for call in _row_uses(outputs["TableLedgerInternalName"], partition, sort)
        ),
        Call("the search function", "lambda", "get_function", {"FunctionName": outputs["FunctionSearchName"]}),
        Call("the live function", "lambda", "get_function", {"FunctionName": outputs["FunctionLiveName"]}),
        Call("registrations-public", "dynamodb", "scan", {"TableName": registrations}),
        Call("registrations-public", "dynamodb", "put_item", {"TableName": registrations, "Item": _KEY}),
        Call("registrations-public", "dynamodb", "delete_item", {"TableName": registrations, "Key": _KEY}),
        Call("the public key", "kms", "encrypt", _encrypt(public)),
    ]


def _every_use(name: str, table: str) -> list[Call]:
    row = {"TableName": table, "Key": _KEY}
    item = {"TableName": table, "Item": _KEY}
    uses: dict[str, dict[str, Any]] = {
        "describe_table": {"TableName": table},
        "get_item": row,
        "batch_get_item": {"RequestItems": {table: {"Keys": [_KEY]}}},
        "transact_get_items": {"TransactItems": [{"Get": row}]},
        "query": _query(table),
        "scan": {"TableName": table},
        "execute_statement": {"Statement": f'SELECT * FROM "{table}"'},  # noqa: S608  # a name that the stack made
        "put_item": item,
        "update_item": _update(table),
        "transact_write_items": {"TransactItems": [{"Put": item}]},
        "batch_write_item": {"RequestItems": {table: [{"PutRequest": {"Item": _KEY}}]}},
        "delete_item": row,
    }
    return [Call(name, "dynamodb", operation, parameters) for operation, parameters in uses.items()]


def _every_key_use(about: str, sealed: Sealed) -> list[Call]:
    uses: dict[str, dict[str, Any]] = {
        "decrypt": _decrypt(sealed),
        "encrypt": _encrypt(sealed),
        "generate_data_key": {
            "KeyId": sealed.key_arn,
            "KeySpec": "AES_256",
            "EncryptionContext": sealed.context,
        },
        "describe_key": {"KeyId": sealed.key_arn},
    }
    return [Call(about, "kms", operation, parameters) for operation, parameters in uses.items()]


def _every_secret_use(about: str, arn: str, description: str) -> list[Call]:
    """Calls that leave the secret as it is, whoever makes them."""
    uses: dict[str, dict[str, Any]] = {
        "get_secret_value": {"SecretId": arn},
        "describe_secret": {"SecretId": arn},
        "update_secret": {"SecretId": arn, "Description": description},
    }
    return [Call(about, "secretsmanager", operation, parameters) for operation, parameters in uses.items()]


def _every_pool_use(pool: Pool, outputs: Mapping[str, str]) -> list[Call]:
    arn = outputs[f"Pool{pool.capitalize()}SecretArn"]
    return _every_secret_use(f"the secret of {pool}", arn, f"The numbered keys of the pool {pool}.")


def _row_uses(table: str, partition: str, sort: str) -> list[Call]:
    key = {PARTITION_KEY: {"S": partition}, SORT_KEY: {"S": sort}}
    uses: dict[str, dict[str, Any]] = {
        "get_item": {"TableName": table, "Key": key},
        "query": _query(table, partition),
        "update_item": _update(table, key),
    }
    return [Call(f"{partition} {sort}", "dynamodb", operation, parameters) for operation, parameters in uses.items()]


def _query(table: str, partition: str = "REHEARSAL") -> dict[str, Any]:
    return {
        "TableName": table,
        "KeyConditionExpression": f"{PARTITION_KEY} = :pk",
        "ExpressionAttributeValues": {":pk": {"S": partition}},
    }


def _update(table: str, key: Mapping[str, Any] = _KEY) -> dict[str, Any]:
    return {
        "TableName": table,
        "Key": key,
        "UpdateExpression": "ADD tried :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }


def _decrypt(sealed: Sealed) -> dict[str, Any]:
    return {
        "KeyId": sealed.key_arn,
        "CiphertextBlob": {"base64": base64.b64encode(sealed.ciphertext).decode()},
        "EncryptionContext": sealed.context,
    }


def _encrypt(sealed: Sealed) -> dict[str, Any]:
    return {
        "KeyId": sealed.key_arn,
        "Plaintext": {"base64": base64.b64encode(b"rehearsal").decode()},
        "EncryptionContext": sealed.context,
    }
