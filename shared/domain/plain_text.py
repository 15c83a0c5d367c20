"""Text from elsewhere, made plain and short enough."""

from __future__ import annotations

import re
import unicodedata

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all control characters but tab and line feed
_REMOVED = dict.fromkeys([*range(9), *range(0x0B, 0x20), 0x7F])  # the same ones in ASCII, where this is the faster way
_JOINER = "\u200d"
_LONGEST_STEP_BACK = 32


def plain(text: str) -> str:
    """Line ends become line feeds; other control characters, but for the tab, are removed."""
    if _CONTROL.search(text) is None:
        return text
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return lines.translate(_REMOVED) if lines.isascii() else _CONTROL.sub("", lines)


def cut(text: str, *, limit: int) -> str:
    """At most `limit` code points. A letter is not parted from its accents, nor a joined emoji in two, unless that
    would cost more than 32 code points.
    """
    if len(text) <= limit:
        return text
    for end in range(limit, max(limit - _LONGEST_STEP_BACK, 0), -1):
        if not _is_glued(text, end):
            return text[:end]
    return text[:limit]


def _is_glued(text: str, position: int) -> bool:
    """Whether the character at `position` belongs to the one before it."""
    here = text[position]
    return (
        unicodedata.category(here) in ("Mn", "Mc", "Me")
        or here == _JOINER
        or text[position - 1] == _JOINER
        or "\U0001f3fb" <= here <= "\U0001f3ff"  # skin tones
    )
