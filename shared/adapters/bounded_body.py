"""Collects a response body under two caps: what came over the wire, and what it decodes to."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from typing import Protocol

from shared.errors import Refused, ResponseTooLarge

MAX_BODY_BYTES = 1_048_576
ACCEPTED_CODINGS = "gzip, deflate"


class _Decoder(Protocol):
    """The part of a zlib decompressor that is used here."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    @property
    def unconsumed_tail(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int = 0, /) -> bytes: ...


class BoundedBody:
    """Feed it raw chunks, then take `complete()`. A decompressor is never asked for more than the cap leaves room for,
    so a bomb costs about a megabyte of memory.

    Raises `ResponseTooLarge`, and `Refused` (`invalid_response`) for codings that were not asked for, broken or cut.
    """

    def __init__(self, headers: Mapping[str, str]) -> None:
        announced = headers.get("content-length", "")
        if announced.isdecimal() and int(announced) > MAX_BODY_BYTES:
            raise ResponseTooLarge
        self._start = _start_of(headers.get("content-encoding", ""))
        self._decoder: _Decoder | None = None
        self._decoded = bytearray()
        self.wire_bytes = 0

    @property
    def is_coded(self) -> bool:
        return self._start is not None

    def feed(self, chunk: bytes) -> None:
        self.wire_bytes += len(chunk)
        if self.wire_bytes > MAX_BODY_BYTES:
            raise ResponseTooLarge
        self._decoded += chunk if self._start is None else self._decode(chunk, self._start)
        if len(self._decoded) > MAX_BODY_BYTES:
            raise ResponseTooLarge

    def complete(self) -> bytes:
        if self._decoder is not None and not self._decoder.eof:
            raise Refused("invalid_response")
        return bytes(self._decoded)

    def _decode(self, chunk: bytes, start: Callable[[bytes], _Decoder]) -> bytes:
        if self._decoder is None:
            self._decoder = start(chunk)
        room = MAX_BODY_BYTES - len(self._decoded)
        try:
            decoded = self._decoder.decompress(chunk, room + 1)
        except zlib.error:
            raise Refused("invalid_response") from None
        if self._decoder.unused_data:
            raise Refused("invalid_response")  # something behind the end of the coded body
        return decoded


def _start_of(coding: str) -> Callable[[bytes], _Decoder] | None:
    """What starts a decoder on the first chunk, or None for a body as it is."""
    name = coding.strip(" \t").lower()
    if name in ("", "identity"):
        return None
    if name in ("gzip", "x-gzip"):
        return lambda _first: zlib.decompressobj(zlib.MAX_WBITS | 16)
    if name == "deflate":
        return _start_deflate
    raise Refused("invalid_response")


def _start_deflate(first: bytes) -> _Decoder:
    """With the zlib wrapper that the standard asks for, or raw, as some servers send it."""
    is_wrapped = first[0] & 0x0F == 8 and (len(first) < 2 or int.from_bytes(first[:2]) % 31 == 0)
    return zlib.decompressobj(zlib.MAX_WBITS if is_wrapped else -zlib.MAX_WBITS)
