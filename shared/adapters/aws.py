"""Clients of the services, made once a process. Their endpoint, region and credentials come from the environment."""

from __future__ import annotations

import os
from typing import Final

from shared.adapters.authorities import shared_public_authorities
from shared.adapters.clock import SystemClock
from shared.adapters.service_client import Service, ServiceClient
from shared.adapters.service_places import Place, place_of, region_in
from shared.adapters.service_wire import Connections, Patience, Wire
from shared.adapters.services import DYNAMODB, KMS, SECRETS_MANAGER, DynamoDBClient, KMSClient, SecretsManagerClient
from shared.adapters.threads import POOL_SIZE

ATTEMPTS: Final = 2
PATIENCE: Final = Patience(connect_s=1.0, read_s=2.0, answer_s=8.0)

# What is read before a request's own time begins to run has to fit beside the longest of them.
DOOR_CONNECT_S: Final = 0.5
DOOR_READ_S: Final = 1.0
_AT_THE_DOOR: Final = Patience(connect_s=DOOR_CONNECT_S, read_s=DOOR_READ_S, answer_s=DOOR_READ_S)


def dynamodb() -> DynamoDBClient:
    return DynamoDBClient(_client(DYNAMODB, PATIENCE, attempts=ATTEMPTS))


def dynamodb_at_the_door() -> DynamoDBClient:
    return DynamoDBClient(_client(DYNAMODB, _AT_THE_DOOR, attempts=1))


def kms() -> KMSClient:
    return KMSClient(_client(KMS, PATIENCE, attempts=ATTEMPTS))


def secrets_manager() -> SecretsManagerClient:
    return SecretsManagerClient(_client(SECRETS_MANAGER, PATIENCE, attempts=ATTEMPTS))


def wire_to(place: Place, patience: Patience) -> Wire:
    return Connections(place, patience, most_idle=POOL_SIZE, authorities=shared_public_authorities, clock=SystemClock())


def _client(service: Service, patience: Patience, *, attempts: int) -> ServiceClient:
    place = place_of(service.name, os.environ)
    return ServiceClient(
        service, wire_to(place, patience), place=place, region=region_in(os.environ), attempts=attempts
    )
