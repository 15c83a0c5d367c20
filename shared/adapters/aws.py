"""Clients of the services, made once a process. Their endpoint, region and credentials come from the environment."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

import boto3
from botocore.client import BaseClient
from botocore.config import Config
from botocore.exceptions import HTTPClientError

from shared.adapters.threads import POOL_SIZE

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_kms import KMSClient
    from mypy_boto3_secretsmanager import SecretsManagerClient

Client = TypeVar("Client", bound=BaseClient)

KEEP_ALIVE_S: Final = 5.0

_CONFIG = Config(
    connect_timeout=1,
    read_timeout=2,
    retries={"total_max_attempts": 2, "mode": "standard"},
    max_pool_connections=POOL_SIZE,
)


# What is read before a request's own time begins to run has to fit beside the longest of them.
DOOR_CONNECT_S: Final = 0.5
DOOR_READ_S: Final = 1.0
_AT_THE_DOOR = Config(
    connect_timeout=DOOR_CONNECT_S, read_timeout=DOOR_READ_S, retries={"total_max_attempts": 1, "mode": "standard"}
)


def dynamodb() -> DynamoDBClient:
    return _careful(boto3.client("dynamodb", config=_CONFIG))


def dynamodb_at_the_door() -> DynamoDBClient:
    return _careful(boto3.client("dynamodb", config=_AT_THE_DOOR))


def kms() -> KMSClient:
    return _careful(boto3.client("kms", config=_CONFIG))


def secrets_manager() -> SecretsManagerClient:
    return _careful(boto3.client("secretsmanager", config=_CONFIG))


class ShortKeepAlive:
    """Before a call: drops the idle connections of a client that was not used for `KEEP_ALIVE_S`.

    While a process is frozen the other side closes its connections and nobody here hears of it; each would fail on
    its next use, more of them than there are attempts. Both clocks count, as either may stand still in a freeze.
    """

    def __init__(
        self,
        drop: Callable[[], None],
        *,
        wall: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._drop = drop
        self._clocks = (wall, monotonic)
        self._lock = threading.Lock()
        self._used_at = self._read()

    def before_call(self, **_event: object) -> None:
        with self._lock:
            now = self._read()
            idle_s = [later - earlier for later, earlier in zip(now, self._used_at, strict=True)]
            self._used_at = now
            if not all(0 <= seconds < KEEP_ALIVE_S for seconds in idle_s):
                self._drop()

    def _read(self) -> tuple[float, ...]:
        return tuple(clock() for clock in self._clocks)


def _careful(client: Client) -> Client:
    client.meta.events.register("before-call", ShortKeepAlive(client.close).before_call)
    client.meta.events.register("before-parse", _refuse_what_is_no_answer)
    return client


def _refuse_what_is_no_answer(response_dict: Mapping[str, Any], **_event: object) -> None:
    """The client library takes a body that it cannot read for an empty answer, and so for a row that is not there."""
    if response_dict["status_code"] < 300 and not response_dict["body"].startswith(b"{"):
        raise HTTPClientError(error="not an answer of the service")
