"""`kgw audit`: who changed what."""

from __future__ import annotations

import argparse
from typing import Final

from infra.cli.access import client_as
from infra.cli.editing import listed
from infra.cli.output import Json, show, table_text, word
from infra.cli.terminal import Lines

PATH: Final = "/api/v1/audit"
_TITLES: Final = ("AT", "WHO", "WHAT", "WHICH", "CHANGED")


def show_all(options: argparse.Namespace) -> int:
    """Raises `NoAccess`, `Declined`, `Unreachable`."""
    client = client_as("admin", profile=options.profile)
    show(client, listed(client, PATH, "entries", most=options.limit), as_json=options.as_json, text=_text)
    return 0


def _text(told: Json) -> Lines:
    rows = [
        (str(each["at"]), str(each["actor"]), str(each["action"]), str(each["resource"]), _changes(each))
        for each in told["entries"]
    ]
    return table_text(_TITLES, rows, empty="Nothing was changed yet.")


def _changes(entry: Json) -> str:
    before, after = entry["before"], entry["after"]
    names = dict.fromkeys([*before, *after])
    return "; ".join(f"{name}: {word(before.get(name))} > {word(after.get(name))}" for name in names)
