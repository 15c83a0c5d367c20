"""What is asked of the services of AWS, heard where it goes on the wire; and moto behind that wire."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

import pytest
from botocore.awsrequest import AWSPreparedRequest, HTTPHeaders
from moto.core.models import botocore_stubber

from shared.adapters import aws
from shared.adapters.service_places import Place
from shared.adapters.service_wire import Patience, Wire, WireAnswer, WireRequest
from shared.adapters.services import DYNAMODB, KMS, SECRETS_MANAGER

# Told the service, the operation and what it is asked, as it is sent; bytes are base64.
Listener: TypeAlias = Callable[[str, str, dict[str, Any]], None]
WireTo: TypeAlias = Callable[[Place, Patience], Wire]
_SERVICES: Final = {service.target: service.name for service in (DYNAMODB, KMS, SECRETS_MANAGER)}


class Heard:
    """All who listen at the moment."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    @contextmanager
    def by(self, listener: Listener) -> Iterator[None]:
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    def tell(self, service: str, operation: str, asked: dict[str, Any]) -> None:
        for listener in list(self._listeners):
            listener(service, operation, asked)


class HeardWire:
    """A wire whose requests somebody hears before they are sent."""

    def __init__(self, wire: Wire, tell: Listener) -> None:
        self._wire = wire
        self._tell = tell

    def send(self, request: WireRequest) -> WireAnswer:
        target, _, operation = request.headers["x-amz-target"].rpartition(".")
        self._tell(_SERVICES[target], operation, json.loads(request.body))
        return self._wire.send(request)


class MotoWire:
    """Leads to moto in this process, as it is reached by the client that it was made for."""

    def __init__(self, place: Place, _patience: Patience) -> None:
        self._url = f"https://{place.authority}/"

    def send(self, request: WireRequest) -> WireAnswer:
        headers = HTTPHeaders()
        for name, value in request.headers.items():
            headers[name] = value
        asked = AWSPreparedRequest("POST", self._url, headers, request.body, stream_output=False)
        answer = botocore_stubber.process_request(asked)
        assert answer is not None, f"moto does not know {self._url}"
        status, answered, body = answer
        raw = body if isinstance(body, bytes) else str(body).encode()
        return WireAnswer(int(status), {str(name).lower(): str(value) for name, value in answered.items()}, raw)


@contextmanager
def heard(listener: Listener) -> Iterator[None]:
    """The clients that functions make meanwhile are heard, as long as they live."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(aws, "wire_to", heard_by(listener, aws.wire_to))
        yield


def heard_by(listener: Listener, wire_to: WireTo) -> WireTo:
    return lambda place, patience: HeardWire(wire_to(place, patience), listener)


def asked_of(calls: list[str]) -> Listener:
    """Notes the names of operations."""

    def note(_service: str, operation: str, _asked: Mapping[str, Any]) -> None:
        calls.append(operation)

    return note
