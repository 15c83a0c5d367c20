"""What the embedded runtime creates on its backend: made once, kept whatever it holds later."""

from __future__ import annotations

import secrets

import boto3
import pytest

from infra.local.emulator import ACCESS_KEY, REGION, SECRET_KEY
from infra.local.provision import provision
from infra.pools import POOL_VARIABLES

pytestmark = pytest.mark.emulator


@pytest.fixture
def prefix() -> str:
    return f"p{secrets.token_hex(4)}"


def secrets_manager(endpoint_url: str) -> object:
    session = boto3.Session(aws_access_key_id=ACCESS_KEY, aws_secret_access_key=SECRET_KEY, region_name=REGION)
    return session.client("secretsmanager", endpoint_url=endpoint_url)


def test_each_pool_has_a_secret_without_keys(emulator: str, prefix: str) -> None:
    environment = provision(emulator, prefix=prefix)
    ids = [environment[variable] for variable in POOL_VARIABLES.values()]
    assert len(set(ids)) == len(POOL_VARIABLES)
    client = secrets_manager(emulator)
    assert [client.get_secret_value(SecretId=one)["SecretString"] for one in ids] == ["{}"] * len(ids)


def test_provisioning_again_keeps_the_keys_that_an_operator_put_there(emulator: str, prefix: str) -> None:
    environment = provision(emulator, prefix=prefix)
    client = secrets_manager(emulator)
    kept = '{"EXA_API_KEY":"an-invented-key"}'
    client.put_secret_value(SecretId=environment["KG_POOL_EXA"], SecretString=kept)
    assert provision(emulator, prefix=prefix) == environment
    assert client.get_secret_value(SecretId=environment["KG_POOL_EXA"])["SecretString"] == kept
