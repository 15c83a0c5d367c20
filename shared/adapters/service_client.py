"""Calls of a service in the JSON protocol of AWS: signed, repeated once where that may help, and read. Blocking."""

from __future__ import annotations

import base64
import json
import os
import secrets
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from shared.adapters.service_faults import DamagedAnswer, NoAnswer, NotAnAnswer, ServiceFault, ServiceRefusal
from shared.adapters.service_places import Place, access_key_in
from shared.adapters.service_wire import Wire, WireAnswer, WireRequest
from shared.adapters.signing import Scope, signed

_UNIDENTIFIED: Final = {"accept-encoding": "identity", "user-agent": "knowledge-gateway"}

# Pauses are anything up to these.
_PAUSE_MS: Final = 50
_THROTTLED_PAUSE_MS: Final = 500
_PASSING_STATUSES: Final = frozenset({500, 502, 503, 504})
_PASSING: Final = frozenset({"RequestTimeout", "RequestTimeoutException", "ReplicatedWriteConflictException"})
_THROTTLED_STATUS: Final = 429
_THROTTLED: Final = frozenset(
    {
        "BandwidthLimitExceeded",
        "EC2ThrottledException",
        "LimitExceededException",
        "PriorRequestNotComplete",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "SlowDown",
        "ThrottledException",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
        "TransactionInProgressException",
    }
)


@dataclass(frozen=True, slots=True)
class Service:
    """`name` as in its host and in signatures, `target` as it stands before the names of operations."""

    name: str
    target: str
    json_version: str


class ServiceClient:
    """`attempts` is how often a call is sent at most. The key to sign with is read from `environment` at each call.

    A call is repeated whose answer did not come, or was an error that may pass. So a write may happen twice: whoever
    writes makes that harmless by its conditions, as with any client of these services.
    """

    def __init__(
        self,
        service: Service,
        wire: Wire,
        *,
        place: Place,
        region: str,
        attempts: int,
        environment: Mapping[str, str] = os.environ,
        now: Callable[[], float] = time.time,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._target = service.target
        self._wire = wire
        self._attempts = attempts
        self._scope = Scope(region, service.name)
        self._headers = {"host": place.authority, "content-type": f"application/x-amz-json-{service.json_version}"}
        self._environment = environment
        self._now = now
        self._pause = pause

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """The answer without members that are null; bytes are base64 in it. Raises `ServiceFault`."""
        headers = {**self._headers, "x-amz-target": f"{self._target}.{operation}"}
        body = _written(request).encode()
        for attempt in range(1, self._attempts + 1):
            try:
                return _read(self._wire.send(self._signed(headers, body)))
            except ServiceFault as fault:
                pause_ms = _pause_ms(fault)
                if attempt == self._attempts or not pause_ms:
                    raise
            self._pause(secrets.randbelow(pause_ms) / 1_000)
        raise AssertionError("no attempt was made")

    def _signed(self, headers: dict[str, str], body: bytes) -> WireRequest:
        """Anew for each attempt: a signature is good for some minutes, and so is the key of a function."""
        key = access_key_in(self._environment)
        stated = signed(headers, body, key=key, scope=self._scope, at_s=self._now())
        return WireRequest(stated | _UNIDENTIFIED | self._trace(), body)

    def _trace(self) -> dict[str, str]:
        """What the runtime says about the invocation, by which services notice that they call each other in a ring."""
        trace = self._environment.get("_X_AMZN_TRACE_ID")
        return {"x-amzn-trace-id": quote(trace, safe="-=;:+&[]{}\"',")} if trace else {}


def _base64(value: object) -> str:
    if not isinstance(value, (bytes, bytearray)):
        raise TypeError(type(value).__name__)
    return base64.b64encode(value).decode("ascii")


_written: Final = json.JSONEncoder(separators=(",", ":"), default=_base64, allow_nan=False).encode


def _pause_ms(fault: ServiceFault) -> int:
    """The longest pause before another attempt; 0 where that is of no use."""
    if isinstance(fault, NoAnswer):
        return 0 if isinstance(fault, NotAnAnswer) else _PAUSE_MS
    if not isinstance(fault, ServiceRefusal):
        return 0
    if fault.code in _THROTTLED or fault.status == _THROTTLED_STATUS:
        return _THROTTLED_PAUSE_MS
    return _PAUSE_MS if fault.code in _PASSING or fault.status in _PASSING_STATUSES else 0


def _read(answer: WireAnswer) -> dict[str, Any]:
    checksum = answer.headers.get("x-amz-crc32")
    if checksum is not None and checksum != str(zlib.crc32(answer.body)):
        raise DamagedAnswer("damaged")
    document = _object_in(answer.body)
    if not 200 <= answer.status < 300:
        raise ServiceRefusal(
            _code_in(document or {}) or str(answer.status), document=document or {}, status=answer.status
        )
    if document is None:
        raise NotAnAnswer("no object")
    return {name: value for name, value in document.items() if value is not None}


def _object_in(body: bytes) -> dict[str, Any] | None:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _code_in(document: Mapping[str, Any]) -> str:
    """Said as `namespace#Code:where`, of which only the middle has to be there."""
    return str(document.get("__type") or "").split(":", 1)[0].rpartition("#")[2]
