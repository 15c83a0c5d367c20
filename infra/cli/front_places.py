"""Where the value that a distribution shows lies: in one secret, in the distribution, and as digests in two tables.

The three differ while the value changes. Nothing here prints a value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from infra.cli.ending import Told
from shared.adapters.front_door import PARTITION, digests_of, front_item
from shared.adapters.keys import ONLY, key_of
from shared.domain.front import FRONT_HEADER, FrontDigests

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef
    from mypy_boto3_secretsmanager import SecretsManagerClient

P = ParamSpec("P")
T = TypeVar("T")

CURRENT, PENDING = "AWSCURRENT", "AWSPENDING"
_KEY = key_of(PARTITION, ONLY)
_MEANWHILE = frozenset({"PreconditionFailed", "TransactionCanceledException", "InvalidIfMatchVersion"})


class NoFront(Told):
    """The message says what is missing or refused."""


def told(work: Callable[P, T]) -> Callable[P, T]:
    """Failures of AWS by their code alone: their own words may repeat what was sent."""

    @wraps(work)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return work(*args, **kwargs)
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "unknown")
            if code in _MEANWHILE:
                raise NoFront("Something was changed elsewhere in the meantime. Run this again.") from None
            raise NoFront(f"AWS refused: {code}. Run this again: it goes on where it stopped.") from None
        except BotoCoreError as error:
            raise NoFront(f"AWS cannot be used: {type(error).__name__}. Run this again later.") from None

    return guarded


@dataclass(frozen=True, slots=True)
class Version:
    """Of the secret."""

    id: str
    value: str


@dataclass(frozen=True, slots=True)
class Sending:
    """What the distribution shows, with all else that its config says, for that has to be sent back whole."""

    value: str
    config: Mapping[str, Any]
    etag: str


class CloudFront(Protocol):
    """The part of boto3's client that is used here."""

    def get_distribution(self, *, Id: str) -> Mapping[str, Any]: ...
    def get_distribution_config(self, *, Id: str) -> Mapping[str, Any]: ...
    def update_distribution(
        self,
        *,
        Id: str,
        IfMatch: str,
        DistributionConfig: Mapping[str, Any],
    ) -> Mapping[str, Any]: ...


class Secret:
    def __init__(self, client: SecretsManagerClient, *, secret_id: str) -> None:
        self._client = client
        self._id = secret_id

    @told
    def current(self) -> Version:
        return self._version(CURRENT)

    @told
    def pending(self) -> Version | None:
        """A value that was made and is not the current one yet."""
        stages = self._client.describe_secret(SecretId=self._id).get("VersionIdsToStages", {})
        is_waiting = any(PENDING in labels and CURRENT not in labels for labels in stages.values())
        return self._version(PENDING) if is_waiting else None

    @told
    def keep_pending(self, value: str) -> None:
        self._client.put_secret_value(SecretId=self._id, SecretString=value, VersionStages=[PENDING])

    @told
    def make_current(self, version: Version) -> None:
        if self.pending() != version:
            raise NoFront("Another run is at it. Run this again when it has ended.")
        before = self._version(CURRENT)
        self._client.update_secret_version_stage(
            SecretId=self._id, VersionStage=CURRENT, MoveToVersionId=version.id, RemoveFromVersionId=before.id
        )
        self._client.update_secret_version_stage(
            SecretId=self._id, VersionStage=PENDING, RemoveFromVersionId=version.id
        )

    def _version(self, stage: str) -> Version:
        found = self._client.get_secret_value(SecretId=self._id, VersionStage=stage)
        return Version(id=found["VersionId"], value=found["SecretString"])


class Distribution:
    def __init__(self, client: CloudFront, *, distribution_id: str) -> None:
        self._client = client
        self._id = distribution_id

    @told
    def sending(self) -> Sending:
        found = self._client.get_distribution_config(Id=self._id)
        config: Mapping[str, Any] = found["DistributionConfig"]
        header = _header(config)
        return Sending(value=header["HeaderValue"], config=config, etag=found["ETag"])

    @told
    def send(self, value: str, *, in_place_of: Sending) -> None:
        config = dict(in_place_of.config)
        _header(config)["HeaderValue"] = value
        self._client.update_distribution(Id=self._id, IfMatch=in_place_of.etag, DistributionConfig=config)

    @told
    def is_deployed(self) -> bool:
        """Everywhere: until then some places still send what was there before."""
        status: str = self._client.get_distribution(Id=self._id)["Distribution"]["Status"]
        return status == "Deployed"


def _header(config: Mapping[str, Any]) -> dict[str, str]:
    for origin in config["Origins"]["Items"]:
        for header in origin.get("CustomHeaders", {}).get("Items", ()):
            if header["HeaderName"].lower() == FRONT_HEADER:
                found: dict[str, str] = header
                return found
    raise NoFront(f"The distribution sends no header {FRONT_HEADER}. Was it made by this stack?")


class Known:
    """What functions take, in the tables that they read it from."""

    def __init__(self, client: DynamoDBClient, *, tables: tuple[str, ...]) -> None:
        self._client = client
        self._tables = tables

    @told
    def read(self) -> Mapping[str, FrontDigests | None]:
        return {table: self._read(table) for table in self._tables}

    @told
    def write(self, digests: FrontDigests, *, in_place_of: Mapping[str, FrontDigests | None]) -> None:
        """In all tables or none, and only over what was read there."""
        parts = [self._part(table, digests, before) for table, before in in_place_of.items()]
        self._client.transact_write_items(TransactItems=parts)

    def _read(self, table: str) -> FrontDigests | None:
        return digests_of(self._client.get_item(TableName=table, Key=_KEY, ConsistentRead=True).get("Item"))

    @staticmethod
    def _part(table: str, digests: FrontDigests, before: FrontDigests | None) -> TransactWriteItemTypeDef:
        put: Any = {"TableName": table, "Item": front_item(digests)}
        if before is None:
            put["ConditionExpression"] = "attribute_not_exists(pk)"
        else:
            put["ConditionExpression"] = "#current = :current"
            put["ExpressionAttributeNames"] = {"#current": "current"}
            put["ExpressionAttributeValues"] = {":current": {"S": before.current}}
        return {"Put": put}


@dataclass(frozen=True, slots=True)
class Places:
    secret: Secret
    distribution: Distribution
    known: Known


@told
def places_of(stack: str) -> Places:
    """Of a deployed stack, with the operator's own AWS credentials. Raises `NoFront`."""
    described = boto3.client("cloudformation").describe_stacks(StackName=stack)["Stacks"][0]
    outputs: dict[str, str] = {each["OutputKey"]: each["OutputValue"] for each in described.get("Outputs", ())}
    if "FrontDistributionId" not in outputs:
        raise NoFront(f"The stack {stack} has no distribution in front: it was deployed without -c cloudfront=true.")
    tables = (outputs["TableRegistrationsPublicName"], outputs["TableRegistrationsInternalName"])
    return Places(
        secret=Secret(boto3.client("secretsmanager"), secret_id=outputs["FrontSecretArn"]),
        distribution=Distribution(boto3.client("cloudfront"), distribution_id=outputs["FrontDistributionId"]),
        known=Known(boto3.client("dynamodb"), tables=tables),
    )
