"""Where the keys of the pools lie: in the secret store of the gateway that runs here, or of a deployed stack."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from infra.cli.ending import Told
from infra.cli.here import client_here, local_access
from infra.cli.state import LOCAL
from infra.local.emulator import ACCESS_KEY, REGION, SECRET_KEY
from shared.domain.pools import KEYED_POOLS, Pool

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

P = ParamSpec("P")
T = TypeVar("T")


class NoStore(Told):
    """The message says what is missing or refused."""


def _told(work: Callable[P, T]) -> Callable[P, T]:
    """Failures of AWS by their code alone: their own words may repeat what was sent."""

    @wraps(work)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return work(*args, **kwargs)
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "unknown")
            raise NoStore(f"AWS refused: {code}.") from None
        except BotoCoreError as error:
            raise NoStore(f"AWS cannot be used: {type(error).__name__}.") from None

    return guarded


class PoolSecretStore:
    """The secrets of the keyed pools, by pool."""

    def __init__(self, client: SecretsManagerClient, *, secret_ids: Mapping[Pool, str]) -> None:
        self._client = client
        self._secret_ids = secret_ids

    @_told
    def read(self, pool: Pool) -> Mapping[str, object] | None:
        """The object in a pool's secret; None where it holds something else. Raises `NoStore`."""
        text = self._client.get_secret_value(SecretId=self._secret_ids[pool]).get("SecretString", "")
        try:
            value = json.loads(text)
        except ValueError:
            return None
        return value if isinstance(value, dict) else None

    @_told
    def write(self, pool: Pool, entries: Mapping[str, object]) -> None:
        """Raises `NoStore`."""
        self._client.put_secret_value(SecretId=self._secret_ids[pool], SecretString=json.dumps(entries))


def local_store() -> PoolSecretStore:
    """Of the gateway that runs here. Raises `NoAccess`, `NoStore`."""
    aws = local_access().get("aws")
    if aws is None:
        raise NoStore("No gateway runs here. Start one (kgw up), or name a deployed one: --stack NAME")
    try:
        return embedded_store(client_here(aws["endpointUrl"], "").url, aws["poolSecrets"])
    except (AttributeError, LookupError, TypeError, ValueError):
        raise NoStore(f"{LOCAL} cannot be read, or used.") from None


@_told
def embedded_store(endpoint_url: str, secret_ids: Mapping[str, str]) -> PoolSecretStore:
    """Of the backend at an address of this machine, to which no proxy of the environment is on the way."""
    session = boto3.Session(aws_access_key_id=ACCESS_KEY, aws_secret_access_key=SECRET_KEY, region_name=REGION)
    client = session.client("secretsmanager", endpoint_url=endpoint_url, config=Config(proxies={}))
    return PoolSecretStore(client, secret_ids={Pool(name): secret_id for name, secret_id in secret_ids.items()})


@_told
def deployed_store(stack: str) -> PoolSecretStore:
    """Of a stack, with the operator's own AWS credentials. Raises `NoStore`."""
    described = boto3.client("cloudformation").describe_stacks(StackName=stack)["Stacks"][0]
    outputs: dict[str, Any] = {each["OutputKey"]: each["OutputValue"] for each in described.get("Outputs", ())}
    names = {pool: f"Pool{pool.capitalize()}SecretArn" for pool in KEYED_POOLS}
    missing = [name for name in names.values() if name not in outputs]
    if missing:
        raise NoStore(f"The stack {stack} has no output {missing[0]}.")
    client = boto3.client("secretsmanager")
    return PoolSecretStore(client, secret_ids={pool: outputs[name] for pool, name in names.items()})
