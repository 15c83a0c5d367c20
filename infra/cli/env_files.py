"""Reads a .env file. No message of it ever carries a value."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from infra.cli.ending import Told

_MOST_BYTES = 1_048_576
_NAME = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*", re.ASCII)
_SINGLE = re.compile(r"'([^']*)'")
_DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_PLAIN = re.compile(r"[^\n]*")
_REST = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\n|\Z)")
_BLANK = re.compile(r"[ \t]*(?:#[^\n]*)?\n|[ \t]+\Z|[ \t]*#[^\n]*\Z")
_COMMENT = re.compile(r"[ \t]+#")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}


class Unreadable(Told):
    """The message names the file, and the line where there is one."""


@dataclass(slots=True)
class EnvFile:
    """Names and values. Of lines with one name the last one counts; `repeated` holds such names."""

    values: dict[str, str] = field(default_factory=dict, repr=False)
    repeated: set[str] = field(default_factory=set)

    def take(self, name: str, value: str) -> None:
        if name in self.values:
            self.repeated.add(name)
        self.values[name] = value


def read_env_file(path: Path) -> EnvFile:
    """`KEY=VALUE`, with or without `export`, quotes and comments. Values are taken as they stand: nothing is put in for
    `$NAME`. Raises `Unreadable`.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise Unreadable(f"{path} is no UTF-8 text.") from None
    if len(data) > _MOST_BYTES:
        raise Unreadable(f"{path} is larger than 1 MiB.")
    return _parsed(text.replace("\r\n", "\n"), path)


def _parsed(text: str, path: Path) -> EnvFile:
    file = EnvFile()
    at = 0
    while at < len(text):
        if blank := _BLANK.match(text, at):
            at = blank.end()
            continue
        name = _NAME.match(text, at)
        found = _value(text, name.end()) if name else None
        if name is None or found is None:
            raise Unreadable(f"Line {text.count(chr(10), 0, at) + 1} of {path} is no KEY=VALUE.")
        value, at = found
        file.take(name[1], value)
    return file


def _value(text: str, at: int) -> tuple[str, int] | None:
    """The value that begins here and where the next line does; None when something follows the closing quote."""
    if text[at : at + 1] in ("'", '"'):
        quoted = (_SINGLE if text[at] == "'" else _DOUBLE).match(text, at)
        rest = _REST.match(text, quoted.end()) if quoted else None
        if quoted is None or rest is None:
            return None
        return (quoted[1] if text[at] == "'" else _ESCAPE.sub(_unescaped, quoted[1])), rest.end()
    plain = _PLAIN.match(text, at)
    assert plain is not None  # noqa: S101  # it also matches nothing
    comment = _COMMENT.search(" " + plain[0])
    value = plain[0] if comment is None else plain[0][: max(0, comment.start() - 1)]
    return value.strip(" \t"), plain.end() + 1


def _unescaped(match: re.Match[str]) -> str:
    return _ESCAPED.get(match[1], match[1])
