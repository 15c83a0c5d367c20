"""The admin function as it is deployed: its own wiring over the embedded backend."""

from __future__ import annotations

import json
from typing import Any

import boto3
from aws_lambda_powertools import Logger

from functions.admin.api import admin_api
from functions.admin.wiring import wired
from shared.adapters.event_loop import ProcessLoop
from shared.domain.exposure import CredentialClass
from shared.domain.identifiers import format_token
from tests.support.admin_stage import Answered, event_of
from tests.support.published import faults_of


class Process:
    """One process of the function, as a Lambda would keep it warm."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._loop = ProcessLoop()
        self._api = admin_api(
            wired(environment | {"KG_ALLOW_LOOPBACK_HTTP": "true"}),
            loop=self._loop,
            logger=Logger(service="admin-real"),
        )
        secrets_manager = boto3.client("secretsmanager")
        secret = secrets_manager.get_secret_value(SecretId=environment["KG_ROOT_SECRET"])["SecretString"]
        self.token = format_token(CredentialClass.ADMIN, "root", secret)

    def close(self) -> None:
        self._loop.close()

    def call(
        self, method: str, path: str, body: object = None, *, query: dict[str, str] | None = None, **headers: str
    ) -> Answered:
        event: dict[str, Any] = event_of("admin_create_provider")
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        event["headers"] |= {"authorization": f"Bearer {self.token}"} | named
        event["rawPath"] = path
        event["requestContext"]["http"] |= {"method": method, "path": path}
        event["queryStringParameters"] = query or {}
        event["body"] = None if body is None else json.dumps(body)
        response = self._api.handle(event, None)
        answered = Answered(response["statusCode"], response["headers"], response.get("body") or "")
        faults = faults_of(method, path, answered.status, answered.headers, answered.text)
        assert not faults, f"{method} {path} {answered.text}: {faults}"
        return answered
