"""How large an encoded answer may be, so that the platform can always deliver it."""

from __future__ import annotations

from collections.abc import Sequence

MAX_ANSWER_BYTES = 4 * 1024 * 1024


def delivered_bytes(text: str) -> int:
    """Bytes of a JSON text inside the function's own JSON answer, where quotes and backslashes are escaped again."""
    return len(text.encode()) + text.count('"') + text.count("\\")


def how_many_fit(sizes: Sequence[int], *, room: int) -> int:
    """How many of the first items fit into `room` together."""
    count = 0
    for size in sizes:
        room -= size
        if room < 0:
            break
        count += 1
    return count
