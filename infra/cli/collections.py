"""`kgw cards collections`: what cards lie in."""

from __future__ import annotations

import argparse
from typing import Final

from infra.cli.output import Json, table_text, word
from infra.cli.terminal import Lines
from infra.cli.things import Things, named_by_id

PATH: Final = "/api/v1/collections"
_TITLES: Final = ("ID", "NAME", "EXPOSURE", "CARDS")


def create(options: argparse.Namespace) -> int:
    return _THINGS.make(options, {"name": options.name, "exposureProfile": options.exposure})


def rename(options: argparse.Namespace) -> int:
    return _THINGS.change(options, {"name": options.name})


def delete(options: argparse.Namespace) -> int:
    return _THINGS.end(options, named=lambda one: f"{named_by_id(one)} and its {one['cardCount']} cards")


def _text(told: Json) -> Lines:
    fields = ("id", "name", "exposureProfile", "cardCount")
    rows = [[word(each[name]) for name in fields] for each in told["collections"]]
    return table_text(_TITLES, rows, empty="There are no collections.")


_THINGS: Final = Things(path=PATH, plural="collections", list_text=_text)
show_all = _THINGS.show_all
