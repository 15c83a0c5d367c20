"""`kgw allowances`: how many operations of a live service a day may have."""

from __future__ import annotations

import argparse
from typing import Any, Final

from infra.cli.access import client_as
from infra.cli.editing import changed
from infra.cli.output import Json, show, table_text, word
from infra.cli.terminal import Lines

PATH: Final = "/api/v1/knowledge/allowances"
_TITLES: Final = ("POOL", "STATE", "LIMIT", "USED", "UNKNOWN", "FREE AGAIN")


def show_all(options: argparse.Namespace) -> int:
    """Raises `NoAccess`, `Declined`, `Unreachable`."""
    client = client_as("admin", profile=options.profile)
    show(client, client.call("GET", PATH).body, as_json=options.as_json, text=_text)
    return 0


def set_one(options: argparse.Namespace) -> int:
    """Changes what was read. Raises `NoAccess`, `Declined`, `Unreachable`."""
    client = client_as("admin", profile=options.profile)

    def wanted(present: Json) -> dict[str, Any]:
        body: dict[str, Any] = {"limit": present["limit"] if options.limit is None else options.limit}
        review = {"happened": options.happened, "didNotHappen": options.did_not_happen}
        return body | ({"review": review} if any(review.values()) else {})

    told = changed(client, "PUT", f"{PATH}/{options.pool}", wanted)
    show(client, told, as_json=options.as_json, text=lambda one: _text({"allowances": [one]}))
    return 0


def _text(told: Json) -> Lines:
    fields = ("pool", "state", "limit", "used", "unknown", "freeAgainAt")
    return table_text(_TITLES, [[word(each[name]) for name in fields] for each in told["allowances"]], empty="")
