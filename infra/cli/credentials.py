"""`kgw credentials`: who may ask. Each function takes the options, prints, and returns the exit status; what it raises
is `Told`.
"""

from __future__ import annotations

import argparse
import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from infra.cli.bodies import something
from infra.cli.output import Json, table_text, word
from infra.cli.tables import shortened
from infra.cli.terminal import Lines
from infra.cli.things import Things

PATH: Final = "/api/v1/credentials"
_TITLES: Final = ("ID", "CLASS", "NAME", "STATUS", "EXPIRES", "GRANTS", "ORIGINS")
_FIELDS: Final = {
    "name": "name",
    "status": "status",
    "grant": "grants",
    "origin": "origins",
    "allowed_provider": "allowedProviders",
    "rate_per_minute": "ratePerMinute",
    "address_rate_per_minute": "addressRatePerMinute",
}
_DAYS = re.compile(r"([1-9][0-9]{0,3})d", re.ASCII)


def create(options: argparse.Namespace) -> int:
    return _THINGS.make_with_secret(options, {"class": options.kind, **_body(options)}, name="token")


def update(options: argparse.Namespace) -> int:
    body = _body(options)
    body |= {"grants": []} if options.no_grants else {}
    body |= {"allowedProviders": None} if options.all_providers else {}
    return _THINGS.change(options, something(body))


def rotate(options: argparse.Namespace) -> int:
    return _THINGS.make_with_secret(options, {}, name="token", below="rotate")


def revoke(options: argparse.Namespace) -> int:
    return _THINGS.end(options, verb="Revoke", warning=" Its token works no more then.", named=_named)


def _body(options: argparse.Namespace) -> dict[str, Any]:
    body = {field: value for name, field in _FIELDS.items() if (value := getattr(options, name, None)) is not None}
    return body | ({} if options.expires is None else {"expiresAt": _moment(options.expires)})


def _moment(text: str) -> str | None:
    """What is neither is for the gateway to judge."""
    if text == "never":
        return None
    if days := _DAYS.fullmatch(text):
        return (datetime.now(UTC) + timedelta(days=int(days[1]))).strftime("%Y-%m-%dT%H:%M:%SZ")
    return text


def _named(credential: Json) -> str:
    return f"{shortened(str(credential['name']))} ({word(credential['class'])} {shortened(str(credential['id']))})"


def _list_text(told: Json) -> Lines:
    fields = ("id", "class", "name", "status", "expiresAt", "grants", "origins")
    rows = [[word(each[name]) for name in fields] for each in told["credentials"]]
    return table_text(_TITLES, rows, empty="There are no credentials.")


_THINGS: Final = Things(path=PATH, plural="credentials", list_text=_list_text)
show_all, show_one = _THINGS.show_all, _THINGS.show_one
