"""Reads the token of the first admin from the embedded backend, as an operator would from Secrets Manager."""

from __future__ import annotations

import boto3

from infra.local.emulator import ACCESS_KEY, REGION, SECRET_KEY
from shared.domain.exposure import CredentialClass
from shared.domain.identifiers import ROOT_ID, format_token


def read_root_token(endpoint_url: str, *, secret_id: str) -> str:
    session = boto3.Session(aws_access_key_id=ACCESS_KEY, aws_secret_access_key=SECRET_KEY, region_name=REGION)
    client = session.client("secretsmanager", endpoint_url=endpoint_url)
    secret = client.get_secret_value(SecretId=secret_id)["SecretString"]
    return format_token(CredentialClass.ADMIN, ROOT_ID, secret)
