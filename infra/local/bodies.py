"""Reads a request body, with or without a length, and never more than API Gateway would take."""

from __future__ import annotations

import re
from email.message import Message
from typing import BinaryIO, Protocol

MAX_BODY_BYTES = 10 * 1024 * 1024
_MAX_LINE_BYTES = 1024
_LENGTH = re.compile(r"[0-9]{1,12}", re.ASCII)
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?\r?\n")


class BadBody(ValueError):
    """The framing of the body makes no sense; the connection cannot be used further."""


class BodyTooLarge(ValueError):
    """More than 10 MiB."""


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...

    def readline(self, size: int, /) -> bytes: ...


def read_body(headers: Message, stream: Readable | BinaryIO) -> bytes:
    """Raises `BadBody`, `BodyTooLarge`."""
    lengths = headers.get_all("Content-Length", [])
    codings = headers.get_all("Transfer-Encoding", [])
    if len(lengths) + len(codings) > 1:
        raise BadBody
    if codings:
        if codings[0].strip().lower() != "chunked":
            raise BadBody
        return _chunks(stream)
    return _of_length(lengths[0].strip(), stream) if lengths else b""


def _of_length(text: str, stream: Readable | BinaryIO) -> bytes:
    if not _LENGTH.fullmatch(text):
        raise BadBody
    if int(text) > MAX_BODY_BYTES:
        raise BodyTooLarge
    return _exactly(int(text), stream)


def _chunks(stream: Readable | BinaryIO) -> bytes:
    body = bytearray()
    while True:
        line = _CHUNK_SIZE.fullmatch(stream.readline(_MAX_LINE_BYTES))
        if line is None:
            raise BadBody
        size = int(line[1], 16)
        if len(body) + size > MAX_BODY_BYTES:
            raise BodyTooLarge
        if size == 0:
            _skip_trailers(stream)
            return bytes(body)
        body += _exactly(size, stream)
        if stream.readline(3).strip(b"\r\n"):
            raise BadBody


def _skip_trailers(stream: Readable | BinaryIO) -> None:
    for _ in range(32):
        if not stream.readline(_MAX_LINE_BYTES).strip(b"\r\n"):
            return
    raise BadBody


def _exactly(size: int, stream: Readable | BinaryIO) -> bytes:
    data = stream.read(size)
    if len(data) != size:
        raise BadBody
    return data
