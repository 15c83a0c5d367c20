"""Text for a terminal: what others have written steers nothing, and columns stand under each other."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

_MOST_CHARACTERS: Final = 60


def plain(text: str) -> str:
    """Without control characters: what somebody else says must not steer a terminal."""
    return "".join(character if character.isprintable() else " " for character in text)


def shortened(text: str, most: int = _MOST_CHARACTERS) -> str:
    """On one line, of so many characters at most."""
    line = plain(text)
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def width(text: str) -> int:
    """In columns: a Chinese character takes two, an accent of its own none."""
    return sum(_columns(character) for character in text)


def line(words: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(word + " " * (most - width(word)) for word, most in zip(words, widths, strict=True)).rstrip()


def table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A line of titles, and one for each row."""
    shown = [[shortened(word) for word in row] for row in rows]
    widths = [max(map(width, column)) for column in zip(titles, *shown, strict=True)]
    yield line(titles, widths)
    yield from (line(row, widths) for row in shown)


def pairs(fields: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Names and values, the values under each other. A value is shown whole."""
    most = max((width(name) for name, _ in fields), default=0)
    yield from (line((name, plain(value)), (most, 0)) for name, value in fields)


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
