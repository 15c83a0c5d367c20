"""What goes over the line between a client of AWS and its service: requests read, answers written, the engine asked."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

Place: TypeAlias = tuple[str, str, str]

_SERVICES: Final = {"DynamoDB_20120810": "dynamodb", "TrentService": "kms", "secretsmanager": "secretsmanager"}
_FRESH_S: Final = 2.0  # the engine closes what has been idle for some seconds


@dataclass(frozen=True)
class Request:
    """One call. `places` are the (table, partition key, sort key) that it is about."""

    head: bytes
    body: bytes
    service: str
    operation: str

    @cached_property
    def json(self) -> dict[str, Any]:
        read: dict[str, Any] = json.loads(self.body or b"{}")
        return read

    @cached_property
    def places(self) -> tuple[Place, ...]:
        return tuple(_places(self.json)) if self.service == "dynamodb" else ()

    def with_json(self, value: dict[str, Any]) -> Request:
        body = json.dumps(value).encode()
        lines = [line for line in self.head.split(b"\r\n") if line and not line.lower().startswith(b"content-length:")]
        head = b"\r\n".join([*lines, b"Content-Length: %d" % len(body)]) + b"\r\n\r\n"
        return replace(self, head=head, body=body)


def _places(body: dict[str, Any]) -> list[Place]:
    if "RequestItems" in body:
        return [
            (table, *_key(key))
            for table, of_table in body["RequestItems"].items()
            for key in (of_table["Keys"] if isinstance(of_table, dict) else map(_written, of_table))
        ]
    if "TransactItems" in body:
        acts = [act for part in body["TransactItems"] for act in part.values()]
        return [(act["TableName"], *_key(act.get("Key") or act["Item"])) for act in acts]
    key = body.get("Key") or body.get("Item") or {"pk": body.get("ExpressionAttributeValues", {}).get(":pk", {})}
    return [(body["TableName"], *_key(key))] if "TableName" in body else []


def _written(part: dict[str, Any]) -> dict[str, Any]:
    [act] = part.values()
    return act.get("Key") or act["Item"]


def _key(key: dict[str, Any]) -> tuple[str, str]:
    return str(key.get("pk", {}).get("S", "")), str(key.get("sk", {}).get("S", ""))


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """None when the other side has nothing more to ask."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    headers = _headers(head)
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    prefix, _, operation = headers.get("x-amz-target", "").partition(".")
    return Request(head=head, body=body, service=_SERVICES.get(prefix, prefix), operation=operation)


def _headers(head: bytes) -> dict[str, str]:
    lines = (line.partition(":") for line in head.decode("latin-1").split("\r\n")[1:])
    return {name.lower(): value.strip() for name, _, value in lines}


def answer(body: bytes, *, status: int = 200) -> bytes:
    head = f"HTTP/1.1 {status} Whatever\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body


def error(code: str, *, status: int, reasons: tuple[str, ...], words: str) -> bytes:
    told: dict[str, Any] = {"__type": f"com.amazonaws.service#{code}", "message": words}
    if reasons:
        told["CancellationReasons"] = [{"Code": reason, "Message": words} for reason in reasons]
    return answer(json.dumps(told).encode(), status=status)


def body_of(answered: bytes) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(answered.partition(b"\r\n\r\n")[2])
    return read


class Engine:
    """One connection to the engine, made when it is first needed."""

    def __init__(self, url: str) -> None:
        self._place = urlsplit(url)
        self._line: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._used_at = 0.0

    async def ask(self, request: Request) -> bytes:
        """The whole answer, as it came."""
        reader, writer = await self._open()
        writer.write(request.head + request.body)
        head = await reader.readuntil(b"\r\n\r\n")
        headers = _headers(head)
        assert "transfer-encoding" not in headers, "the engine says how long its answers are"
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        self._used_at = time.monotonic()
        if headers.get("connection", "").lower() == "close":  # as it says after a thousand calls
            self.close()
        return head + body

    def close(self) -> None:
        if self._line is not None:
            self._line[1].close()
            self._line = None

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._line is not None and time.monotonic() - self._used_at > _FRESH_S:
            self.close()
        if self._line is None:
            self._line = await asyncio.open_connection(self._place.hostname, self._place.port, limit=2**24)
        return self._line
