"""Messages between the runtime and its workers: a length of four bytes, then JSON."""

from __future__ import annotations

import json
import os
import select
import struct
import time
from collections.abc import Mapping
from typing import Any

_LENGTH = struct.Struct(">I")
_CHUNK = 1 << 20


class Ended(Exception):
    """The other side has closed its end."""


class TookTooLong(Exception):
    """Nothing complete came in time."""


def encoded(message: Mapping[str, Any]) -> bytes:
    data = json.dumps(message, separators=(",", ":")).encode()
    return _LENGTH.pack(len(data)) + data


def read(descriptor: int, *, timeout_s: float | None = None) -> dict[str, Any]:
    """The next message. Raises `Ended` and, with a timeout, `TookTooLong`."""
    until = None if timeout_s is None else time.monotonic() + timeout_s
    (length,) = _LENGTH.unpack(_exactly(descriptor, _LENGTH.size, until))
    message: dict[str, Any] = json.loads(_exactly(descriptor, length, until))
    return message


def _exactly(descriptor: int, size: int, until: float | None) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        if until is not None:
            _await(descriptor, until)
        chunk = os.read(descriptor, min(size - len(parts), _CHUNK))
        if not chunk:
            raise Ended
        parts += chunk
    return bytes(parts)


def _await(descriptor: int, until: float) -> None:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN | select.POLLHUP)
    if not poll.poll(max(0.0, until - time.monotonic()) * 1000):
        raise TookTooLong
