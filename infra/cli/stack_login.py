"""An admin's credential for a deployed stack, made with the operator's own AWS credentials. Root's token is read, used
once and kept nowhere.
"""

from __future__ import annotations

import getpass
from datetime import UTC, datetime, timedelta

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from infra.cli.ending import Told
from infra.cli.http import Client, Unsendable
from shared.domain.identifiers import ROOT_ID

_CREDENTIALS = "/api/v1/credentials"


class NoStack(Told):
    """The message says what is missing or refused; of AWS its code alone."""


def issued(stack: str, days: int) -> tuple[str, str]:
    """The stack's address, and the token of a new admin credential that ends after so many days.

    Raises `NoStack`, `Declined`, `Unreachable`.
    """
    try:
        outputs = _outputs(stack)
        url = outputs["ApiUrl"]
        secret = boto3.client("secretsmanager").get_secret_value(SecretId=outputs["RootSecretArn"])["SecretString"]
    except KeyError as missing:
        raise NoStack(f"The stack {stack} has no output {missing.args[0]}.") from None
    except ClientError as error:
        raise NoStack(f"AWS refused: {error.response.get('Error', {}).get('Code', 'unknown')}.") from None
    except BotoCoreError as error:
        raise NoStack(f"AWS cannot be used: {type(error).__name__}.") from None
    return url, _issue(url, f"kg_adm_{ROOT_ID}_{secret.strip()}", days)


def _issue(url: str, root: str, days: int) -> str:
    expires = datetime.now(UTC) + timedelta(days=days)
    name = f"kgw login of {getpass.getuser()}"[:100]
    wanted = {"class": "adm", "name": name, "expiresAt": expires.strftime("%Y-%m-%dT%H:%M:%SZ")}
    try:
        client = Client(url, root)
    except Unsendable:
        raise NoStack("The stack's address, or what its secret of root holds, cannot be sent.") from None
    made = client.create(_CREDENTIALS, wanted).body
    with client.understood():
        if made["token"] is None:  # of an answer that was lost
            made = client.patiently(f"{_CREDENTIALS}/{made['id']}/rotate", {}).body
        return str(made["token"])


def _outputs(stack: str) -> dict[str, str]:
    described = boto3.client("cloudformation").describe_stacks(StackName=stack)["Stacks"][0]
    return {each["OutputKey"]: each["OutputValue"] for each in described.get("Outputs", ())}
