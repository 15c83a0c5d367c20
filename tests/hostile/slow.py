"""Providers that take their time: all of them are asked at once, with a short deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from tests.hostile.case import WORDS, Case, chunk, fails, passages
from tests.support.hostile_provider import BEHAVIOURS, JSON_TYPE, Behaviour, Seen, Wire

_PAUSE_S: Final = 0.05
_ALIVE_S: Final = 20.0  # long after anybody listens
_HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
_SOUND: Final = passages(WORDS)
_LENGTH: Final = b"Content-Length: %d\r\n\r\n" % len(_SOUND)
_CHUNKED: Final = _HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


def _drips(begin: bytes, piece: Callable[[int], bytes]) -> Behaviour:
    """`begin` at once, then a little now and then, for as long as anybody listens."""

    async def sends(_seen: Seen, wire: Wire) -> bool:
        await wire.send(begin)
        for number in range(round(_ALIVE_S / _PAUSE_S)):
            await wire.send(piece(number))
            await asyncio.sleep(_PAUSE_S)
        return False

    return sends


def _hangs_after(begin: bytes) -> Behaviour:
    async def sends(_seen: Seen, wire: Wire) -> bool:
        await wire.send(begin)
        await wire.reader.read()
        return False

    return sends


async def _comes_too_late(_seen: Seen, wire: Wire) -> bool:
    await asyncio.sleep(3.0)
    await wire.answer(_SOUND, headers=JSON_TYPE)
    return True


def _slow(id_: str, does: str, sends: Behaviour) -> Case:
    return fails(id_, does, sends, "timeout", is_slow=True)


SLOW: Final = (
    _slow("never-answers", "takes the request and says nothing", BEHAVIOURS["hang"]),
    _slow("comes-too-late", "gives a sound answer after the deadline", _comes_too_late),
    _slow("drips-first-line", "one byte of its first line at a time", _drips(b"HTTP/1.1 200 ", lambda _: b"O")),
    _slow("drips-headers", "one header at a time, without end", _drips(_HEAD, lambda n: b"X-%d: y\r\n" % n)),
    _slow("drips-one-header", "one header that never ends", _drips(_HEAD + b"X-Long: ", lambda _: b"y")),
    _slow(
        "drips-body", "one byte of its body at a time", _drips(_HEAD + b"Content-Length: 4000\r\n\r\n", lambda _: b" ")
    ),
    _slow("drips-chunks", "chunks of one byte, without end", _drips(_CHUNKED, lambda _: b"1\r\n \r\n")),
    _slow(
        "drips-chunk-size", "the size of a chunk, digit by digit", _drips(_CHUNKED, lambda n: b"0" if n < 15 else b"")
    ),
    _slow("drips-until-closed", "a body of no stated length", _drips(_HEAD + b"\r\n", lambda _: b" ")),
    _slow("endless-continue", "100 Continue, again and again", _drips(b"", lambda _: b"HTTP/1.1 100 Continue\r\n\r\n")),
    _slow(
        "endless-hints",
        "103 Early Hints, again and again",
        _drips(b"", lambda _: b"HTTP/1.1 103 Hints\r\nLink: <a>\r\n\r\n"),
    ),
    _slow("hangs-after-head", "a head, and never a body", _hangs_after(_HEAD + _LENGTH)),
    _slow("hangs-before-last-byte", "all but the last byte", _hangs_after(_HEAD + _LENGTH + _SOUND[:-1])),
    _slow("hangs-before-last-chunk", "all but the end of the chunks", _hangs_after(_CHUNKED + chunk(_SOUND))),
    _slow(
        "hangs-in-trailers", "a trailer that does not end", _hangs_after(_CHUNKED + chunk(_SOUND) + b"0\r\nX-A: b\r\n")
    ),
    _slow(
        "drips-gzip",
        "a compressed body, byte by byte",
        _drips(_HEAD + b"Content-Encoding: gzip\r\n\r\n\x1f\x8b\x08", lambda _: b"\0"),
    ),
)
