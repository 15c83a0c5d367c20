"""What is wrong with a message itself, answered as a JSON-RPC error. What a tool refuses is no fault: it is a result.

No fault repeats what the client sent, but the revision that it asked for, as the protocol demands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

from shared.domain.strict_json import JsonValue

RequestId: TypeAlias = "str | int"


class FaultCode(IntEnum):
    """Every code that is answered. The first four are of JSON-RPC, the others of the protocol from 2026-07-28 on."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    HEADER_MISMATCH = -32020
    UNSUPPORTED_PROTOCOL_VERSION = -32022


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """`status` is that of the HTTP answer, where the message came alone. `to` is the id of the request, where the
    message has one that can be read.
    """

    code: FaultCode
    message: str
    status: int = 400
    data: Mapping[str, JsonValue] | None = None
    to: RequestId | None = None


IN_BAND = 200


def wrong_params(message: str) -> Fault:
    """A message that is well-formed, and whose method can do nothing with its `params`."""
    return Fault(code=FaultCode.INVALID_PARAMS, message=message, status=IN_BAND)
