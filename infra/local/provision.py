"""Creates on an endpoint what the stack would create in an account: tables, keys, the secrets.

Running it again on kept state changes nothing and returns the same environment.
"""

from __future__ import annotations

import os
import secrets
from functools import lru_cache
from typing import TYPE_CHECKING

import boto3
from botocore.exceptions import ClientError

from infra.local.emulator import ACCESS_KEY, HOST, REGION, SECRET_KEY
from infra.pools import NO_KEYS, POOL_VARIABLES
from infra.tables import PARTITION_KEY, SORT_KEY, TABLES, TTL_ATTRIBUTE

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_kms import KMSClient
    from mypy_boto3_secretsmanager import SecretsManagerClient


def client_environment(endpoint_url: str) -> dict[str, str]:
    """What makes an AWS client in any process speak to the endpoint and to nothing else."""
    return {
        "AWS_ENDPOINT_URL": endpoint_url,
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
        "NO_PROXY": HOST,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }


def provision(endpoint_url: str | None, *, prefix: str = "kg") -> dict[str, str]:
    """The KG_* environment of all functions together. Names of things begin with `prefix`.

    Without an endpoint the client library finds its own, as it does inside an in-process backend.
    """
    dynamodb, kms, secrets_manager = _clients(endpoint_url)
    environment = {table.variable: f"{prefix}-{table.name}" for table in TABLES}
    for name in environment.values():
        _ensure_table(dynamodb, name)
    return environment | {
        "KG_KEY_PUBLIC": _ensure_key(kms, f"alias/{prefix}-public"),
        "KG_KEY_INTERNAL": _ensure_key(kms, f"alias/{prefix}-internal"),
        "KG_ROOT_SECRET": _ensure_secret(secrets_manager, f"{prefix}-root-admin", first=secrets.token_hex(32)),
        **{
            variable: _ensure_secret(secrets_manager, f"{prefix}-pool-{pool}", first=NO_KEYS)
            for pool, variable in POOL_VARIABLES.items()
        },
    }


@lru_cache(maxsize=4)
def _clients(endpoint_url: str | None) -> tuple[DynamoDBClient, KMSClient, SecretsManagerClient]:
    """Making a client costs more than all that is asked of it here."""
    session = boto3.Session(aws_access_key_id=ACCESS_KEY, aws_secret_access_key=SECRET_KEY, region_name=REGION)
    return (
        session.client("dynamodb", endpoint_url=endpoint_url),
        session.client("kms", endpoint_url=endpoint_url),
        session.client("secretsmanager", endpoint_url=endpoint_url),
    )


def _ensure_table(dynamodb: DynamoDBClient, name: str) -> None:
    """One that is made and active at once, as on an embedded backend, is asked about no further."""
    try:
        made = dynamodb.create_table(
            TableName=name,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[
                {"AttributeName": PARTITION_KEY, "AttributeType": "S"},
                {"AttributeName": SORT_KEY, "AttributeType": "S"},
            ],
            KeySchema=[
                {"AttributeName": PARTITION_KEY, "KeyType": "HASH"},
                {"AttributeName": SORT_KEY, "KeyType": "RANGE"},
            ],
        )
        is_active, expires = made["TableDescription"].get("TableStatus") == "ACTIVE", False
    except dynamodb.exceptions.ResourceInUseException:  # kept from an earlier run
        is_active, expires = False, _expires(dynamodb, name)
    if not is_active:
        dynamodb.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 30})
    if not expires:
        dynamodb.update_time_to_live(
            TableName=name, TimeToLiveSpecification={"Enabled": True, "AttributeName": TTL_ATTRIBUTE}
        )


def _expires(dynamodb: DynamoDBClient, name: str) -> bool:
    """Whether its rows go when their time is up. An earlier run may have been ended before it said so."""
    return dynamodb.describe_time_to_live(TableName=name)["TimeToLiveDescription"]["TimeToLiveStatus"] == "ENABLED"


def _ensure_key(kms: KMSClient, alias: str) -> str:
    try:
        return kms.describe_key(KeyId=alias)["KeyMetadata"]["Arn"]
    except kms.exceptions.NotFoundException:
        metadata = kms.create_key()["KeyMetadata"]
        kms.create_alias(AliasName=alias, TargetKeyId=metadata["KeyId"])
        return metadata["Arn"]


def _ensure_secret(secrets_manager: SecretsManagerClient, name: str, *, first: str) -> str:
    """`first` is its value when it is made; whatever it holds later stays."""
    try:
        return secrets_manager.create_secret(Name=name, SecretString=first)["ARN"]
    except ClientError as refusal:
        if refusal.response["Error"]["Code"] != "ResourceExistsException":
            raise
        return secrets_manager.describe_secret(SecretId=name)["ARN"]
