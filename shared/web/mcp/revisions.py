"""The revisions of the protocol that are spoken here, and which of them a client's handshake is answered with."""

from __future__ import annotations

from typing import Final

# Each request stands alone and carries its revision with it.
MODERN: Final = "2026-07-28"
# Agreed upon by `initialize`; the newest first.
HANDSHAKE: Final = ("2025-11-25", "2025-06-18", "2025-03-26")
SPOKEN: Final = (MODERN, *HANDSHAKE)
# Of a request that names none: that header came with the next one.
ASSUMED: Final = "2025-03-26"
# The one revision in which several messages may come as a list.
WITH_BATCHES: Final = "2025-03-26"


def agreed(asked: str) -> str:
    """The one that was asked for, else the newest that a handshake can agree on."""
    return asked if asked in HANDSHAKE else HANDSHAKE[0]
