"""All that the command writes, and the only place that writes it: to standard output, and beside it to standard error.

It is given lines, and a line is one line whatever it holds: what somebody else says steers no terminal, begins no line
of its own and turns no text around. What we say with control characters ourselves, colours and a line that is written
over, is said here.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO, TypeAlias

from infra.cli.tables import plain

_CLEAR_LINE: Final = "\r\x1b[K"
_CLEAR_SCREEN: Final = "\x1b[H\x1b[2J"


@dataclass
class Answering:
    """Whether anything came to standard output yet, and whether that is to be JSON."""

    is_json: bool = False
    has_begun: bool = False


_answering = Answering()


@dataclass(frozen=True, slots=True)
class Coloured:
    """Part of a line. `colour` is a number as terminals know it; None for one that has none."""

    text: str
    colour: int | None


Line: TypeAlias = str | tuple[str | Coloured, ...]
Lines: TypeAlias = list[Line]  # not any sequence: a text is a sequence of texts, too


def say(*lines: Line) -> None:
    """The answer, for people."""
    put(sys.stdout, *lines)


def note(*lines: Line) -> None:
    """Beside the answer, where it disturbs no program."""
    put(sys.stderr, *lines)


def say_json(told: object, *, indent: int | None = 2) -> None:
    """One document."""
    say_record(json.dumps(told, ensure_ascii=False, indent=indent))


def begin(*, is_json: bool) -> None:
    """A command. With `is_json` its failure is a document too, where it has not answered before."""
    _answering.is_json, _answering.has_begun = is_json, False


def say_failure(error: Callable[[], Mapping[str, object]]) -> None:
    """In the place of an answer in JSON, where there is none."""
    if _answering.is_json and not _answering.has_begun:
        say_json({"error": error()})


def say_record(text: str, *, end: str = "\n") -> None:
    """Text that is JSON already, or a part of it: what a terminal would obey, or not show, is escaped in it."""
    whole = "\n".join(line if line.isprintable() else "".join(map(_escaped, line)) for line in text.split("\n"))
    _write(sys.stdout, whole + end, escape=_as_ascii)


def put(stream: TextIO | None, *lines: Line) -> None:
    """Onto one of the two: for `argparse`, which says onto which."""
    is_coloured = is_terminal(stream) and not os.environ.get("NO_COLOR")
    _write(stream, "".join(_shown(line, is_coloured=is_coloured) + "\n" for line in lines))


def ask(question: str) -> None:
    """What is typed then stands in the same line."""
    _write(sys.stderr, plain(question) + " ")


def ask_secretly(question: str) -> str:
    """What is typed is shown nowhere."""
    return getpass.getpass(plain(question) + " ", stream=sys.stderr)


def write_over(line: str) -> None:
    """In the place of the line that was written over before; on a terminal alone."""
    if is_terminal(sys.stderr):
        _write(sys.stderr, _CLEAR_LINE + plain(line))


def clear_screen() -> None:
    if is_terminal(sys.stdout):
        _write(sys.stdout, _CLEAR_SCREEN)


def shows_answers() -> bool:
    """Whether somebody sits before standard output."""
    return is_terminal(sys.stdout)


def is_open() -> bool:
    """Whether an answer comes to anybody: a shell can close standard output."""
    return sys.stdout is not None and not sys.stdout.closed


def shows_notes() -> bool:
    return is_terminal(sys.stderr)


def is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty()


def flush() -> None:
    """Raises `OSError` for what cannot be written any more."""
    if is_open():
        sys.stdout.flush()


def forget() -> None:
    """What waits to be written is not tried again when Python ends: that would be told, and end with another status."""
    try:
        flush()
    except OSError:
        with contextlib.suppress(OSError, ValueError), Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _shown(line: Line, *, is_coloured: bool) -> str:
    parts = (line,) if isinstance(line, str) else line
    return "".join(plain(part) if isinstance(part, str) else _dyed(part, is_coloured=is_coloured) for part in parts)


def _dyed(part: Coloured, *, is_coloured: bool) -> str:
    text = plain(part.text)
    return f"\x1b[{part.colour}m{text}\x1b[0m" if is_coloured and part.colour is not None else text


def _escaped(character: str) -> str:
    return character if character.isprintable() else _as_ascii(character)


def _as_ascii(character: str) -> str:
    return json.dumps(character)[1:-1]


def _write(stream: TextIO | None, text: str, *, escape: Callable[[str], str] = ascii) -> None:
    if stream is None:  # it was closed before Python began
        return
    try:
        text.encode(stream.encoding or "utf-8")
    except UnicodeEncodeError:
        text = "".join(each if each.isascii() else escape(each).strip("'") for each in text)
    _answering.has_begun |= stream is sys.stdout
    stream.write(text)
    stream.flush()
