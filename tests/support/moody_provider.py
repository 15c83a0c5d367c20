"""A real HTTP server on 127.0.0.1 that is many providers, each in another mood with every search.

The number of a search stands at the end of its query and the number of the provider in its path: `mood_of` both and a
seed is what it does, so that whoever knows the seed knows beforehand. Answers say which provider they are of.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from tests.support.hostile_provider import (
    BEHAVIOURS,
    JSON_TYPE,
    MIB,
    Seen,
    Wire,
    answer_of,
    json_bytes,
    read_request,
    result,
    serving,
)

GOOD: Final = frozenset({"well", "late", "large", "dies_when_reused"})
# How often each, of about two hundred.
MOODS: Final = {
    "well": 106,
    "late": 16,
    "large": 4,
    "dies_when_reused": 6,
    "hang": 1,
    "drip": 1,
    "drip_headers": 1,
    "reset": 8,
    "close": 4,
    "close_in_headers": 4,
    "close_in_body": 4,
    "error": 8,
    "rate_limited": 4,
    "rate_limited_silently": 4,
    "unavailable": 4,
    "unauthorized": 2,
    "redirect": 2,
    "not_json": 4,
    "not_http": 2,
    "html": 2,
    "wrong_type": 2,
    "too_large": 2,
    "lie_about_size": 2,
    "gzip_bomb": 1,
    "huge_headers": 2,
}
_LATE_S = 0.03


@cache
def mood_of(seed: int, provider: int, search: int) -> str:
    return random.Random(f"{seed} {provider} {search}").choices(list(MOODS), list(MOODS.values()))[0]


def query_of(search: int) -> str:
    return f"ferry pass {search}"


@dataclass(slots=True)
class MoodyProvider:
    """`answered_at` (monotonic) is when a good answer of (provider, search) had gone out; only in its own process."""

    seed: int
    port: int = 0
    answered_at: dict[tuple[int, int], float] = field(default_factory=dict)

    def url(self, provider: int) -> str:
        return f"http://127.0.0.1:{self.port}/{provider}"

    async def serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nth = 0
        try:
            while True:
                nth += 1
                seen = await read_request(reader, 0, nth)
                if not await self._behave(seen, Wire(reader, writer)):
                    return
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        except asyncio.CancelledError:
            writer.transport.abort()
        finally:
            writer.close()

    async def _behave(self, seen: Seen, wire: Wire) -> bool:
        provider, search = int(seen.path.split("/")[1]), int(seen.json["query"].rsplit(" ", 1)[1])
        mood = mood_of(self.seed, provider, search)
        if mood not in GOOD:
            return await BEHAVIOURS[mood](seen, wire)
        if mood == "dies_when_reused" and seen.nth_on_connection > 1:
            wire.reset()
            return False
        if mood == "late":
            await asyncio.sleep(_LATE_S)
        body = json_bytes(answer_of(result(title=title_of(provider))))
        await wire.answer(body.ljust(MIB) if mood == "large" else body, headers=JSON_TYPE)
        self.answered_at[provider, search] = time.monotonic()
        return True


def title_of(provider: int) -> str:
    return f"Timetable of pier {provider}"


@contextlib.contextmanager
def moody_provider(seed: int) -> Iterator[MoodyProvider]:
    provider = MoodyProvider(seed)
    with serving(provider.serve_connection) as provider.port:
        yield provider
