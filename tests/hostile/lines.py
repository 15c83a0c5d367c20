"""Connections that end too early, and connections that are used again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from tests.hostile.case import WORDS, chunk, fails, finds, framed, octets, passages
from tests.support.hostile_provider import BEHAVIOURS, JSON_TYPE, Behaviour, Seen, Wire

LOST: Final = "connection_failed"
_PAUSE_S: Final = 0.05
_HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
_SOUND: Final = passages(WORDS)
_LENGTH: Final = b"Content-Length: %d\r\n\r\n" % len(_SOUND)
_CHUNKED: Final = _HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


async def _half_closes(_seen: Seen, wire: Wire) -> bool:
    """Says that it will say nothing, and goes on listening."""
    wire.writer.write_eof()
    await wire.reader.read()
    return False


async def _half_closes_in_body(_seen: Seen, wire: Wire) -> bool:
    await wire.send(_HEAD + _LENGTH + _SOUND[:40])
    return await _half_closes(_seen, wire)


async def _resets_in_body(_seen: Seen, wire: Wire) -> bool:
    await wire.send(_HEAD + _LENGTH + _SOUND[:40])
    await asyncio.sleep(_PAUSE_S)  # so that it is read before
    wire.reset()
    return False


ENDS: Final = (
    fails("resets", "RST instead of an answer", BEHAVIOURS["reset"], LOST),
    fails("closes", "closes without a byte", BEHAVIOURS["close"], LOST),
    fails("half-closes", "ends its side without a byte and listens on", _half_closes, LOST),
    fails("closes-in-first-line", "closes within its first line", octets(b"HTTP/1.1 20"), LOST),
    fails("closes-in-head", "closes within its headers", octets(_HEAD + b"X-Why: " + WORDS.encode()), LOST),
    fails("closes-in-body", "closes before the announced length", octets(_HEAD + _LENGTH + _SOUND[:40]), LOST),
    fails("half-closes-in-body", "ends its side within the body and listens on", _half_closes_in_body, LOST),
    fails("resets-in-body", "RST within the body", _resets_in_body, LOST),
    fails("closes-in-chunk", "closes within a chunk", octets(_CHUNKED + b"fff\r\n" + _SOUND), LOST),
    fails("closes-before-last-chunk", "closes between chunks", octets(_CHUNKED + chunk(_SOUND)), LOST),
    fails("closes-after-continue", "100 Continue, then nothing", octets(b"HTTP/1.1 100 Continue\r\n\r\n"), LOST),
)


# --- connections that are used again -------------------------------------------------------------
def _good(id_: str) -> Behaviour:
    async def sends(_seen: Seen, wire: Wire) -> bool:
        await wire.answer(passages(id_), headers=JSON_TYPE)
        return True

    return sends


def _once(id_: str, *, then: Callable[[Wire], None]) -> Behaviour:
    async def sends(seen: Seen, wire: Wire) -> bool:
        if seen.nth_on_connection > 1:
            then(wire)
            return False
        return await _good(id_)(seen, wire)

    return sends


async def _speaks_unasked(_seen: Seen, wire: Wire) -> bool:
    """A second answer, a moment after the first one was complete."""
    await _good("speaks-unasked")(_seen, wire)
    await asyncio.sleep(_PAUSE_S)
    await wire.answer(_SOUND, headers=JSON_TYPE)
    return True


async def _answers_early(seen: Seen, wire: Wire) -> bool:
    await _good("answers-early")(seen, wire)
    await wire.reader.readexactly(int(seen.headers["content-length"]))
    return True


AGAIN: Final = (
    finds(
        "dies-when-used-again", "resets a connection that it kept open", _once("dies-when-used-again", then=Wire.reset)
    ),
    finds(
        "closes-when-used-again", "closes one that it kept open", _once("closes-when-used-again", then=lambda _: None)
    ),
    finds(
        "says-close-and-keeps",
        "says that it closes, and does not",
        framed("says-close-and-keeps", headers="Connection: close\r\n"),
    ),
    replace(finds("speaks-unasked", "sends another answer when nobody asked", _speaks_unasked), goes_on_s=_PAUSE_S),
    finds("answers-early", "answers before it has read the request", _answers_early, is_early=True),
)
