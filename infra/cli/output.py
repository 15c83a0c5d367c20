"""What a command prints: text for people, or exactly one JSON document."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from infra.cli.http import Client
from infra.cli.tables import pairs, plain, table
from infra.cli.terminal import Lines, say, say_json

Json = Mapping[str, Any]


def show(client: Client, told: Json, *, as_json: bool, text: Callable[[Json], Lines]) -> None:
    """Raises `NotAGateway` where `told` is not what `text` can be made of, however it is shown."""
    with client.understood():
        shown = text(told)
    if as_json:
        say_json(told)
    else:
        say(*shown)


def thing_text(told: Json) -> Lines:
    """Every field of a thing, one under the other; those of an object inside it with its name before."""
    if not isinstance(told["id"], str):
        raise TypeError("no id")
    return [*pairs(list(_fields(told)))]


def table_text(titles: Sequence[str], rows: Sequence[Sequence[str]], *, empty: str) -> Lines:
    return [*table(titles, rows)] if rows else [empty]


def word(value: object) -> str:
    """A value in a word or a few."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(word, value)) or "-"
    return plain(str(value))


def _fields(told: Json, before: str = "") -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for name, value in told.items():
        if isinstance(value, dict) and value:
            found += _fields(value, f"{before}{name}.")
        else:
            found.append((before + plain(name), word(value)))
    return found
